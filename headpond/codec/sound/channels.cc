// SPDX-License-Identifier: Apache-2.0
#include "headpond/codec/sound/channels.h"

#include <algorithm>
#include <bit>

namespace headpond {
namespace {

bool is_finite(float value) {
  constexpr uint32_t kExponent = 0x7f800000;
  return (std::bit_cast<uint32_t>(value) & kExponent) != kExponent;
}

}  // namespace

void mean_of_channels(std::span<const float> from, size_t channels, std::span<float> to) {
  const float* frame = from.data();
  for (float& mean : to) {
    double sum = 0;
    for (size_t c = 0; c < channels; ++c) sum += static_cast<double>(frame[c]);
    mean = static_cast<float>(sum / static_cast<double>(channels));
    frame += channels;
  }
}

size_t find_non_finite(std::span<float> values, bool zero) {
  if (zero) {
    for (float& value : values) value = is_finite(value) ? value : 0.0F;
    return values.size();
  }
  return static_cast<size_t>(std::find_if_not(values.begin(), values.end(), is_finite) - values.begin());
}

}  // namespace headpond
