// SPDX-License-Identifier: Apache-2.0
#include <cerrno>

#include "headpond/dataset/testing/structure_test_internal.h"

namespace headpond::internal {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

const auto kDoubting = [](int64_t x) -> Result<int64_t> {
  if (x % 3 == 1) return fail(ErrorKind::DataLoss, fmt::format("no {}", x));
  if (x == 5) throw std::runtime_error("five");
  if (x == 77) return fail(ErrorKind::Cancelled, "stopped");
  return x;
};

TEST(IgnoreErrors, LeavesOutWhatFailed) {
  EXPECT_THAT(elements(range(7) | map(kDoubting) | ignore_errors(), {}, true),
              ElementsAre("0 #0", "2 #2", "3 #3", "6 #6"));
  EXPECT_THAT(elements(range(7) | as_stream() | map(kDoubting) | ignore_errors()), ElementsAre("0", "2", "3", "6"));
  EXPECT_THAT(answers(script({"1", "bad", "pending", "worse", "bad", "2", "bad"}) | ignore_errors()),
              ElementsAre("1", "pending", "2", "end"));
  EXPECT_THAT(elements(range(77, 78) | map(kDoubting) | ignore_errors()), ElementsAre(HasSubstr("stopped")));
  EXPECT_THAT(elements(range(0) | ignore_errors()), IsEmpty());
}

// Else the elements of a run would depend on how the network was.
TEST(IgnoreErrors, PassesOnWhatAnotherRunMightNotHave) {
  const auto at_times = [](int64_t x) -> Result<int64_t> {
    if (x == 1) return fail(Error::of_system(ErrorKind::FailedPrecondition, "no answer", ESTALE));
    if (x == 2) return fail(ErrorKind::DeadlineExceeded, "too late");
    if (x == 3) return fail(Error::of_system(ErrorKind::NotFound, "no such file", ENOENT));
    return x;
  };
  for (const Dataset& input : {range(5), range(5) | as_stream()}) {
    EXPECT_THAT(elements(input | map(at_times) | ignore_errors()),
                ElementsAre("0", HasSubstr("no answer"), HasSubstr("too late"), "4"));
  }
}

TEST(IgnoreErrors, KeepsPositions) {
  EXPECT_EQ((range(7) | ignore_errors()).kind(), Kind::sparse);
  EXPECT_EQ((range(7) | evens() | ignore_errors()).kind(), Kind::sparse);
  EXPECT_EQ((range(7) | as_stream() | ignore_errors()).kind(), Kind::stream);
  EXPECT_THAT(elements(range(7) | map(kDoubting) | batch(2) | ignore_errors()), ElementsAre("[0 2]", "[3 6]"));
}

TEST(IgnoreErrors, DoesNotWaitForEverForAnythingElse) {
  GeneratorOptions options{.name = "lost"};
  const Dataset lost = from_generator(
      [](uint64_t) {
        return Generator([]() -> Result<std::optional<Element>> { return fail(ErrorKind::DataLoss, "lost"); });
      },
      {{"", i64, {}}}, options);
  Sequence sequence(lost | ignore_errors());
  EXPECT_FALSE(sequence.next());
}

TEST(IgnoreErrors, KeepsTheContract) {
  EXPECT_EQ(sequence_violation(range(7) | map(kDoubting) | ignore_errors(), {.may_ignore_errors = true}), "");
  EXPECT_EQ(sequence_violation(range(7) | evens() | map(kDoubting) | ignore_errors(), {.may_ignore_errors = true}), "");
  EXPECT_EQ(sequence_violation(range(7) | as_stream() | map(kDoubting) | ignore_errors() | repeat(2),
                               {.may_ignore_errors = true}),
            "");
  EXPECT_EQ(sequence_violation(range(7) | ignore_errors(), {.may_ignore_errors = true}), "");
}

}  // namespace
}  // namespace headpond::internal
