// SPDX-License-Identifier: Apache-2.0
// Pictures for tests of what moves images.
#pragma once

#include <cstdint>
#include <vector>

#include "headpond/base/random.h"
#include "headpond/tensor/tensor.h"

namespace headpond::test {

/// Noise: a pixel that comes from another place shows.
inline Tensor noise_picture(int64_t height, int64_t width, int64_t channels, uint64_t seed = 1) {
  Tensor picture = Tensor::empty(DType::u8, {height, width, channels});
  Random random(seed);
  for (uint8_t& value : picture.mutable_as<uint8_t>()) value = static_cast<uint8_t>(random.u32() >> 24);
  return picture;
}

inline Tensor as_float_picture(const Tensor& picture) {
  Tensor floats = Tensor::empty(DType::f32, picture.shape());
  const auto to = floats.mutable_as<float>();
  for (size_t i = 0; i < to.size(); ++i) to[i] = static_cast<float>(picture.as<uint8_t>()[i]) / 255;
  return floats;
}

inline Tensor first_channel(const Tensor& picture) {
  Tensor plane = Tensor::empty(DType::u8, {picture.dim(0), picture.dim(1)});
  const auto to = plane.mutable_as<uint8_t>();
  const auto channels = static_cast<size_t>(picture.dim(2));
  for (size_t i = 0; i < to.size(); ++i) to[i] = picture.as<uint8_t>()[i * channels];
  return plane;
}

inline bool same_bytes(const Tensor& a, const Tensor& b) {
  return a.dtype() == b.dtype() && a.has_shape(b.shape()) && std::memcmp(a.data(), b.data(), a.byte_size()) == 0;
}

}  // namespace headpond::test
