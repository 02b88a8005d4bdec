// SPDX-License-Identifier: Apache-2.0
#include "headpond/train/articles/digits/patterns.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <span>
#include <vector>

#include "headpond/base/log.h"
#include "headpond/base/random.h"
#include "headpond/codec/image/jpeg.h"
#include "headpond/io/file/file.h"
#include "headpond/io/file/file_writer.h"
#include "headpond/io/file/whole_folder.h"

namespace headpond {
namespace {

// How much of the second colour there is at a point, in periods of the pattern from its centre.
double part(size_t kind, double x, double y) {
  const double row = std::floor(y), a = x - std::floor(x), b = y - row;
  const double right = std::abs(a - 0.5), down = std::abs(b - 0.5);
  switch (kind) {
    case 0:
      return a < 0.5;
    case 1:
      return b < 0.2 || std::abs(a - (std::fmod(std::abs(row), 2) < 1 ? 0.25 : 0.75)) < 0.1;
    case 2:
      return (a < 0.5) == (b < 0.5);
    case 3:
      return std::max(right, down) < 0.4 && std::min(right, down) < 0.1;
    case 4:
      return right + down < 0.4;
    case 5:
      return right * right + down * down < 0.1;
    case 6:
      return a < 0.18 || b < 0.18;
    case 7:
      return 0;
    case 8:
      return std::fmod(std::sqrt(x * x + y * y), 1) < 0.5;
    default:
      return b < 0.5;
  }
}

Tensor drawn(size_t kind, int64_t height, int64_t width, Random& random) {
  const auto number = [&random](double least, double most) {
    return least + (most - least) * double{random.uniform()};
  };
  const double periods = number(4.5, 7), left = number(0.3, 0.7), top = number(0.3, 0.7);
  std::array<std::array<double, 2>, 3> colors = {};
  for (auto& [first, second] : colors) first = number(20, 110), second = number(145, 235);
  std::vector<uint8_t> pixels;
  pixels.reserve(static_cast<size_t>(height * width * 3));
  for (int64_t y = 0; y < height; ++y) {
    for (int64_t x = 0; x < width; ++x) {
      const double share = part(kind, periods * (static_cast<double>(x) / static_cast<double>(width) - left),
                                periods * (static_cast<double>(y) / static_cast<double>(height) - top));
      const double noise = number(-12, 12);
      for (const auto& [first, second] : colors)
        pixels.push_back(static_cast<uint8_t>(first + share * (second - first) + noise));
    }
  }
  return Tensor::from(pixels, {height, width, 3});
}

Result<void> draw_kind(const std::string& folder, size_t kind, int64_t count, const RandomKey& key,
                       const PatternSetOptions& options) {
  HEADPOND_TRY(make_folders(folder));
  const auto sides = static_cast<uint64_t>(options.most - options.least + 1);
  for (int64_t i = 0; i < count; ++i) {
    Random random(key, kind << 32 | static_cast<uint64_t>(i));
    const auto height = options.least + static_cast<int64_t>(random.below(sides));
    const auto width = options.least + static_cast<int64_t>(random.below(sides));
    const auto file = encode_jpeg(drawn(kind, height, width, random));
    if (!file) return fail(file.error());
    HEADPOND_TRY(write_file_atomically(fmt::format("{}/{:05}.jpg", folder, i), {std::span<const std::byte>(*file)}));
  }
  return {};
}

}  // namespace

Result<void> draw_patterns(const std::string& folder, const PatternSetOptions& options) {
  const RandomKey train = random_key(options.seed, "patterns", 0, 0), test = random_key(options.seed, "patterns", 1, 0);
  return make_whole_folder(folder, [&](const std::string& partial) -> Result<void> {
    for (size_t kind = 0; kind < kPatterns.size(); ++kind) {
      const int64_t share = 350 + 100 * static_cast<int64_t>(kind);
      HEADPOND_TRY(draw_kind(fmt::format("{}/train/{}", partial, kPatterns[kind]), kind, options.train * share / 8000,
                             train, options));
      HEADPOND_TRY(
          draw_kind(fmt::format("{}/test/{}", partial, kPatterns[kind]), kind, options.test / 10, test, options));
    }
    return {};
  });
}

Result<void> draw_missing_patterns(const std::string& folder, const PatternSetOptions& options) {
  if (std::filesystem::exists(folder)) return {};
  log(LogLevel::warning, fmt::format("there is no folder '{}': pictures to learn are drawn into it", folder));
  return draw_patterns(folder, options);
}

}  // namespace headpond
