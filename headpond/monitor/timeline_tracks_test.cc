// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <random>

#include "headpond/monitor/timeline_tracks_internal.h"

namespace headpond::internal {
namespace {

using testing::ElementsAre;
using trace::Category;
using trace::Event;
using trace::Kind;

Event event(Kind kind, int64_t start, int64_t length = 0, uint64_t id = 0) {
  return {"e", start, length, id, kind, Category::op};
}
Event span(int64_t start, int64_t length) { return event(Kind::span, start, length); }

std::vector<std::pair<int64_t, int64_t>> ranges(const Track& track) {
  std::vector<std::pair<int64_t, int64_t>> found;
  for (const Event& one : track.spans) found.emplace_back(one.start_ns, one.start_ns + one.length_ns);
  return found;
}

std::string phases(const std::vector<trace::ThreadEvents>& threads) {
  std::string found;
  for (const FlowPoint& point : make_flows(make_tracks(threads))) found += point.phase;
  return found;
}

TEST(TimelineTracks, SortsSpansFromOuterToInner) {
  const auto tracks = make_tracks({{1, "t", {span(2, 3), span(6, 2), span(0, 10), span(20, 1)}, 0}});
  ASSERT_EQ(tracks.size(), 1U);
  EXPECT_THAT(ranges(tracks[0]), ElementsAre(std::pair(0, 10), std::pair(2, 5), std::pair(6, 8), std::pair(20, 21)));
  EXPECT_THAT(tracks[0].reach, ElementsAre(10, 10, 10, 21));
  EXPECT_EQ(tracks[0].spans_cut, 0);
}

TEST(TimelineTracks, CutsASpanToTheOneAroundIt) {
  const auto tracks = make_tracks({{1, "t", {span(0, 10), span(4, 16), span(8, 12)}, 0}});
  EXPECT_THAT(ranges(tracks[0]), ElementsAre(std::pair(0, 10), std::pair(4, 10), std::pair(8, 10)));
  EXPECT_EQ(tracks[0].spans_cut, 2);
}

TEST(TimelineTracks, TakesNeighboursAsNeighbours) {
  const auto tracks = make_tracks({{1, "t", {span(0, 10), span(10, 5), span(15, 0)}, 0}});
  EXPECT_EQ(tracks[0].spans_cut, 0);
}

TEST(TimelineFlows, BeginAndEndAtTheEdgesOfSpans) {
  EXPECT_EQ(phases({{1, "p", {event(Kind::flow_begin, 10, 0, 7), span(0, 10)}, 0},
                    {2, "c", {event(Kind::flow_end, 20, 0, 7), span(20, 5)}, 0}}),
            "sf");
  EXPECT_EQ(phases({{1, "p", {event(Kind::flow_begin, 11, 0, 7), span(0, 10)}, 0},
                    {2, "c", {event(Kind::flow_end, 20, 0, 7), span(20, 5)}, 0}}),
            "");
}

TEST(TimelineFlows, KeepOnlyWhatLiesBetweenABeginAndAnEnd) {
  const auto end = [](int64_t at) { return event(Kind::flow_end, at, 0, 7); };
  const auto begin = [](int64_t at) { return event(Kind::flow_begin, at, 0, 7); };
  EXPECT_EQ(phases({{1, "t", {end(1), begin(2), end(3), begin(4), span(0, 9)}, 0}}), "sf");
  EXPECT_EQ(phases({{1, "t", {begin(2), end(3), begin(4), end(5), span(0, 9)}, 0}}), "sttf");
  EXPECT_EQ(phases({{1, "t", {end(2), begin(3), span(0, 9)}, 0}}), "");
}

/// What the viewer needs, in the plainest way.
bool nests(const Track& track) {
  for (const auto& [a, a_end] : ranges(track)) {
    for (const auto& [b, b_end] : ranges(track)) {
      if (a < b && b < a_end && a_end < b_end) return false;
    }
  }
  return true;
}

TEST(TimelineTracks, NestAndBindWhateverWasRecorded) {
  std::mt19937 random(7);
  const auto upto = [&](int most) { return std::uniform_int_distribution<int>(0, most)(random); };
  int overlapping_inputs = 0;
  for (int round = 0; round < 300; ++round) {
    std::vector<trace::ThreadEvents> threads = {{1, "a", {}, 0}, {2, "b", {}, 0}};
    Track as_recorded;
    for (int i = 0; i < 40; ++i) {
      const auto kind = std::array{Kind::span, Kind::flow_begin, Kind::flow_end}.at(static_cast<size_t>(upto(2)));
      threads[static_cast<size_t>(upto(1))].events.push_back(
          event(kind, upto(60), upto(12) - 1, static_cast<uint64_t>(upto(5))));
    }
    for (const Event& one : threads[0].events) {
      if (one.kind == Kind::span) as_recorded.spans.push_back(one);
    }
    overlapping_inputs += nests(as_recorded) ? 0 : 1;
    const auto tracks = make_tracks(threads);
    for (const Track& track : tracks) EXPECT_TRUE(nests(track));
    std::map<uint64_t, std::string> by_id;
    for (const FlowPoint& point : make_flows(tracks)) by_id[point.id] += point.phase;
    for (const auto& [id, phases] : by_id) EXPECT_THAT(phases, testing::MatchesRegex("st*f"));
  }
  EXPECT_GT(overlapping_inputs, 100);
}

}  // namespace
}  // namespace headpond::internal
