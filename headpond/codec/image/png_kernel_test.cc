// SPDX-License-Identifier: Apache-2.0
#include "headpond/codec/image/png_kernel.h"

#include <gmock/gmock.h>

#include <cstring>
#include <string_view>

#include "headpond/codec/image/kernels/crop_kernels.h"
#include "headpond/codec/image/png_internal.h"
#include "headpond/codec/image/png_test_internal.h"

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

// Whether the pixels of the window are those of the whole image.
bool has_region(const std::string& text, const ImageWindow& window, const PngOptions& options) {
  const auto file = std::as_bytes(std::span(text));
  const Tensor whole = decode_png(file, options)->pixels;
  const auto layout = png_internal::read_layout(file, options, "png");
  const size_t pixel = static_cast<size_t>(whole.dim(2)) * item_size(whole.dtype());
  const size_t row = static_cast<size_t>(window.width) * pixel;
  std::vector<std::byte> part(row * static_cast<size_t>(window.height));
  if (!png_internal::decode_window(file, *layout, window, options, part.data(), "png")) return false;
  bool is_equal = true;
  for (int64_t y = 0; y < window.height; ++y) {
    const std::byte* const from = whole.data() + static_cast<size_t>((window.y + y) * whole.dim(1) + window.x) * pixel;
    is_equal = is_equal && std::memcmp(&part[static_cast<size_t>(y) * row], from, row) == 0;
  }
  return is_equal;
}

TEST(PngKernel, ARegionHasThePixelsOfTheWholeImage) {
  const std::vector<PngOptions> all = {PngOptions(), {.channels = 1}, {.channels = 2, .dtype = u16}, {.channels = 4}};
  for (const auto& [color, depth] : test::kPngKinds) {
    for (const bool is_interlaced : {false, true}) {
      const std::string file = test::PngImageOf{9, 7, color, depth, is_interlaced}.file();
      for (const PngOptions& options : all) {
        for (const ImageWindow& window : {ImageWindow{0, 0, 1, 1}, ImageWindow{3, 2, 3, 4}, ImageWindow{2, 0, 4, 9},
                                          ImageWindow{6, 8, 1, 1}, ImageWindow{0, 0, 7, 9}}) {
          EXPECT_TRUE(has_region(file, window, options)) << color << " " << depth << " " << is_interlaced;
        }
      }
    }
  }
}

TEST(PngKernel, ACropSeesDamageBelowItOnlyByChecksums) {
  const test::PngImageOf image = {9, 30, 2, 8};
  std::string data = test::deflated(image.raw());
  data.back() ^= 1;  // Of the sum over all rows.
  const std::string damaged =
      test::kPngSignature + image.header() + test::png_chunk("IDAT", data) + test::png_chunk("IEND", "");
  const std::vector<KernelRef> whole = {decode_png()}, top = {decode_png(), crop(0, 0, {5, 5})};
  const std::vector<KernelRef> bottom = {decode_png(), crop(25, 0, {5, 5})};
  const Tensor file = Tensor::scalar(std::string_view(damaged));
  EXPECT_EQ(run_kernels(whole, file).error().kind(), ErrorKind::DataLoss);
  EXPECT_EQ(run_kernels(bottom, file).error().kind(), ErrorKind::DataLoss);
  EXPECT_TRUE(run_kernels(top, file));
  EXPECT_FALSE(run_kernels(top, file, {.joined = false}));
  std::string flipped = image.file();
  flipped[flipped.size() - 20] ^= 1;
  EXPECT_FALSE(run_kernels(top, Tensor::scalar(std::string_view(flipped))));
}

TEST(PngKernel, EmptyBracesAreNoOptions) { EXPECT_EQ(decode_png({})->facts().title, "decode_png"); }

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
  EXPECT_THROW(decode_png({.max_memory = 0}), Exception);
  EXPECT_THROW(decode_png()->facts().result({{"image", DType::u8, {3}}}), Exception);
  const std::vector<KernelRef> all = {decode_png()};
  const auto bad = run_kernels(all, Tensor::scalar(std::string_view("no image")));
  ASSERT_FALSE(bad);
  EXPECT_THAT(bad.error().message(), HasSubstr("png"));
  EXPECT_FALSE(run_kernels(all, Tensor::scalar(std::string_view(""))));
  const std::vector<KernelRef> small = {decode_png({.max_memory = 5})}, enough = {decode_png({.max_memory = 6})};
  EXPECT_EQ(run_kernels(small, png_kernel_file()).error().kind(), ErrorKind::ResourceExhausted);
  EXPECT_TRUE(run_kernels(enough, png_kernel_file()));
}

}  // namespace
}  // namespace headpond
