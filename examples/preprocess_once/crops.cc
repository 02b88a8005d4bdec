// SPDX-License-Identifier: Apache-2.0
#include "examples/preprocess_once/crops.h"

#include <algorithm>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "examples/preprocess_once/operators.h"

namespace preprocess_once {
namespace {

constexpr float kFar = 64;  // Pixels.

// A rectangle of a sample, which may be mirrored.
struct Window {
  int64_t y = 0, x = 0, height = 0, width = 0;
  bool down = false, across = false;  // Mirrored.
};

// Where a random pixel of the target is; nothing if it has none.
std::optional<hp::ImagePoint> pixel_of(std::span<const uint8_t> target, int64_t width, hp::Random& random) {
  const auto count = std::count(target.begin(), target.end(), kNucleus);
  if (count == 0) return std::nullopt;
  auto left = static_cast<int64_t>(random.below(static_cast<uint64_t>(count)));
  size_t at = 0;
  for (; target[at] != kNucleus || left-- > 0; ++at) {
  }
  return hp::ImagePoint{static_cast<int32_t>(at) / static_cast<int32_t>(width),
                        static_cast<int32_t>(at) % static_cast<int32_t>(width)};
}

// A place of a window in an axis: anywhere, or anywhere around `pixel`.
int64_t place(int64_t length, int64_t size, std::optional<int32_t> pixel, hp::Random& random) {
  const int64_t from = pixel ? std::max<int64_t>(0, *pixel - size + 1) : 0;
  const int64_t to = pixel ? std::min<int64_t>(length - size, *pixel) : length - size;
  return from + static_cast<int64_t>(random.below(static_cast<uint64_t>(to - from + 1)));
}

// The window's part as numbers, channels first.
hp::Element numbers_of(const hp::Element& sample, const Window& window, bool clicks) {
  const int64_t width = sample[1].dim(1), pixels = window.height * window.width;
  const auto input = sample[0].as<uint8_t>(), target = sample[1].as<uint8_t>();
  hp::Tensor numbers = hp::Tensor::empty(hp::f32, {kChannels, window.height, window.width});
  hp::Tensor nuclei = hp::Tensor::empty(hp::f32, {window.height, window.width});
  float* const to = numbers.mutable_as<float>().data();
  float* const is = nuclei.mutable_as<float>().data();
  for (int64_t y = 0; y < window.height; ++y) {
    for (int64_t x = 0; x < window.width; ++x) {
      const int64_t from_y = window.y + (window.down ? window.height - 1 - y : y);
      const int64_t from_x = window.x + (window.across ? window.width - 1 - x : x);
      const auto from = static_cast<size_t>(from_y * width + from_x);
      const int64_t at = y * window.width + x;
      for (int c = 0; c < kChannels; ++c) {
        const auto value = static_cast<float>(input[from * kChannels + static_cast<size_t>(c)]);
        to[c * pixels + at] = c < 3 ? value / 255 : clicks ? 1 - std::min(value, kFar) / kFar : 0;
      }
      is[at] = target[from] == kNucleus ? 1 : 0;
    }
  }
  return {std::move(numbers), std::move(nuclei)};
}

// The sample with other clicks.
hp::Result<hp::Element> clicked_anew(const hp::Element& sample, hp::Random& random) {
  const auto old = sample[0].as<uint8_t>();
  hp::Tensor input = hp::Tensor::empty(hp::u8, sample[0].shape());
  std::copy(old.begin(), old.end(), input.mutable_as<uint8_t>().begin());
  const Clicks clicks = draw_clicks(sample[1].as<uint8_t>(), sample[1].dim(1), random.u32(), 0);
  if (const auto written = write_distances(clicks, input); !written) return hp::fail(written.error());
  return hp::Element{std::move(input), hp::Tensor(sample[1])};
}

hp::Spec fields(int64_t height, int64_t width) {
  return {{"input", hp::f32, {kChannels, height, width}}, {"target", hp::f32, {height, width}}};
}

}  // namespace

hp::Step random_crops(const CropOptions& options) {
  const auto crop = [options](const hp::Element& sample, hp::Random& random) -> hp::Result<hp::Element> {
    const int64_t height = sample[1].dim(0), width = sample[1].dim(1), size = options.size;
    if (std::min(height, width) < size)
      return hp::fail(hp::ErrorKind::InvalidArgument, sample[1].shape().to_string() + " is smaller than a crop of " +
                                                          std::to_string(size) + " x " + std::to_string(size));
    const auto pixel =
        options.on_target ? pixel_of(sample[1].as<uint8_t>(), width, random) : std::optional<hp::ImagePoint>();
    Window window{.height = size, .width = size};
    window.y = place(height, size, pixel ? std::optional(pixel->y) : std::nullopt, random);
    window.x = place(width, size, pixel ? std::optional(pixel->x) : std::nullopt, random);
    window.down = random.below(2) == 1;
    window.across = random.below(2) == 1;
    if (!options.new_clicks || !options.clicks) return numbers_of(sample, window, options.clicks);
    const auto clicked = clicked_anew(sample, random);
    if (!clicked) return hp::fail(clicked.error());
    return numbers_of(*clicked, window, true);
  };
  return hp::random_map(crop, {.output = fields(options.size, options.size), .name = "random_crops"});
}

hp::Step whole_pictures(bool clicks) {
  const auto whole = [clicks](const hp::Element& sample) {
    return numbers_of(sample, {.height = sample[1].dim(0), .width = sample[1].dim(1)}, clicks);
  };
  return hp::map(whole, {.output = fields(hp::kUnknown, hp::kUnknown), .name = "whole_pictures"});
}

}  // namespace preprocess_once
