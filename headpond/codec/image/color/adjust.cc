// SPDX-License-Identifier: Apache-2.0
#include "headpond/codec/image/color/adjust.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>

#include "headpond/base/math/portable.h"
#include "headpond/codec/image/color/color_internal.h"
#include "headpond/codec/image/color/color_rows_internal.h"

namespace headpond {
namespace {

using namespace color_internal;

uint8_t* bytes_of(std::byte* out) { return reinterpret_cast<uint8_t*>(out); }
float* floats_of(std::byte* out) { return reinterpret_cast<float*>(out); }

void copy(const Tensor& image, std::byte* out) {
  if (image.data() != out) std::memcpy(out, image.data(), image.byte_size());
}

// Both problems, that of the image first.
Result<void> check(std::string_view op, const Tensor& image, Channels channels, std::string_view option, double value,
                   double low, double high) {
  if (auto fits = check_image(op, image, channels); !fits) return fits;
  return check_range(op, option, value, low, high);
}

template <class T>
T grey_at(const T* pixel, int64_t channels) {
  return channels == 3 ? static_cast<T>(grey_of(pixel)) : *pixel;
}

double mean_grey(std::span<const uint8_t> in, int64_t channels) {
  uint64_t sum = 0;
  for (size_t i = 0; i < in.size(); i += static_cast<size_t>(channels)) sum += grey_at(&in[i], channels);
  const size_t pixels = in.size() / static_cast<size_t>(channels);
  return static_cast<double>(sum) / static_cast<double>(pixels);
}

// Pixel i is added to sum i % 8, so that the order is fixed and the additions don't wait for each other.
double mean_grey(std::span<const float> in, int64_t channels) {
  const size_t pixels = in.size() / static_cast<size_t>(channels);
  std::array<double, 8> sums{};
  for (size_t i = 0; i < pixels; ++i) {
    sums[i % 8] += static_cast<double>(grey_at(&in[i * static_cast<size_t>(channels)], channels));
  }
  const double left = (sums[0] + sums[1]) + (sums[2] + sums[3]);
  const double right = (sums[4] + sums[5]) + (sums[6] + sums[7]);
  return (left + right) / static_cast<double>(pixels);
}

// value * weight + other, where the products are rounded to float: torchvision's blend.
void blend_all(std::span<const float> in, float* out, float weight, float other) {
  for (size_t i = 0; i < in.size(); ++i) out[i] = to_unit(in[i] * weight + other);
}

// Does what hue_pixel() of color_rows_internal.h does, without rounding.
void turn_hue(std::span<const float> in, float* out, float shift) {
  for (size_t i = 0; i < in.size(); i += 3) {
    const float r = in[i], g = in[i + 1], b = in[i + 2];
    const float high = std::max({r, g, b});
    const float range = high - std::min({r, g, b});
    const float turn = 6 * range;
    float hue = high == r ? g - b : high == g ? 2 * range + (b - r) : 4 * range + (r - g);
    hue += shift * range;
    if (hue < 0) hue += turn;
    for (size_t c = 0; c < 3; ++c) {
      float angle = hue + static_cast<float>(5 - 2 * c) * range;
      if (angle >= turn) angle -= turn;
      if (angle >= turn) angle -= turn;
      out[i + c] = high - std::clamp(std::min(angle, 4 * range - angle), 0.0F, range);
    }
  }
}

// One channel in `channels`.
template <class T>
void repeat(std::span<const T> in, T* out, size_t channels) {
  for (const T value : in) out = std::fill_n(out, channels, value);
}

}  // namespace

Result<void> adjust_brightness(const Tensor& image, std::byte* out, double factor) {
  auto fits = check("adjust_brightness", image, Channels::any, "brightness_factor", factor, 0, kLargest);
  if (!fits) return fits;
  const auto weight = static_cast<float>(factor);
  if (image.dtype() == DType::f32) {
    blend_all(image.as<float>(), floats_of(out), weight, 0);
  } else {
    const Table table = table_of([&](uint8_t value) { return to_u8(static_cast<float>(value) * weight); });
    look_up(image.as<uint8_t>(), bytes_of(out), table);
  }
  return {};
}

Result<void> adjust_contrast(const Tensor& image, std::byte* out, double factor) {
  auto fits = check("adjust_contrast", image, Channels::grey_or_rgb, "contrast_factor", factor, 0, kLargest);
  if (!fits || image.size() == 0) return fits;
  if (image.dtype() == DType::f32) {
    const auto mean = static_cast<float>(mean_grey(image.as<float>(), image.dim(2)));
    blend_all(image.as<float>(), floats_of(out), static_cast<float>(factor), mean * static_cast<float>(1 - factor));
  } else {
    const auto mean = static_cast<float>(std::floor(mean_grey(image.as<uint8_t>(), image.dim(2)) + 0.5));
    const auto weight = static_cast<float>(factor);
    look_up(image.as<uint8_t>(), bytes_of(out),
            table_of([&](uint8_t value) { return to_u8(mean + weight * (static_cast<float>(value) - mean)); }));
  }
  return {};
}

Result<void> adjust_saturation(const Tensor& image, std::byte* out, double factor) {
  auto fits = check("adjust_saturation", image, Channels::grey_or_rgb, "saturation_factor", factor, 0, kLargest);
  if (!fits) return fits;
  if (image.dim(2) == 1) {
    copy(image, out);
  } else if (image.dtype() == DType::f32) {
    const auto in = image.as<float>();
    color_rows().saturation_f32(in.data(), floats_of(out), in.size() / 3, static_cast<float>(factor),
                                static_cast<float>(1 - factor));
  } else {
    const auto in = image.as<uint8_t>();
    color_rows().saturation(in.data(), bytes_of(out), in.size() / 3, blend_factor(factor));
  }
  return {};
}

Result<void> adjust_hue(const Tensor& image, std::byte* out, double factor) {
  auto fits = check("adjust_hue", image, Channels::grey_or_rgb, "hue_factor", factor, -0.5, 0.5);
  if (!fits) return fits;
  if (image.dim(2) == 1) {
    copy(image, out);
  } else if (image.dtype() == DType::f32) {
    turn_hue(image.as<float>(), floats_of(out), static_cast<float>(factor * 6));
  } else {
    const auto in = image.as<uint8_t>();
    color_rows().hue(in.data(), bytes_of(out), in.size() / 3, hue_shift(factor));
  }
  return {};
}

Result<void> adjust_gamma(const Tensor& image, std::byte* out, double gamma, double gain) {
  auto fits = check("adjust_gamma", image, Channels::any, "gamma", gamma, 0, kLargest);
  if (fits) fits = check_range("adjust_gamma", "gain", gain, -kLargest, kLargest);
  if (!fits) return fits;
  const auto bent = [&](double value) {
    const double power = portable::pow(value, gamma);
    return gain == 1 ? power : std::clamp(power * gain, 0.0, 1.0);
  };
  if (image.dtype() == DType::f32) {
    const auto in = image.as<float>();
    for (size_t i = 0; i < in.size(); ++i) floats_of(out)[i] = static_cast<float>(bent(static_cast<double>(in[i])));
  } else {
    look_up(image.as<uint8_t>(), bytes_of(out),
            table_of([&](uint8_t value) { return unit_to_u8(bent(value / 255.0)); }));
  }
  return {};
}

Result<void> to_grayscale(const Tensor& image, std::byte* out, int output_channels) {
  auto fits = check_image("to_grayscale", image, Channels::grey_or_rgb);
  if (!fits) return fits;
  if (output_channels != 1 && output_channels != 3) {
    return fail(ErrorKind::InvalidArgument, "to_grayscale: num_output_channels must be 1 or 3");
  }
  const auto channels = static_cast<size_t>(output_channels);
  const size_t pixels = image.size() / static_cast<size_t>(image.dim(2));
  if (image.dtype() == DType::f32) {
    const auto in = image.as<float>();
    if (image.dim(2) == 1) {
      repeat(in, floats_of(out), channels);
    } else {
      color_rows().grey_f32(in.data(), floats_of(out), pixels, channels);
    }
  } else if (image.dim(2) == 1) {
    repeat(image.as<uint8_t>(), bytes_of(out), channels);
  } else {
    color_rows().grey_u8(image.as<uint8_t>().data(), bytes_of(out), pixels, channels);
  }
  return {};
}

}  // namespace headpond
