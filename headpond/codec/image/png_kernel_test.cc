// SPDX-License-Identifier: Apache-2.0
#include "headpond/codec/image/png_kernel.h"

#include <gmock/gmock.h>

#include <string_view>

namespace headpond {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

Tensor png_kernel_file() {
  const auto file = encode_png(Tensor::from(std::vector<uint8_t>{1, 2, 3, 40, 50, 60}, {1, 2, 3}));
  return Tensor::scalar(std::string_view(reinterpret_cast<const char*>(file->data()), file->size()));
}

TEST(PngKernel, DecodesAsTheFunctionDoes) {
  const std::vector<KernelRef> all = {decode_png()};
  const auto pixels = run_kernels(all, png_kernel_file());
  ASSERT_TRUE(pixels);
  EXPECT_EQ(pixels->shape(), (Shape{1, 2, 3}));
  EXPECT_THAT(pixels->as<uint8_t>(), ElementsAre(1, 2, 3, 40, 50, 60));
  const std::vector<KernelRef> wide = {decode_png({.channels = 4, .dtype = DType::u16})};
  EXPECT_EQ(run_kernels(wide, png_kernel_file())->shape(), (Shape{1, 2, 4}));
}

TEST(PngKernel, SaysWhatItGives) {
  const Spec bytes = {{"image", DType::bytes, {}}};
  EXPECT_EQ(decode_png()->facts().title, "decode_png");
  EXPECT_EQ(decode_png()->facts().result(bytes)[0].shape, (Shape{kUnknown, kUnknown, kUnknown}));
  const KernelRef grey = decode_png({.channels = 1, .dtype = DType::u16});
  EXPECT_EQ(grey->facts().title, "decode_png(channels=1, dtype=uint16)");
  EXPECT_EQ(grey->facts().result(bytes)[0].shape, (Shape{kUnknown, kUnknown, 1}));
  EXPECT_EQ(grey->facts().result(bytes)[0].dtype, DType::u16);
}

TEST(PngKernel, RefusesBadOptionsFieldsAndFiles) {
  EXPECT_THROW(decode_png({.channels = 5}), Exception);
  EXPECT_THROW(decode_png({.dtype = DType::f32}), Exception);
  EXPECT_THROW(decode_png({.max_pixels = 0}), Exception);
  EXPECT_THROW(decode_png()->facts().result({{"image", DType::u8, {3}}}), Exception);
  const std::vector<KernelRef> all = {decode_png()};
  const auto bad = run_kernels(all, Tensor::scalar(std::string_view("no image")));
  ASSERT_FALSE(bad);
  EXPECT_THAT(bad.error().message(), HasSubstr("png"));
  EXPECT_FALSE(run_kernels(all, Tensor::scalar(std::string_view(""))));
}

}  // namespace
}  // namespace headpond
