// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "headpond/dataset/quarantine/quarantine.h"
#include "headpond/dataset/testing/structure_test_internal.h"
#include "tests/test_files.h"

namespace headpond::internal {
namespace {

using testing::AllOf;
using testing::Each;
using testing::HasSubstr;
using testing::SizeIs;

// Fails for every third number; `repaired`: for none.
Step doubt(bool repaired = false) {
  return map(
      [repaired](int64_t x) -> Result<int64_t> {
        if (x % 3 == 1 && !repaired) return fail(ErrorKind::DataLoss, fmt::format("no {}", x));
        return x * 10;
      },
      {.name = "doubt"});
}
Step guard() { return on_error({.max_error_share = 1}); }

std::vector<QuarantineEntry> entries_of(const std::string& path) { return read_quarantine(path).value().entries; }

// What each entry of a run gives when it is read again by `again`.
std::vector<std::string> replayed(const Dataset& dataset, const Dataset& again, int64_t epochs = 2) {
  const test::TempFolder folder;
  const std::string path = folder.file("bad");
  Sequence sequence(dataset, {.seed = 5, .epochs = epochs, .quarantine = path});
  for (int i = 0; i < 300; ++i) (void)sequence.next();
  QuarantineReplay replay(again);
  std::vector<std::string> all;
  for (const QuarantineEntry& entry : entries_of(path)) {
    const auto element = replay.read(entry);
    const std::string found = element ? text_of(*element) : element.error().message();
    // The entry says which number it was, in its cause: "... no 7".
    const std::string number = entry.cause.substr(entry.cause.rfind(' ') + 1);
    const bool right = element ? found == number + "0" : found.ends_with("no " + number);
    all.push_back(right ? element ? "read" : "fails" : fmt::format("{} for {}", found, to_line(entry)));
  }
  return all;
}

TEST(QuarantineReplay, ReadsTheSameElementsAgain) {
  const Dataset numbers = range(30);
  const auto evens = filter([](int64_t x) { return x % 2 == 0; }, {.name = "even"});
  const std::vector<std::function<Dataset(bool)>> pipelines = {
      [&](bool repaired) { return numbers | doubt(repaired) | guard(); },
      [&](bool repaired) { return numbers | shuffle() | doubt(repaired) | guard(); },
      [&](bool repaired) { return numbers | as_stream() | shuffle(5) | doubt(repaired) | guard() | batch(4); },
      [&](bool repaired) { return numbers | evens | shuffle() | doubt(repaired) | guard(); },
      [&](bool repaired) { return numbers | shuffle() | doubt(repaired) | guard() | repeat(3) | shuffle(4); },
      [&](bool repaired) { return numbers | as_stream() | repeat(2) | doubt(repaired) | guard(); },
      [&](bool repaired) {
        return zip({range(60) | doubt(repaired) | guard(), numbers | as_stream()});
      },
  };
  for (size_t i = 0; i < pipelines.size(); ++i) {
    EXPECT_THAT(replayed(pipelines[i](false), pipelines[i](false)), AllOf(SizeIs(testing::Ge(10)), Each("fails"))) << i;
    EXPECT_THAT(replayed(pipelines[i](false), pipelines[i](true)), AllOf(SizeIs(testing::Ge(10)), Each("read"))) << i;
  }
}

TEST(QuarantineReplay, ReadsARepairedBatch) {
  for (const bool shuffled : {false, true}) {
    const auto pipeline = [&](bool repaired) {
      const Dataset batches = range(6) | doubt(repaired) | batch(1);
      return (shuffled ? batches | shuffle() : batches) | guard();
    };
    EXPECT_THAT(replayed(pipeline(false), pipeline(false), 1), AllOf(SizeIs(2), Each("fails")));
    const test::TempFolder folder;
    Sequence sequence(pipeline(false), {.seed = 5, .quarantine = folder.file("bad")});
    for (int i = 0; i < 9; ++i) (void)sequence.next();
    QuarantineReplay replay(pipeline(true));
    for (const QuarantineEntry& entry : entries_of(folder.file("bad"))) {
      const auto element = replay.read(entry);
      ASSERT_TRUE(element) << element.error();
      EXPECT_EQ(text_of(*element), fmt::format("[{}0]", entry.cause.substr(entry.cause.rfind(' ') + 1)));
    }
  }
}

TEST(QuarantineReplay, FindsThatAnotherElementIsThere) {
  const Dataset some = range(30) | doubt() | guard();
  EXPECT_THAT(replayed(some, range(2) | doubt() | guard(), 1)[3], HasSubstr("has no element 10"));
  EXPECT_THAT(replayed(some, range(30) | doubt() | batch(2), 1), Each(HasSubstr("no on_error")));
  EXPECT_THAT(replayed(some, range(30) | shuffle() | doubt() | prefetch() | guard(), 1),
              Each(HasSubstr("no on_error")));
  EXPECT_THAT(replayed(range(30) | shuffle() | doubt() | guard(), range(30) | skip(0) | doubt() | guard(), 1),
              testing::Contains(HasSubstr("another record there: range, record")));
}

TEST(QuarantineReplay, KnowsItsPipeline) {
  const test::TempFolder folder;
  const Dataset some = range(30) | doubt() | guard();
  Sequence sequence(some, {.quarantine = folder.file("bad")});
  for (int i = 0; i < 9; ++i) (void)sequence.next();
  const QuarantineEntry entry = read_quarantine(folder.file("bad")).value().entries.at(0);
  EXPECT_TRUE(QuarantineReplay(some).is_of_this_pipeline(entry));
  EXPECT_FALSE(QuarantineReplay(range(31) | doubt() | guard()).is_of_this_pipeline(entry));
  EXPECT_EQ(QuarantineReplay(some).spec_of(entry).size(), 1U);
  EXPECT_TRUE(QuarantineReplay(range(3)).spec_of(entry).empty());
}

TEST(QuarantineReplay, EndsWithASourceThatIsLost) {
  const Dataset lost = from_generator(
      [](uint64_t) {
        return Generator(
            []() -> Result<std::optional<Element>> { return fail(ErrorKind::FailedPrecondition, "lost"); });
      },
      {{"", i64, {}}}, {.name = "lost"});
  QuarantineReplay replay(lost | guard());
  EXPECT_THAT(replay.read({.element = 1'000'000, .step = 2}).error().message(), HasSubstr("lost"));
}

}  // namespace
}  // namespace headpond::internal
