// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <string>
#include <utility>
#include <vector>

#include "headpond/codec/image/color/adjust.h"
#include "headpond/codec/image/color/color_kernels.h"
#include "headpond/codec/image/color/image_kernel_internal.h"

namespace headpond {
namespace {

struct JitteredFactor {
  const char* name;
  Result<void> (*adjust)(const Tensor& image, std::byte* out, double factor);
  double low = 0, high = 0;  // Range of the factor.
  bool changes = false;
};
constexpr size_t kJittered = 4;
using JitteredFactors = std::array<JitteredFactor, kJittered>;
using JitterOrder = std::array<size_t, kJittered>;

// `neutral` is the factor that changes nothing.
JitteredFactor jittered(const char* name, Result<void> (*adjust)(const Tensor&, std::byte*, double),
                        const std::optional<JitterRange>& range, double neutral, double low, double high) {
  JitteredFactor factor = {.name = name, .adjust = adjust};
  if (!range) return factor;
  if (range->high) {
    factor.low = range->low;
    factor.high = *range->high;
  } else {
    color_internal::require_range("color_jitter", name, range->low, 0, color_internal::kLargest);
    factor.low = neutral == 1 ? std::max(0.0, 1 - range->low) : -range->low;
    factor.high = neutral + range->low;
  }
  color_internal::require_range("color_jitter", name, factor.low, low, high);
  color_internal::require_range("color_jitter", name, factor.high, factor.low, high);
  factor.changes = factor.low != neutral || factor.high != neutral;
  return factor;
}

// Permutation number `which` of 24, in the order of the digits.
JitterOrder order_of(int64_t which) {
  JitterOrder order = {0, 1, 2, 3};
  for (int64_t i = 0; i < which; ++i) std::next_permutation(order.begin(), order.end());
  return order;
}

Result<void> jitter(const Tensor& image, std::byte* out, Random& random, const JitteredFactors& factors) {
  const JitterOrder order = order_of(random.one_of(24));
  std::array<double, kJittered> drawn{};
  for (size_t i = 0; i < kJittered; ++i) {
    drawn[i] = factors[i].low + (factors[i].high - factors[i].low) * static_cast<double>(random.uniform());
  }
  Tensor from = image;
  for (const size_t i : order) {
    if (!factors[i].changes) continue;
    if (auto done = factors[i].adjust(from, out, drawn[i]); !done) return done;
    from = Tensor::writable_view(out, image.dtype(), image.shape());
  }
  return {};
}

}  // namespace

KernelRef color_jitter(const ColorJitterOptions& options) {
  constexpr double kMost = color_internal::kLargest;
  const JitteredFactors factors = {jittered("brightness", adjust_brightness, options.brightness, 1, 0, kMost),
                                   jittered("contrast", adjust_contrast, options.contrast, 1, 0, kMost),
                                   jittered("saturation", adjust_saturation, options.saturation, 1, 0, kMost),
                                   jittered("hue", adjust_hue, options.hue, 0, -0.5, 0.5)};
  std::vector<std::string> parts;
  for (const JitteredFactor& factor : factors) {
    if (factor.changes) parts.push_back(fmt::format("{}=[{},{}]", factor.name, factor.low, factor.high));
  }
  const bool changes = !parts.empty();
  return color_internal::image_kernel({.name = "color_jitter",
                                       .arguments = fmt::format("{}", fmt::join(parts, ", ")),
                                       .channels = color_internal::Channels::grey_or_rgb,
                                       .draws = true,
                                       .p = changes ? std::nullopt : std::optional<double>(0),
                                       .run = [factors](const Tensor& image, std::byte* out, Random& random,
                                                        KernelCall&) { return jitter(image, out, random, factors); }});
}

}  // namespace headpond
