// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cstring>

#include "headpond/train/articles/normal_loader_internal.h"

namespace headpond {
namespace {

using internal::NormalLoader;

bool same_bits(const Tensor& a, const Tensor& b) {
  return a.shape() == b.shape() && std::memcmp(a.data(), b.data(), a.byte_size()) == 0;
}

// Rows of 128 values can be filled one by one, rows of 35 values cannot.
struct Case {
  const char* name;
  NormalSource source;
  Shape shape;
};

class NormalLoaderTest : public testing::TestWithParam<Case> {
 protected:
  NormalBatches batches(uint64_t seed = 3) { return {GetParam().source, GetParam().shape, seed, pool_}; }
  BufferPool pool_;
};

TEST_P(NormalLoaderTest, GivesTheBytesOfTheBatchesInTheirOrder) {
  NormalBatches given = batches(), expected = batches(), other = batches(4);
  NormalLoader loader(given, 6, {});
  for (int i = 0; i < 6; ++i) {
    const Tensor batch = loader.next().value();
    EXPECT_TRUE(same_bits(batch, expected.next().value())) << i;
    EXPECT_FALSE(same_bits(batch, other.next().value())) << i;
  }
  EXPECT_EQ(loader.next().error().kind(), ErrorKind::OutOfRange);
  EXPECT_GT(loader.work_ns(), 0);
}

TEST_P(NormalLoaderTest, NextOneGoesOnAfterIt) {
  NormalBatches given = batches(), expected = batches();
  for (const int64_t count : {1, 3, 2}) {
    NormalLoader loader(given, count, {});
    for (int64_t i = 0; i < count; ++i) EXPECT_TRUE(same_bits(loader.next().value(), expected.next().value()));
  }
  EXPECT_TRUE(same_bits(given.next().value(), expected.next().value()));
}

TEST_P(NormalLoaderTest, StopIsCancelled) {
  std::stop_source source;
  source.request_stop();
  NormalBatches given = batches();
  NormalLoader loader(given, 6, source.get_token());
  EXPECT_EQ(loader.next().error().kind(), ErrorKind::Cancelled);
}

TEST_P(NormalLoaderTest, MayBeLeftInTheMidst) {
  NormalBatches given = batches();
  NormalLoader loader(given, 1'000'000, {});
  EXPECT_TRUE(loader.next());
}

INSTANTIATE_TEST_SUITE_P(Cases, NormalLoaderTest,
                         testing::Values(Case{"Standard", NormalSource::standard, {5, 4, 32}},
                                         Case{"HeadpondByRows", NormalSource::headpond, {5, 4, 32}},
                                         Case{"HeadpondWhole", NormalSource::headpond, {3, 5, 7}}),
                         [](const auto& instance) { return instance.param.name; });

}  // namespace
}  // namespace headpond
