// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "headpond/train/device/cuda.h"
#include "headpond/train/device/cuda_driver_internal.h"

namespace headpond::internal {
namespace {

using testing::HasSubstr;

TEST(CudaDriver, ALibraryThatIsNotThereOrIsNoDriverIsRefused) {
  const auto missing = open_cuda_driver("libno_such_driver.so.1");
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().kind(), ErrorKind::FailedPrecondition);
  EXPECT_THAT(missing.error().message(), HasSubstr("libno_such_driver.so.1"));
  const auto another = open_cuda_driver("libm.so.6");
  ASSERT_FALSE(another);
  EXPECT_EQ(another.error().kind(), ErrorKind::FailedPrecondition);
  EXPECT_THAT(another.error().message(), HasSubstr("it has no function cuInit"));
}

TEST(CudaDriver, WithoutADeviceThereIsNoPinnedPoolAndNoStream) {
  constexpr int kNoSuchDevice = 1 << 20;  // Also where there is a driver.
  const auto pool = pinned_pool(kNoSuchDevice);
  const auto stream = cuda_stream({.device = kNoSuchDevice});
  ASSERT_FALSE(pool);
  ASSERT_FALSE(stream);
  EXPECT_EQ(pool.error().kind(), ErrorKind::FailedPrecondition);
  EXPECT_EQ(stream.error().kind(), ErrorKind::FailedPrecondition);
  EXPECT_THAT(pool.error().message(), HasSubstr("CUDA: "));
}

}  // namespace
}  // namespace headpond::internal
