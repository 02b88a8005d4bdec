// SPDX-License-Identifier: Apache-2.0
#include "headpond/monitor/recording.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <string>

namespace headpond {
namespace {

using testing::ElementsAre;

void work(const char* name) { const trace::Span span(name, trace::Category::op); }

std::vector<std::string> names(const std::vector<trace::ThreadEvents>& threads) {
  std::vector<std::string> all;
  for (const trace::ThreadEvents& thread : threads)
    for (const trace::Event& event : thread.events) all.emplace_back(event.name);
  return all;
}

TEST(Recording, GoesOnWhenAnotherOneBeginsAndEnds) {
  const Recording first;
  work("one");
  std::optional<Recording> second(std::in_place);
  work("two");
  EXPECT_THAT(names(second->events()), ElementsAre("two"));
  second.reset();
  EXPECT_TRUE(trace::enabled());
  work("three");
  EXPECT_THAT(names(first.events()), ElementsAre("one", "two", "three"));
}

TEST(Recording, TheLastOneEndsTheTrace) {
  std::optional<Recording> first(std::in_place), second(std::in_place);
  first.reset();
  EXPECT_TRUE(trace::enabled());
  second.reset();
  EXPECT_FALSE(trace::enabled());
  const Recording later;
  EXPECT_THAT(names(later.events()), ElementsAre()) << "it begins anew";
}

TEST(Recording, LeavesATraceOnThatWasOnBefore) {
  trace::start();
  work("before");
  {
    const Recording part;
    work("in it");
    EXPECT_THAT(names(part.events()), ElementsAre("in it"));
  }
  EXPECT_TRUE(trace::enabled());
  EXPECT_THAT(names(trace::collect()), ElementsAre("before", "in it"));
  trace::stop();
}

}  // namespace
}  // namespace headpond
