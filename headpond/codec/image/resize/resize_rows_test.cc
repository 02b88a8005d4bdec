// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include <cstring>

#include "headpond/base/random.h"
#include "headpond/codec/image/resize/resize_rows_internal.h"

namespace headpond::resize_internal {
namespace {

Tensor noise_image(Random& random, DType dtype, int64_t height, int64_t width, int channels) {
  Tensor image = Tensor::empty(dtype, {height, width, channels});
  for (int64_t i = 0; i < image.size(); ++i) {
    if (dtype == u8) image.mutable_as<uint8_t>()[static_cast<size_t>(i)] = static_cast<uint8_t>(random.u32());
    if (dtype == f32) image.mutable_as<float>()[static_cast<size_t>(i)] = random.uniform();
  }
  return image;
}

ImageView view_of(const Tensor& image) {
  const auto row_bytes = static_cast<int64_t>(image.byte_size()) / image.dim(0);
  return {image.data(), image.dtype(), image.dim(0), image.dim(1), static_cast<int>(image.dim(2)), row_bytes};
}

// A part of the result, mirrored or not, made from no more of the image than it reads.
Tensor part_of(const ImageView& whole, const TapsKey& down, const TapsKey& across, const std::array<int64_t, 4>& part,
               ResizeScratch& scratch) {
  const auto [y, x, height, width] = part;
  TapsCache cache;
  const Taps& rows = cache.get(down);
  const Taps& columns = cache.get(across);
  TapsPart vertical = {&rows, y, height}, horizontal = {&columns, across.reversed ? across.out - x - width : x, width};
  vertical.shift = vertical.from();
  const int64_t left = horizontal.from();
  horizontal.shift = left;
  ImageView view = whole;
  const auto pixel = whole.channels * static_cast<int64_t>(item_size(whole.dtype));
  view.data += vertical.shift * whole.row_bytes + left * pixel;
  view.height = vertical.to();
  view.width = horizontal.to();
  ResizeRows all(view, vertical, horizontal, scratch);
  Tensor made = Tensor::empty(whole.dtype, {height, width, whole.channels});
  for (int64_t i = 0; i < height; ++i) all.next(made.mutable_data() + i * width * pixel);
  return made;
}

TEST(ResizeRows, APartHasTheBytesOfTheWholeMirroredOrNot) {
  Random random(3);
  const auto below = [&](int64_t n) { return static_cast<int64_t>(random.below(static_cast<uint64_t>(n))); };
  ResizeScratch scratch;
  for (int i = 0; i < 200; ++i) {
    const DType dtype = below(3) == 0 ? f32 : u8;
    const int64_t most = i % 10 == 0 ? 400 : 40;
    const Tensor image = noise_image(random, dtype, 1 + below(most), 1 + below(most), static_cast<int>(1 + below(4)));
    const ResizeOptions options = {static_cast<ResizeFilter>(below(6)), below(2) == 0};
    const int64_t height = below(4) == 0 ? image.dim(0) : 1 + below(40);
    const int64_t width = below(4) == 0 ? image.dim(1) : 1 + below(40);
    const Tensor whole = resize_image(image, height, width, options).value();
    const int64_t y = below(height), x = below(width), h = 1 + below(height - y), w = 1 + below(width - x);
    const bool flips = below(2) == 0;
    const Tensor part = part_of(view_of(image), {image.dim(0), height, options, dtype},
                                {image.dim(1), width, options, dtype, flips}, {y, x, h, w}, scratch);
    const size_t pixel = static_cast<size_t>(image.dim(2)) * item_size(dtype);
    for (int64_t row = 0; row < h; ++row) {
      for (int64_t column = 0; column < w; ++column) {
        const int64_t from = x + (flips ? w - 1 - column : column);
        ASSERT_EQ(std::memcmp(part.data() + static_cast<size_t>(row * w + column) * pixel,
                              whole.data() + static_cast<size_t>((y + row) * width + from) * pixel, pixel),
                  0);
      }
    }
  }
}

TEST(TapsCache, GivesTheTableThatIsAskedForHoweverManyThereAre) {
  TapsCache cache;
  for (int round = 0; round < 2; ++round) {
    for (int64_t in = 2; in < 80; ++in) {
      const Taps& rows = cache.get({.in = in, .out = 1});
      const Taps& columns = cache.get({.in = in, .out = 3});
      EXPECT_EQ(rows.key.in, in);
      EXPECT_EQ(columns.first.size(), 3U);
    }
  }
}

}  // namespace
}  // namespace headpond::resize_internal
