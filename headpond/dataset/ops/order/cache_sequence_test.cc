// SPDX-License-Identifier: Apache-2.0
#include "headpond/dataset/ops/order/cache_sequence_internal.h"
#include "headpond/dataset/testing/dataset_test_internal.h"

namespace headpond::internal {
namespace {

Element element_of(int64_t value) { return {Tensor::scalar(value)}; }

TEST(CacheSequence, KeepsTheNextOneOnly) {
  CacheSequence cache;
  std::atomic<int64_t> bytes = 0;
  Element out;
  EXPECT_EQ(cache.get(0, out), Got::pending);
  EXPECT_FALSE(cache.keep(1, element_of(1), bytes));
  EXPECT_EQ(cache.get(1, out), Got::pending);
  EXPECT_TRUE(cache.keep(0, element_of(0), bytes));
  EXPECT_TRUE(cache.keep(0, element_of(9), bytes)) << "it is there";
  EXPECT_EQ(bytes, 8);
  EXPECT_EQ(cache.get(0, out), Got::value);
  EXPECT_EQ(text_of(out), "0");
}

TEST(CacheSequence, EndsWhereAllIsKept) {
  CacheSequence cache;
  std::atomic<int64_t> bytes = 0;
  Element out;
  EXPECT_TRUE(cache.keep(0, element_of(0), bytes));
  cache.end(2);  // Something before that end was an error.
  EXPECT_EQ(cache.get(1, out), Got::pending);
  cache.end(1);
  EXPECT_EQ(cache.get(1, out), Got::end);
}

}  // namespace
}  // namespace headpond::internal
