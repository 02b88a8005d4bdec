// SPDX-License-Identifier: Apache-2.0
#include "examples/preprocess_once/sample.h"

#include <algorithm>
#include <string>

namespace preprocess_once {
namespace {

std::vector<hp::ImagePoint> pixels_of(uint8_t kind, std::span<const uint8_t> nuclei, int64_t width,
                                      hp::Random& random) {
  std::vector<hp::ImagePoint> found;
  if (std::find(nuclei.begin(), nuclei.end(), kind) == nuclei.end()) return found;
  while (found.size() < kClicks) {
    const auto at = static_cast<int64_t>(random.below(nuclei.size()));
    if (nuclei[static_cast<size_t>(at)] != kind) continue;
    found.push_back({static_cast<int32_t>(at / width), static_cast<int32_t>(at % width)});
  }
  return found;
}

uint32_t extend(uint32_t crc, const hp::Tensor& tensor) {
  for (int axis = 0; axis < tensor.rank(); ++axis) {
    const int64_t size = tensor.dim(axis);
    crc = hp::crc32c_extend(crc, std::as_bytes(std::span(&size, 1)));
  }
  return hp::crc32c_extend(crc, {tensor.data(), tensor.byte_size()});
}

}  // namespace

hp::Spec sample_fields() {
  return {{"input", hp::u8, {hp::kUnknown, hp::kUnknown, kChannels}}, {"nuclei", hp::u8, {hp::kUnknown, hp::kUnknown}}};
}

Clicks draw_clicks(std::span<const uint8_t> nuclei, int64_t width, uint64_t seed, int64_t number) {
  hp::Random random(hp::random_key(seed, "clicks", 0, 0), static_cast<uint64_t>(number));
  Clicks clicks;
  clicks.inside = pixels_of(kNucleus, nuclei, width, random);
  clicks.outside = pixels_of(0, nuclei, width, random);
  return clicks;
}

uint32_t digest(const hp::Tensor& input, const hp::Tensor& nuclei) { return extend(extend(0, input), nuclei); }

hp::Result<void> ask(const GoOn& go_on, int64_t done) {
  if (!go_on || go_on(done)) return {};
  return hp::fail(hp::ErrorKind::Cancelled, "stopped after " + std::to_string(done) + " samples");
}

}  // namespace preprocess_once
