// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>

#include "headpond/base/math/portable.h"
#include "headpond/codec/sound/level/level_internal.h"
#include "headpond/codec/sound/level/level_kernels.h"

namespace headpond {
namespace {

using sound_internal::require;

constexpr double kMostDecibels = 200;

std::function<Spec(const Spec&)> same_sound(const std::string& kernel) {
  return [kernel](const Spec& spec) {
    sound_internal::require_sound(spec, kernel);
    return spec;
  };
}

void multiply(KernelCall& call, float factor) {
  const auto from = call.in().as<float>();
  const auto to = call.make<float>(0, call.in().shape());
  for (size_t i = 0; i < from.size(); ++i) to[i] = from[i] * factor;
}

class GainDb final : public Kernel {
 public:
  GainDb(std::string title, const std::string& draws, const DecibelRange& range)
      : Kernel({.title = std::move(title), .draws = draws, .result = same_sound("gain_db")}), range_(range) {}

  Result<void> run(KernelCall& call) const override {
    double db = range_.lo;
    if (!facts().draws.empty()) db += (range_.hi - range_.lo) * static_cast<double>(call.random().uniform());
    multiply(call, static_cast<float>(portable::pow(10, db / 20)));
    return {};
  }

 private:
  const DecibelRange range_;
};

class PeakNormalize final : public Kernel {
 public:
  PeakNormalize(std::string title, double peak)
      : Kernel({.title = std::move(title), .result = same_sound("peak_normalize")}), peak_(peak) {}

  Result<void> run(KernelCall& call) const override {
    uint32_t largest_bits = 0;  // Sizes are in the order of their bits; infinity and NaN come last.
    for (const float value : call.in().as<float>()) {
      largest_bits = std::max(largest_bits, std::bit_cast<uint32_t>(value) & 0x7fffffff);
    }
    if (largest_bits >= 0x7f800000) return fail(ErrorKind::InvalidArgument, "peak_normalize: a value is not finite");
    const auto largest = std::bit_cast<float>(largest_bits);
    // Beside the smallest floats the quotient can exceed all of them, so it stays a double.
    const double factor = largest > 0 ? peak_ / static_cast<double>(largest) : 1;
    const auto from = call.in().as<float>();
    const auto to = call.make<float>(0, call.in().shape());
    for (size_t i = 0; i < from.size(); ++i) to[i] = static_cast<float>(static_cast<double>(from[i]) * factor);
    return {};
  }

 private:
  const double peak_;
};

}  // namespace

KernelRef gain_db(double db) {
  require(std::abs(db) <= kMostDecibels, "gain_db", "must be -200 to 200");
  return std::make_shared<GainDb>(fmt::format("gain_db({})", db), "", DecibelRange{db, db});
}

KernelRef gain_db(const DecibelRange& range) {
  const bool is_range = std::abs(range.lo) <= kMostDecibels && std::abs(range.hi) <= kMostDecibels;
  require(is_range && range.lo <= range.hi, "gain_db", "lo <= hi is needed, within -200 to 200");
  return std::make_shared<GainDb>(fmt::format("gain_db([{}, {}])", range.lo, range.hi), "gain_db", range);
}

KernelRef peak_normalize(double peak) {
  require(peak > 0 && peak <= static_cast<double>(std::numeric_limits<float>::max()), "peak_normalize",
          "peak must be above 0 and finite");
  return std::make_shared<PeakNormalize>(peak == 1 ? "peak_normalize" : fmt::format("peak_normalize({})", peak), peak);
}

}  // namespace headpond
