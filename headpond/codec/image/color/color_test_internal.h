// SPDX-License-Identifier: Apache-2.0
// Pictures for the tests of colours.
#pragma once

#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "headpond/base/random.h"
#include "headpond/tensor/kernel.h"

namespace headpond::color_test {

/// Random bytes; every seventh pixel is grey.
inline Tensor bytes_picture(int64_t height, int64_t width, int64_t channels, uint64_t seed = 1) {
  Random random(seed);
  std::vector<uint8_t> values(static_cast<size_t>(height * width * channels));
  for (size_t i = 0; i < values.size(); ++i) {
    const size_t c = i % static_cast<size_t>(channels);
    const bool is_grey = i / static_cast<size_t>(channels) % 7 == 0;
    values[i] = is_grey && c > 0 ? values[i - 1] : static_cast<uint8_t>(random.u32());
  }
  return Tensor::from(values, {height, width, channels});
}

/// The same divided by 255.
inline Tensor unit_picture(int64_t height, int64_t width, int64_t channels, uint64_t seed = 1) {
  const Tensor bytes = bytes_picture(height, width, channels, seed);
  std::vector<float> values;
  for (const uint8_t value : bytes.as<uint8_t>()) values.push_back(static_cast<float>(value) / 255);
  return Tensor::from(values, bytes.shape());
}

inline Tensor pixels(const std::vector<uint8_t>& values, int64_t channels = 1) {
  const auto width = static_cast<int64_t>(values.size()) / channels;
  return Tensor::from(values, {1, width, channels});
}
inline Tensor pixels(const std::vector<float>& values, int64_t channels = 1) {
  const auto width = static_cast<int64_t>(values.size()) / channels;
  return Tensor::from(values, {1, width, channels});
}

template <class T = uint8_t>
std::vector<T> values_of(const Tensor& tensor) {
  const auto all = tensor.as<T>();
  return {all.begin(), all.end()};
}

/// What `function(image, out)` writes; fails the test if it does not succeed.
template <class Function>
Tensor changed(const Tensor& image, Function function) {
  Tensor out = Tensor::empty(image.dtype(), image.shape());
  const Result<void> done = function(image, out.mutable_data());
  EXPECT_TRUE(done) << done.error();
  return out;
}

inline std::string bytes_of(const Tensor& tensor) {
  return {reinterpret_cast<const char*>(tensor.data()), tensor.byte_size()};
}

/// The image after one kernel.
inline Tensor after_kernel(const KernelRef& kernel, const Tensor& image, const KernelRun& options = {}) {
  const std::vector<KernelRef> chain = {kernel};
  const auto result = run_kernels(chain, image, options);
  EXPECT_TRUE(result) << result.error();
  return result ? *result : Tensor();
}

inline double largest_difference(const Tensor& a, const Tensor& b) {
  double most = 0;
  for (size_t i = 0; i < a.as<float>().size(); ++i) {
    most = std::max(most, static_cast<double>(std::abs(a.as<float>()[i] - b.as<float>()[i])));
  }
  return most;
}

}  // namespace headpond::color_test
