// SPDX-License-Identifier: Apache-2.0
#include "headpond/train/articles/digits/tones.h"

#include <fmt/format.h>

#include <array>
#include <filesystem>
#include <span>
#include <string_view>
#include <vector>

#include "headpond/base/log.h"
#include "headpond/base/math/portable.h"
#include "headpond/base/random.h"
#include "headpond/codec/sound/wav.h"
#include "headpond/io/file/file.h"

namespace headpond {
namespace {

constexpr int32_t kRate = 8000;
constexpr std::array<std::string_view, 2> kSpeakers = {"low", "high"};
constexpr double kTwoPi = 6.283185307179586;

// A tone of the digit, and a quieter one of the speaker.
Tensor drawn(int digit, int speaker, Random& random) {
  const auto length = static_cast<size_t>(kRate * (0.3 + 0.4 * double{random.uniform()}));
  const double pitch = (1 + 0.04 * (double{random.uniform()} - 0.5)) * kTwoPi / kRate;
  const double first = pitch * (300 + 250 * digit), second = pitch * (speaker == 0 ? 180 : 320);
  std::vector<float> samples(length);
  for (size_t t = 0; t < length; ++t) {
    const auto at = static_cast<double>(t);
    const double noise = 0.1 * (double{random.uniform()} - 0.5);
    samples[t] = static_cast<float>(0.3 * portable::sin(first * at) + 0.2 * portable::sin(second * at) + noise);
  }
  return Tensor::from(samples, {static_cast<int64_t>(length), 1});
}

}  // namespace

Result<void> draw_tones(const std::string& folder, const ToneSetOptions& options) {
  HEADPOND_TRY(make_folders(folder));
  const RandomKey key = random_key(options.seed, "tones", 0, 0);
  uint64_t number = 0;
  for (int digit = 0; digit < 10; ++digit) {
    for (int speaker = 0; speaker < 2; ++speaker) {
      for (int64_t take = 0; take < options.takes; ++take) {
        Random random(key, number++);
        const auto wav = encode_wav(drawn(digit, speaker, random), kRate);
        if (!wav) return fail(wav.error());
        const auto path = fmt::format("{}/{}_{}_{}.wav", folder, digit, kSpeakers[static_cast<size_t>(speaker)], take);
        HEADPOND_TRY(write_file_atomically(path, {std::span<const std::byte>(*wav)}));
      }
    }
  }
  return {};
}

Result<void> draw_missing_tones(const std::string& folder, const ToneSetOptions& options) {
  if (std::filesystem::exists(folder)) return {};
  log(LogLevel::warning, fmt::format("there is no folder '{}': tones to learn are drawn into it", folder));
  return draw_tones(folder, options);
}

}  // namespace headpond
