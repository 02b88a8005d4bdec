// SPDX-License-Identifier: Apache-2.0
// What becomes of a sound's channels, and of values that are no numbers: shared by the decoders and `mono`. Pure
// functions, thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace headpond {

/// How a decoder makes fewer channels than a file has.
enum class SoundMix : uint8_t {
  first,  ///< It keeps the first ones.
  mean,   ///< It gives one channel, the mean of all.
};

/// How a decoder treats infinity and NaN, which files of floats can hold.
enum class NonFinite : uint8_t {
  keep,
  reject,  ///< InvalidArgument, with frame and channel.
  zero,    ///< Each becomes 0, before channels are mixed.
};

/// The mean of each frame's channels: their sum in double, from the first on, divided by their number, as float.
/// REQUIRES: channels > 0; `from` has to.size() * channels values. `to` may begin where `from` does.
void mean_of_channels(std::span<const float> from, size_t channels, std::span<float> to);

/// Returns the index of the first value that is not finite, or values.size(). With `zero` it sets all of them to 0 and
/// returns values.size().
size_t find_non_finite(std::span<float> values, bool zero);

}  // namespace headpond
