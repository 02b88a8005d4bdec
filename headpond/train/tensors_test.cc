// SPDX-License-Identifier: Apache-2.0
#include "headpond/train/tensors.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <vector>

namespace headpond {
namespace {

using testing::HasSubstr;

Tensor filled(const Shape& shape, float value, BufferPool& pool) {
  Tensor tensor = Tensor::empty(f32, shape, pool);
  for (float& x : tensor.mutable_as<float>()) x = value;
  return tensor;
}

TEST(AsTorch, SharesTheBytes) {
  BufferPool pool;
  const Tensor batch = filled({2, 3, 4}, 1.5F, pool);
  const torch::Tensor seen = as_torch(batch).value();
  EXPECT_EQ(seen.data_ptr(), static_cast<const void*>(batch.data()));
  EXPECT_EQ(seen.sizes(), torch::IntArrayRef({2, 3, 4}));
  EXPECT_TRUE(seen.is_contiguous());
  seen[0][1][1].fill_(7.0F);
  EXPECT_EQ(batch.as<float>()[5], 7.0F);
}

TEST(AsTorch, KeepsTheBufferUntilTheLastTorchTensorIsGone) {
  BufferPool pool;
  std::optional<torch::Tensor> part;
  const void* address = nullptr;
  {
    Tensor batch = filled({100, 100}, 2.0F, pool);
    address = batch.data();
    part = as_torch(batch).value()[99];
  }
  EXPECT_GT(pool.stats().bytes_in_use, 0);
  EXPECT_EQ(part->sum().item<float>(), 200.0F);
  part.reset();
  EXPECT_EQ(pool.stats().bytes_in_use, 0);
  EXPECT_EQ(filled({100, 100}, 0.0F, pool).data(), address) << "the buffer was not used again";
}

TEST(AsTorch, CopyThatIsKnownToBeOneIsRejectedByTheAddress) {
  BufferPool pool;
  const Tensor batch = filled({2, 3, 4}, 1.5F, pool);
  EXPECT_NE(as_torch(batch).value().clone().data_ptr(), static_cast<const void*>(batch.data()));
}

TEST(AsTorch, ScalarsAndSmallTensorsThatLiveInlineStayWhenTheirTensorIsGone) {
  std::optional<torch::Tensor> scalar, pair;
  {
    scalar = as_torch(Tensor::scalar(int64_t{42})).value();
    const int32_t values[] = {4, 5};
    pair = as_torch(Tensor::from(std::span<const int32_t>(values), {2})).value();
  }
  EXPECT_EQ(scalar->dim(), 0);
  EXPECT_EQ(scalar->item<int64_t>(), 42);
  EXPECT_EQ((*pair)[1].item<int32_t>(), 5);
}

TEST(AsTorch, EmptyBatchHasItsShape) {
  EXPECT_EQ(as_torch(Tensor::empty(f32, {0, 28, 28})).value().sizes(), torch::IntArrayRef({0, 28, 28}));
}

TEST(AsTorch, DtypesKeepTheirWidthAndMeaning) {
  for (const DType dtype : {u8, i8, i16, i32, i64, f16, bf16, f32, f64, boolean}) {
    EXPECT_EQ(torch::elementSize(torch_dtype(dtype).value()), item_size(dtype)) << name(dtype);
  }
  EXPECT_EQ(as_torch(Tensor::scalar(true)).value().scalar_type(), torch::kBool);
  EXPECT_EQ(as_torch(Tensor::scalar(-1.5)).value().item<double>(), -1.5);
}

TEST(AsTorch, DtypesThatTorchLacksAreNamed) {
  for (const DType dtype : {u16, u32, u64}) {
    const auto refused = torch_dtype(dtype);
    ASSERT_FALSE(refused) << name(dtype);
    EXPECT_EQ(refused.error().kind(), ErrorKind::Unimplemented);
    EXPECT_THAT(refused.error().message(),
                HasSubstr(std::string(name(dtype)) + "; convert to a signed or floating type before the batch"));
  }
  const auto texts = torch_dtype(bytes);
  ASSERT_FALSE(texts);
  EXPECT_EQ(texts.error().kind(), ErrorKind::Unimplemented);
  EXPECT_THAT(texts.error().message(), HasSubstr("texts; before the batch, map() them to numbers or leave the field"));
}

TEST(AsTorch, ElementGivesItsFieldsInOrder) {
  const auto fields = as_torch(Element{Tensor::scalar(1.0F), Tensor::scalar(int64_t{2})}).value();
  ASSERT_EQ(fields.size(), 2U);
  EXPECT_EQ(fields[0].item<float>(), 1.0F);
  EXPECT_EQ(fields[1].item<int64_t>(), 2);
}

TEST(AsTorch, OfADeviceTensorSharesTheMemoryAndKeepsIt) {
  auto values = std::make_shared<std::vector<float>>(std::vector<float>{1, 2, 3, 4, 5, 6});
  DeviceTensor tensor{.data = values->data(), .dtype = f32, .shape = {2, 3}, .owner = values};
  std::optional<torch::Tensor> seen = as_torch(tensor).value();
  tensor = {};
  EXPECT_EQ(values.use_count(), 2);
  EXPECT_EQ(seen->device(), torch::Device(torch::kCPU));
  EXPECT_EQ(seen->data_ptr(), static_cast<void*>(values->data()));
  EXPECT_EQ((*seen)[1][2].item<float>(), 6.0F);
  seen.reset();
  EXPECT_EQ(values.use_count(), 1);

  const torch::Tensor other =
      as_torch(DeviceTensor{.data = values->data(), .dtype = f32, .shape = {6}, .device = 3}).value();
  EXPECT_EQ(other.device(), torch::Device(torch::kCUDA, 3));
  EXPECT_EQ(as_torch(DeviceTensor{.dtype = u16}).error().kind(), ErrorKind::Unimplemented);
}

TEST(AsTorch, ErrorOfAnElementNamesTheField) {
  const auto named =
      as_torch(Element::named({{"image", Tensor::scalar(1.0F)}, {"label", Tensor::scalar(uint16_t{2})}}));
  ASSERT_FALSE(named);
  EXPECT_THAT(named.error().message(), HasSubstr("field label: torch has no tensors of uint16"));
  const auto unnamed = as_torch(Element{Tensor::scalar("text")});
  EXPECT_THAT(unnamed.error().message(), HasSubstr("field 0"));
}

}  // namespace
}  // namespace headpond
