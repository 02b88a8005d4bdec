// SPDX-License-Identifier: Apache-2.0
#include "headpond/tensor/head_kernel.h"

#include <gmock/gmock.h>

namespace headpond {
namespace {

// The second byte, of files that have one.
class SecondByte final : public HeadKernel {
 public:
  SecondByte() : HeadKernel("second_byte", "second_byte") {}
  Result<int64_t> from_head(std::span<const std::byte> head, uint64_t file_bytes) const override {
    if (file_bytes < 2) return fail(ErrorKind::DataLoss, "too short");
    if (head.size() < 2) return fail(ErrorKind::FailedPrecondition, "2 bytes are needed");
    return static_cast<int64_t>(head[1]);
  }
};

TEST(HeadKernel, RunsOnWholeFiles) {
  const std::vector<KernelRef> chain = {std::make_shared<SecondByte>()};
  const auto number = run_kernels(chain, Tensor::scalar(std::string_view("aBc")));
  ASSERT_TRUE(number);
  EXPECT_EQ(number->item<int64_t>(), 'B');
  EXPECT_EQ(run_kernels(chain, Tensor::scalar(std::string_view("a"))).error().kind(), ErrorKind::DataLoss);
}

TEST(HeadKernel, GivesANumberForAFileAndRefusesOtherFields) {
  const SecondByte kernel;
  const Spec made = kernel.facts().result({{"file", DType::bytes, {}}});
  EXPECT_EQ(made[0].dtype, DType::i64);
  EXPECT_EQ(made[0].shape.rank(), 0);
  EXPECT_THROW(kernel.facts().result({{"file", DType::u8, {}}}), Exception);
  EXPECT_THROW(kernel.facts().result({{"file", DType::bytes, {2}}}), Exception);
}

}  // namespace
}  // namespace headpond
