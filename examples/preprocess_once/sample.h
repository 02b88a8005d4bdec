// SPDX-License-Identifier: Apache-2.0
// What a network for interactive segmentation learns from, one image a step: the image with two more channels that say
// how far each pixel is from clicks on nuclei and from clicks beside them, and where the nuclei are. Which pixels are
// clicked is simulated: it follows from the seed and the image's number alone.
#pragma once

#include <headpond/headpond.h>

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

namespace preprocess_once {

namespace hp = headpond;

inline constexpr int kClicks = 5;             ///< On nuclei, and as many beside them.
inline constexpr int kChannels = 5;           ///< Red, green, blue, far from the inside clicks, from the outside ones.
inline constexpr float kDistanceLimit = 255;  ///< Pixels; a channel's value is the distance, rounded.
inline constexpr uint8_t kNucleus = 255;      ///< In the target; the rest is 0.

struct Sample {
  hp::Tensor input;   ///< u8 [height, width, kChannels]
  hp::Tensor nuclei;  ///< u8 [height, width]: the target.
};

/// The fields of a dataset of samples.
hp::Spec sample_fields();

struct Clicks {
  std::vector<hp::ImagePoint> inside, outside;
};

/// kClicks of each, every pixel of its kind equally likely; none of a kind that the image has no pixel of.
Clicks draw_clicks(std::span<const uint8_t> nuclei, int64_t width, uint64_t seed, int64_t number);

/// The same for equal samples and, as good as always, for these only. Reads every byte, as a training step would.
uint32_t digest(const hp::Tensor& input, const hp::Tensor& nuclei);

/// Told after each sample how many there are; false ends what is done with Cancelled. Empty: true.
using GoOn = std::function<bool(int64_t done)>;
hp::Result<void> ask(const GoOn& go_on, int64_t done);

}  // namespace preprocess_once
