// SPDX-License-Identifier: Apache-2.0
#include "headpond/codec/image/color/neighbours.h"

#include <algorithm>
#include <cstring>
#include <type_traits>

#include "headpond/base/math/portable.h"
#include "headpond/codec/image/color/color_internal.h"
#include "headpond/codec/image/color/color_rows_internal.h"

namespace headpond {
namespace {

using namespace color_internal;

// The index in [0, size) that is shown at `i`, for a picture that is mirrored at its first and last values.
int64_t mirrored(int64_t i, int64_t size) {
  if (size == 1) return 0;
  const int64_t period = 2 * (size - 1);
  const int64_t place = ((i % period) + period) % period;
  return place < size ? place : period - place;
}

// The weights of the middle and of the pixels at each distance.
std::vector<double> gaussian(int64_t size, double sigma) {
  std::vector<double> weights(static_cast<size_t>(size / 2 + 1));
  double sum = 0;
  for (size_t k = weights.size(); k-- > 0;) {
    const double distance = k == 0 ? 0 : static_cast<double>(k) / sigma;
    weights[k] = portable::exp(-distance * distance / 2);
    sum += k == 0 ? weights[k] : 2 * weights[k];
  }
  for (double& weight : weights) weight /= sum;
  return weights;
}

std::vector<float> weights_for(const std::vector<double>& exact, float) { return {exact.begin(), exact.end()}; }

// The middle gets what rounding leaves of 65536.
std::vector<uint32_t> weights_for(const std::vector<double>& exact, uint8_t) {
  std::vector<uint32_t> weights(exact.size());
  uint32_t sides = 0;
  for (size_t k = 1; k < exact.size(); ++k) {
    // NOLINTNEXTLINE(bugprone-incorrect-roundings): half up, the same bits everywhere.
    weights[k] = static_cast<uint32_t>(exact[k] * 65536 + 0.5);
    sides += 2 * weights[k];
  }
  weights[0] = 65536 - sides;
  return weights;
}

void across(const uint8_t* in, uint16_t* out, size_t values, const std::vector<uint32_t>& weights, size_t step) {
  color_rows().across_u8(in, out, values, weights.data(), weights.size() - 1, step);
}
void across(const float* in, float* out, size_t values, const std::vector<float>& weights, size_t step) {
  color_rows().across_f32(in, out, values, weights.data(), weights.size() - 1, step);
}
void down(const uint16_t* const* rows, uint8_t* out, size_t values, const std::vector<uint32_t>& weights) {
  color_rows().down_u8(rows, out, values, weights.data(), weights.size() - 1);
}
void down(const float* const* rows, float* out, size_t values, const std::vector<float>& weights) {
  color_rows().down_f32(rows, out, values, weights.data(), weights.size() - 1);
}

// Blurs an image of T; its rows between the passes are of Middle, and its weights of Weight.
template <class T, class Middle, class Weight>
class Blur {
 public:
  Blur(const Tensor& image, const std::vector<Weight>& x, const std::vector<Weight>& y, BlurMemory& memory)
      : in_(image.as<T>().data()),
        height_(image.dim(0)),
        width_(image.dim(1)),
        channels_(image.dim(2)),
        values_(static_cast<size_t>(width_ * channels_)),
        x_(x),
        y_(y) {
    memory.row.resize((values_ + 2 * margin()) * sizeof(T));
    memory.rows.resize((2 * y.size() - 1) * values_ * sizeof(Middle));
    row_ = reinterpret_cast<T*>(memory.row.data());
    rows_ = reinterpret_cast<Middle*>(memory.rows.data());
  }

  void run(T* out) {
    const auto radius = static_cast<int64_t>(y_.size()) - 1;
    std::vector<const Middle*> window(2 * y_.size() - 1);
    int64_t ready = 0;
    for (int64_t y = 0; y < height_; ++y) {
      for (; ready < std::min(height_, y + radius + 1); ++ready) blur_across(ready);
      for (int64_t k = -radius; k <= radius; ++k) {
        window[static_cast<size_t>(k + radius)] = place(mirrored(y + k, height_));
      }
      down(window.data(), out + static_cast<size_t>(y) * values_, values_, y_);
    }
  }

 private:
  size_t margin() const { return (x_.size() - 1) * static_cast<size_t>(channels_); }
  // A window has no more rows than the memory has slots, and all of them are near each other.
  Middle* place(int64_t y) const { return rows_ + (static_cast<size_t>(y) % (2 * y_.size() - 1)) * values_; }

  void blur_across(int64_t y) {
    const T* const from = in_ + static_cast<size_t>(y) * values_;
    std::memcpy(row_ + margin(), from, values_ * sizeof(T));
    const auto radius = static_cast<int64_t>(x_.size()) - 1;
    for (int64_t k = 1; k <= radius; ++k) {
      copy_pixel(from, -k);
      copy_pixel(from, width_ - 1 + k);
    }
    across(row_ + margin(), place(y), values_, x_, static_cast<size_t>(channels_));
  }
  void copy_pixel(const T* from, int64_t x) {
    T* const to = row_ + static_cast<int64_t>(margin()) + x * channels_;
    std::copy_n(from + mirrored(x, width_) * channels_, channels_, to);
  }

  const T* const in_;
  const int64_t height_, width_, channels_;
  const size_t values_;
  const std::vector<Weight>&x_, &y_;
  T* row_;
  Middle* rows_;
};

template <class T, class Middle, class Weight>
void blur(const Tensor& image, std::byte* out, std::array<int64_t, 2> size, std::array<double, 2> sigma,
          BlurMemory& memory) {
  const std::vector<Weight> x = weights_for(gaussian(size[0], sigma[0]), T());
  const std::vector<Weight> y = weights_for(gaussian(size[1], sigma[1]), T());
  Blur<T, Middle, Weight>(image, x, y, memory).run(reinterpret_cast<T*>(out));
}

uint8_t sharpened(uint8_t value, int32_t sum, int32_t factor) { return blend(value, (sum + 6) / 13, factor); }
float sharpened(float value, float sum, float factor) {
  const float smooth = sum / 13;
  return to_unit(value + (1 - factor) * (smooth - value));
}

// In the middle of an image; `sum` is of type Sum. Edges are cut to the range, as torchvision does.
template <class Sum, class T, class Factor>
void sharpen(const Tensor& image, T* out, Factor factor) {
  const auto in = image.as<T>();
  const int64_t height = image.dim(0), width = image.dim(1), channels = image.dim(2);
  const int64_t row = width * channels;
  std::copy(in.begin(), in.end(), out);
  if (height <= 2 || width <= 2) return;
  if constexpr (std::is_floating_point_v<T>) std::transform(in.begin(), in.end(), out, to_unit);
  for (int64_t y = 1; y + 1 < height; ++y) {
    for (int64_t i = y * row + channels; i < (y + 1) * row - channels; ++i) {
      const T* const middle = in.data() + i;
      Sum sum = 4 * static_cast<Sum>(*middle);
      for (int64_t dy = -1; dy <= 1; ++dy) {
        const T* const line = middle + dy * row;
        sum = sum + (static_cast<Sum>(line[-channels]) + static_cast<Sum>(line[0]) + static_cast<Sum>(line[channels]));
      }
      out[i] = sharpened(*middle, sum, factor);
    }
  }
}

}  // namespace

Result<void> gaussian_blur(const Tensor& image, std::byte* out, std::array<int64_t, 2> kernel_size,
                           std::array<double, 2> sigma, BlurMemory& memory) {
  if (auto fits = check_image("gaussian_blur", image, Channels::any); !fits) return fits;
  for (size_t axis = 0; axis < 2; ++axis) {
    const int64_t size = kernel_size[axis];
    if (size < 1 || size > kLargestBlur || size % 2 == 0) {
      return fail(ErrorKind::InvalidArgument, "gaussian_blur: kernel_size must be odd, 1 to 255");
    }
    if (!(sigma[axis] > 0)) return fail(ErrorKind::InvalidArgument, "gaussian_blur: sigma must be above 0");
  }
  if (image.size() == 0) return {};
  if (image.dtype() == DType::f32) {
    blur<float, float, float>(image, out, kernel_size, sigma, memory);
  } else {
    blur<uint8_t, uint16_t, uint32_t>(image, out, kernel_size, sigma, memory);
  }
  return {};
}

Result<void> adjust_sharpness(const Tensor& image, std::byte* out, double factor) {
  if (auto fits = check_image("adjust_sharpness", image, Channels::any); !fits) return fits;
  if (auto fits = check_range("adjust_sharpness", "sharpness_factor", factor, 0, kLargest); !fits) return fits;
  if (image.dtype() == DType::f32) {
    sharpen<float>(image, reinterpret_cast<float*>(out), static_cast<float>(factor));
  } else {
    sharpen<int32_t>(image, reinterpret_cast<uint8_t*>(out), blend_factor(factor));
  }
  return {};
}

}  // namespace headpond
