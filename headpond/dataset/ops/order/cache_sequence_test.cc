// SPDX-License-Identifier: Apache-2.0
#include "headpond/dataset/ops/order/cache_sequence_internal.h"
#include "headpond/dataset/testing/dataset_test_internal.h"

namespace headpond::internal {
namespace {

Element element_of(int64_t value) { return {Tensor::scalar(value)}; }

TEST(CacheSequence, KeepsTheNextOneOnly) {
  CacheSequence cache;
  Element out;
  EXPECT_EQ(cache.get(0, out), Got::pending);
  cache.keep(1, element_of(1));
  EXPECT_EQ(cache.get(1, out), Got::pending);
  cache.keep(0, element_of(0));
  cache.keep(0, element_of(9));
  EXPECT_EQ(cache.get(0, out), Got::value);
  EXPECT_EQ(text_of(out), "0");
}

TEST(CacheSequence, EndsWhereAllIsKept) {
  CacheSequence cache;
  Element out;
  cache.keep(0, element_of(0));
  cache.end(2);  // Something before that end was an error.
  EXPECT_EQ(cache.get(1, out), Got::pending);
  cache.end(1);
  EXPECT_EQ(cache.get(1, out), Got::end);
}

}  // namespace
}  // namespace headpond::internal
