// SPDX-License-Identifier: Apache-2.0
#include "headpond/base/math/half.h"
#include "headpond/codec/image/kernels/normalize_pass_internal.h"

namespace headpond::image_internal {
namespace {

struct ToF32 {
  using To = float;
  static float convert(float value) { return value; }
};
struct ToF16 {
  using To = uint16_t;
  static uint16_t convert(float value) { return to_f16(value); }
};
struct ToBf16 {
  using To = uint16_t;
  static uint16_t convert(float value) { return to_bf16(value); }
};

template <class Convert, class T>
void fill_line(const T* from, int64_t step, int64_t width, float scale, float bias, std::byte* to, int64_t to_step) {
  auto* out = reinterpret_cast<typename Convert::To*>(to);
  for (int64_t x = 0; x < width; ++x, from += step, out += to_step) {
    *out = Convert::convert(static_cast<float>(*from) * scale + bias);
  }
}

}  // namespace

NormalizePass::NormalizePass(const NormalizeOptions& options) : options_(options) {
  for (size_t i = 0; i < of_u8_.size(); ++i) {
    const size_t k = options.mean.size() == 1 ? 0 : std::min(i, options.mean.size() - 1);
    const double scale = 1 / options.std[k];
    const auto bias = static_cast<float>(-options.mean[k] * scale);
    of_u8_[i] = {static_cast<float>(scale / 255), bias};
    of_f32_[i] = {static_cast<float>(scale), bias};
  }
}

Shape NormalizePass::shape(int64_t height, int64_t width, int channels) const {
  return options_.layout == ImageLayout::chw ? Shape{channels, height, width} : Shape{height, width, channels};
}

bool NormalizePass::takes(int channels) const {
  return options_.mean.size() == 1 || options_.mean.size() == static_cast<size_t>(channels);
}

template <class T>
void NormalizePass::row_as(const T* from, int64_t y, int64_t height, int64_t width, int channels, std::byte* to) const {
  const auto item = static_cast<int64_t>(item_size(options_.dtype));
  const bool is_chw = options_.layout == ImageLayout::chw;
  for (int c = 0; c < channels; ++c) {
    const Line line = sizeof(T) == 1 ? of_u8_[static_cast<size_t>(c)] : of_f32_[static_cast<size_t>(c)];
    std::byte* const out = to + (is_chw ? (c * height + y) * width : y * width * channels + c) * item;
    const int64_t step = is_chw ? 1 : channels;
    if (options_.dtype == DType::f32) fill_line<ToF32>(from + c, channels, width, line.scale, line.bias, out, step);
    if (options_.dtype == DType::f16) fill_line<ToF16>(from + c, channels, width, line.scale, line.bias, out, step);
    if (options_.dtype == DType::bf16) fill_line<ToBf16>(from + c, channels, width, line.scale, line.bias, out, step);
  }
}

void NormalizePass::row(const uint8_t* from, int64_t y, int64_t height, int64_t width, int channels,
                        std::byte* to) const {
  if (options_.layout != ImageLayout::chw || options_.dtype != DType::f32)
    return row_as(from, y, height, width, channels, to);
  std::array<float*, 4> planes = {};
  for (int c = 0; c < channels; ++c)
    planes[static_cast<size_t>(c)] = reinterpret_cast<float*>(to) + (c * height + y) * width;
  split_normalized(from, width, channels, of_u8_.data(), planes.data());
}

void NormalizePass::row(const float* from, int64_t y, int64_t height, int64_t width, int channels,
                        std::byte* to) const {
  row_as(from, y, height, width, channels, to);
}

}  // namespace headpond::image_internal
