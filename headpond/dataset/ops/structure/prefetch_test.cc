// SPDX-License-Identifier: Apache-2.0
#include "headpond/dataset/testing/structure_test_internal.h"

namespace headpond::internal {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::ThrowsMessage;

TEST(Prefetch, ChangesNothing) {
  EXPECT_THAT(elements(range(3) | prefetch(2), {}, true), ElementsAre("0 #0", "1 #1", "2 #2"));
  EXPECT_EQ((range(3) | prefetch()).kind(), Kind::indexed);
  EXPECT_EQ((range(3) | evens() | prefetch()).kind(), Kind::sparse);
  EXPECT_THAT(answers(script({"1", "pending", "bad", "2"}) | prefetch(0)),
              ElementsAre("1", "pending", "!bad", "2", "end"));
  EXPECT_THAT([] { prefetch(-2); }, ThrowsMessage<Exception>(HasSubstr("a buffer of -2 elements")));
}

TEST(Prefetch, AStateHoldsForAnySize) {
  Sequence sequence(range(5) | prefetch(1));
  ASSERT_TRUE(sequence.next());
  EXPECT_TRUE(Sequence::restored(range(5) | prefetch(7), {}, sequence.state()));
}

TEST(Prefetch, KeepsTheContract) {
  check_contract(range(5) | prefetch(1) | batch(2) | prefetch(1));
  check_contract(range(5) | evens() | prefetch(1));
  check_contract(range(5) | as_stream() | prefetch(1));
  check_contract(range(0) | prefetch(1));
}

}  // namespace
}  // namespace headpond::internal
