// SPDX-License-Identifier: Apache-2.0
#include "headpond/codec/image/normalize/normalize_pass_internal.h"

namespace headpond::image_internal {

NormalizePass::NormalizePass(const NormalizeOptions& options) : options_(options) {
  for (size_t i = 0; i < NormalizeLines::kSize; ++i) {
    const size_t k = i % options.mean.size();
    const double scale = 1 / options.std[k];
    const auto bias = static_cast<float>(-options.mean[k] * scale);
    of_u8_.scale[i] = static_cast<float>(scale / 255);
    of_f32_.scale[i] = static_cast<float>(scale);
    of_u8_.bias[i] = of_f32_.bias[i] = bias;
  }
}

Shape NormalizePass::shape(int64_t height, int64_t width, int channels) const {
  return options_.layout == ImageLayout::chw ? Shape{channels, height, width} : Shape{height, width, channels};
}

bool NormalizePass::takes(int channels) const {
  return options_.mean.size() == 1 || options_.mean.size() == static_cast<size_t>(channels);
}

NormalizeRow NormalizePass::row_of(int64_t y, const Size& size, std::byte*& to) const {
  const bool is_chw = options_.layout == ImageLayout::chw;
  to += y * size.width * (is_chw ? 1 : size.channels) * static_cast<int64_t>(item_size(options_.dtype));
  const int64_t plane = is_chw ? size.height * size.width : 0;
  return {size.width, size.channels, options_.dtype, plane, (size.height - 1 - y) * size.width};
}

void NormalizePass::row(const uint8_t* from, int64_t y, const Size& size, std::byte* to) const {
  const NormalizeRow row = row_of(y, size, to);
  rows_.of_u8(from, row, of_u8_, to);
}

void NormalizePass::row(const float* from, int64_t y, const Size& size, std::byte* to) const {
  const NormalizeRow row = row_of(y, size, to);
  rows_.of_f32(from, row, of_f32_, to);
}

void NormalizePass::run(const std::byte* from, DType dtype, const NormalizeRow& row, std::byte* to) const {
  if (dtype == DType::u8) return rows_.of_u8(reinterpret_cast<const uint8_t*>(from), row, of_u8_, to);
  rows_.of_f32(reinterpret_cast<const float*>(from), row, of_f32_, to);
}

void NormalizePass::images(const std::byte* from, DType dtype, int64_t count, const Size& size, std::byte* to) const {
  const int64_t pixels = size.height * size.width;
  const bool has_planes = options_.layout == ImageLayout::chw && size.channels > 1;
  if (!has_planes) return run(from, dtype, {count * pixels, size.channels, options_.dtype, 0}, to);
  const int64_t values = pixels * size.channels;
  for (int64_t i = 0; i < count; ++i) {
    run(from, dtype, {pixels, size.channels, options_.dtype, pixels}, to);
    from += values * static_cast<int64_t>(item_size(dtype));
    to += values * static_cast<int64_t>(item_size(options_.dtype));
  }
}

}  // namespace headpond::image_internal
