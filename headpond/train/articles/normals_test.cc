// SPDX-License-Identifier: Apache-2.0
#include "headpond/train/articles/normals.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

namespace headpond {
namespace {

bool same_values(const Tensor& a, const Tensor& b) {
  return a.byte_size() == b.byte_size() && std::memcmp(a.data(), b.data(), a.byte_size()) == 0;
}

class NormalBatchesTest : public testing::TestWithParam<NormalSource> {
 protected:
  NormalBatches batches(uint64_t seed, Shape shape = {3, 1000, 100}) {
    return {GetParam(), std::move(shape), seed, pool_};
  }
  BufferPool pool_;
};

TEST_P(NormalBatchesTest, AreStandardNormal) {
  const Tensor batch = batches(3).next().value();
  double sum = 0, squares = 0;
  for (const float x : batch.as<float>()) {
    sum += x;
    squares += double{x} * x;
  }
  const auto n = static_cast<double>(batch.size());
  EXPECT_NEAR(sum / n, 0.0, 5.0 / std::sqrt(n));
  EXPECT_NEAR(squares / n, 1.0, 5.0 * std::sqrt(2.0 / n));
}

TEST_P(NormalBatchesTest, FollowFromTheSeedAndTheirNumber) {
  NormalBatches a = batches(3), b = batches(3), other = batches(4);
  const Tensor first = a.next().value(), second = a.next().value();
  EXPECT_TRUE(same_values(first, b.next().value()));
  EXPECT_TRUE(same_values(second, b.next().value()));
  EXPECT_FALSE(same_values(first, second));
  EXPECT_FALSE(same_values(first, other.next().value()));
  EXPECT_EQ(a.count(), 2);
}

TEST_P(NormalBatchesTest, UseABufferAgain) {
  NormalBatches a = batches(3);
  for (int i = 0; i < 5; ++i) ASSERT_TRUE(a.next());
  EXPECT_EQ(pool_.stats().allocations, 1);
}

TEST_P(NormalBatchesTest, EndAtARequestedStop) {
  std::stop_source source;
  source.request_stop();
  const auto stopped = batches(3).next(source.get_token());
  ASSERT_FALSE(stopped);
  EXPECT_EQ(stopped.error().kind(), ErrorKind::Cancelled);
}

INSTANTIATE_TEST_SUITE_P(Sources, NormalBatchesTest, testing::Values(NormalSource::standard, NormalSource::headpond),
                         [](const auto& instance) {
                           return instance.param == NormalSource::standard ? "Standard" : "Headpond";
                         });

}  // namespace
}  // namespace headpond
