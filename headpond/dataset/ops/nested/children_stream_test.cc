// SPDX-License-Identifier: Apache-2.0
#include "headpond/dataset/testing/structure_test_internal.h"

namespace headpond::internal {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

Step ranges(int64_t cycle_length, const std::string& name = "ranges") {
  return interleave([](int64_t x) { return range(10 * x, 10 * x + x); },
                    {.cycle_length = cycle_length, .kind = Kind::stream, .name = name});
}

TEST(ChildrenStream, WaitsWithoutLosingAnything) {
  EXPECT_THAT(answers(script({"2", "pending", "3", "pending", "pending", "1"}) | ranges(2)),
              ElementsAre("20", "pending", "30", "21", "31", "32", "pending", "pending", "10", "end"));
}

// Errors and waiting before, between and after the datasets: a restored run goes on with the same elements.
TEST(ChildrenStream, GoesOnAfterEachElement) {
  const Dataset dataset = script({"2", "pending", "3", "bad", "pending", "1", "0", "4"}) | ranges(2);
  const auto rest = [](Sequence& sequence) {
    std::vector<std::string> all;
    while (true) {
      const auto next = sequence.next();
      if (at_end(next)) return all;
      all.push_back(next ? text_of(*next) : "!" + next.error().message());
    }
  };
  for (int taken = 0; taken < 12; ++taken) {
    Sequence sequence(dataset);
    for (int i = 0; i < taken; ++i) (void)sequence.next();
    auto restored = Sequence::restored(dataset, {}, sequence.state());
    ASSERT_TRUE(restored) << restored.error();
    auto expected = rest(sequence);
    const auto found = rest(*restored);
    // An error after the last element is a part of neither state: it comes again.
    if (found.size() == expected.size() + 1) expected.insert(expected.begin(), found[0]);
    EXPECT_EQ(found, expected) << taken;
  }
}

TEST(ChildrenStream, AStateOfUnopenedDatasetsIsTheSame) {
  const Dataset dataset = range(1, 5) | ranges(3);
  Sequence sequence(dataset);
  for (int i = 0; i < 4; ++i) ASSERT_TRUE(sequence.next());
  auto once = Sequence::restored(dataset, {}, sequence.state());
  ASSERT_TRUE(once);
  auto twice = Sequence::restored(dataset, {}, once->state());
  ASSERT_TRUE(twice);
  EXPECT_EQ(text_of(*twice->next()), text_of(*sequence.next()));
  EXPECT_EQ(twice->state(), sequence.state());
}

TEST(ChildrenStream, RefusesAStateOfAnotherCycle) {
  Sequence sequence(range(1, 5) | ranges(3));
  ASSERT_TRUE(sequence.next());
  const auto restored = Sequence::restored(range(1, 5) | ranges(2), {}, sequence.state());
  ASSERT_FALSE(restored);
  EXPECT_THAT(restored.error().message(), HasSubstr("cycle_length=3"));
}

}  // namespace
}  // namespace headpond::internal
