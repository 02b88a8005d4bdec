// SPDX-License-Identifier: Apache-2.0
#include "examples/preprocess_once/straightforward.h"

#include <algorithm>
#include <cmath>

namespace preprocess_once {
namespace {

uint8_t distance_to_nearest(const std::vector<hp::ImagePoint>& clicks, int64_t y, int64_t x) {
  float nearest = kDistanceLimit;
  for (const hp::ImagePoint& click : clicks) {
    const auto dy = static_cast<float>(y - click.y);
    const auto dx = static_cast<float>(x - click.x);
    nearest = std::min(nearest, std::sqrt(dx * dx + dy * dy));
  }
  nearest += 0.5F;
  return static_cast<uint8_t>(nearest);
}

}  // namespace

void measure_distances(const Clicks& clicks, hp::Tensor& input) {
  uint8_t* pixel = input.mutable_as<uint8_t>().data();
  for (int64_t y = 0; y < input.dim(0); ++y) {
    for (int64_t x = 0; x < input.dim(1); ++x, pixel += kChannels) {
      pixel[3] = distance_to_nearest(clicks.inside, y, x);
      pixel[4] = distance_to_nearest(clicks.outside, y, x);
    }
  }
}

hp::Result<Sample> prepare_straightforwardly(const Picture& picture, uint64_t seed, int64_t number) {
  const auto image = read_image(picture);
  if (!image) return hp::fail(image.error());
  const int64_t height = image->dim(0), width = image->dim(1);
  const auto pixels = static_cast<size_t>(height * width);

  Sample sample{hp::Tensor::empty(hp::u8, {height, width, kChannels}), hp::Tensor::empty(hp::u8, {height, width})};
  uint8_t* nuclei = sample.nuclei.mutable_as<uint8_t>().data();
  std::fill_n(nuclei, pixels, uint8_t{0});
  for (const std::string& path : picture.masks) {
    const auto mask = read_mask(path, *image);
    if (!mask) return hp::fail(mask.error());
    const uint8_t* value = mask->as<uint8_t>().data();
    for (size_t i = 0; i < pixels; ++i) {
      if (value[i] != 0) nuclei[i] = kNucleus;
    }
  }

  const uint8_t* colours = image->as<uint8_t>().data();
  uint8_t* input = sample.input.mutable_as<uint8_t>().data();
  for (size_t i = 0; i < pixels; ++i) {
    for (size_t c = 0; c < 3; ++c) input[kChannels * i + c] = colours[3 * i + c];
  }
  measure_distances(draw_clicks(sample.nuclei.as<uint8_t>(), width, seed, number), sample.input);
  return sample;
}

}  // namespace preprocess_once
