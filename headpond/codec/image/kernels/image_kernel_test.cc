// SPDX-License-Identifier: Apache-2.0
#include "headpond/codec/image/kernels/image_kernel.h"

#include <gmock/gmock.h>

#include <string_view>

namespace headpond {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

Tensor image_file(std::string_view text) { return Tensor::scalar(text); }

TEST(ImageKernel, DecodesAnyFormat) {
  const std::vector<KernelRef> all = {decode_image({.channels = 3})};
  EXPECT_THAT(run_kernels(all, image_file("P5 1 1 255 a"))->as<uint8_t>(), ElementsAre('a', 'a', 'a'));
  const auto pixels = run_kernels(all, image_file("P6 1 2 255 abcdef"));
  EXPECT_EQ(pixels->shape(), (Shape{2, 1, 3}));
}

TEST(ImageKernel, SaysWhatItGives) {
  const Spec bytes = {{"image", DType::bytes, {}}};
  EXPECT_EQ(decode_image()->facts().title, "decode_image");
  EXPECT_EQ(decode_image()->facts().result(bytes)[0].shape, (Shape{kUnknown, kUnknown, kUnknown}));
  const KernelRef grey = decode_image({.channels = 1, .dtype = DType::u16, .apply_exif_orientation = false});
  EXPECT_EQ(grey->facts().title, "decode_image(channels=1, dtype=uint16, apply_exif_orientation=false)");
  EXPECT_EQ(grey->facts().result(bytes)[0].shape, (Shape{kUnknown, kUnknown, 1}));
  EXPECT_EQ(decode_image({.max_pixels = 4, .max_memory = 5})->facts().title,
            "decode_image(max_pixels=4, max_memory=5)");
}

TEST(ImageKernel, RefusesBadOptionsFieldsAndFiles) {
  EXPECT_THROW(decode_image({.channels = 5}), Exception);
  EXPECT_THROW(decode_image({.dtype = DType::f32}), Exception);
  EXPECT_THROW(decode_image({.max_pixels = 0}), Exception);
  EXPECT_THROW(decode_image({.max_memory = 0}), Exception);
  EXPECT_THROW(decode_image()->facts().result({{"image", DType::u8, {3}}}), Exception);
  const std::vector<KernelRef> all = {decode_image()};
  EXPECT_THAT(run_kernels(all, image_file("<html>")).error().message(), HasSubstr("HTML"));
  EXPECT_FALSE(run_kernels(all, image_file("")));
}

}  // namespace
}  // namespace headpond
