// SPDX-License-Identifier: Apache-2.0
#include "headpond/dataset/ops/order/kept_sequence_internal.h"
#include "headpond/dataset/testing/dataset_test_internal.h"

namespace headpond::internal {
namespace {

Element element_of(int64_t value) { return {Tensor::scalar(value)}; }

TEST(KeptSequence, KeepsTheNextOneOnly) {
  KeptSequence kept;
  Element out;
  EXPECT_EQ(kept.get(0, out), Got::later);
  kept.keep(1, element_of(1));
  EXPECT_EQ(kept.get(1, out), Got::later);
  kept.keep(0, element_of(0));
  kept.keep(0, element_of(9));
  EXPECT_EQ(kept.get(0, out), Got::value);
  EXPECT_EQ(text_of(out), "0");
}

TEST(KeptSequence, EndsWhereAllIsKept) {
  KeptSequence kept;
  Element out;
  kept.keep(0, element_of(0));
  kept.end(2);  // Something before that end was an error.
  EXPECT_EQ(kept.get(1, out), Got::later);
  kept.end(1);
  EXPECT_EQ(kept.get(1, out), Got::end);
}

}  // namespace
}  // namespace headpond::internal
