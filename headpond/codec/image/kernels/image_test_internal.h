// SPDX-License-Identifier: Apache-2.0
// Images for the tests of kernels.
#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "headpond/base/random.h"
#include "headpond/codec/image/jpeg.h"
#include "headpond/codec/image/png.h"
#include "headpond/tensor/kernel.h"

namespace headpond::image_internal {

inline int64_t below(Random& random, int64_t n) { return static_cast<int64_t>(random.below(static_cast<uint64_t>(n))); }

inline Tensor random_image(Random& random, DType dtype, int64_t height, int64_t width, int64_t channels) {
  Tensor image = Tensor::empty(dtype, {height, width, channels});
  for (size_t i = 0; i < static_cast<size_t>(image.size()); ++i) {
    if (dtype == u8) image.mutable_as<uint8_t>()[i] = static_cast<uint8_t>(random.u32());
    if (dtype == f32) image.mutable_as<float>()[i] = random.uniform();
  }
  return image;
}

/// A smooth picture: decoded it is close to what was encoded.
inline Tensor smooth_image(int64_t height, int64_t width, int64_t channels = 3) {
  std::vector<uint8_t> values;
  for (int64_t y = 0; y < height; ++y) {
    for (int64_t x = 0; x < width; ++x) {
      for (int64_t c = 0; c < channels; ++c) values.push_back(static_cast<uint8_t>((y * 3 + x * 2 + c * 40) % 256));
    }
  }
  return Tensor::from(values, {height, width, channels});
}

inline Tensor jpeg_of(const Tensor& image, const JpegEncodeOptions& options = {}) {
  const auto file = encode_jpeg(image, options).value();
  return Tensor::scalar(std::string_view(reinterpret_cast<const char*>(file.data()), file.size()));
}

inline Tensor png_of(const Tensor& image) {
  const auto file = encode_png(image, 1).value();
  return Tensor::scalar(std::string_view(reinterpret_cast<const char*>(file.data()), file.size()));
}

/// As a PNM file: u8, 1 or 3 channels.
inline Tensor pnm_of(const Tensor& image) {
  std::string file = image.dim(2) == 1 ? "P5 " : "P6 ";
  file += std::to_string(image.dim(1)) + " " + std::to_string(image.dim(0)) + " 255\n";
  file.append(reinterpret_cast<const char*>(image.data()), image.byte_size());
  return Tensor::scalar(std::string_view(file));
}

/// A row of u8 as an image of one channel.
inline Tensor row_image(const std::vector<uint8_t>& values) {
  return Tensor::from(values, {1, static_cast<int64_t>(values.size()), 1});
}

inline Result<Tensor> run_one_kernel(const KernelRef& kernel, const Tensor& field, const KernelRun& options = {}) {
  const std::vector<KernelRef> chain = {kernel};
  return run_kernels(chain, field, options);
}

inline bool same_tensor(const Tensor& a, const Tensor& b) {
  return a.dtype() == b.dtype() && a.shape() == b.shape() &&
         (a.byte_size() == 0 || std::memcmp(a.data(), b.data(), a.byte_size()) == 0);
}

/// The text of what `build` throws.
template <class Build>
std::string refusal(Build build) {
  try {
    build();
  } catch (const Exception& refused) {
    return refused.error().message();
  }
  return "";
}

}  // namespace headpond::image_internal
