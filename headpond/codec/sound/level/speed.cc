// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "headpond/codec/sound/level/level_internal.h"
#include "headpond/codec/sound/level/level_kernels.h"
#include "headpond/codec/sound/resample/resample.h"

namespace headpond {
namespace {

using sound_internal::require;

constexpr int64_t kParts = 100;  // A factor is a number of hundredths.
constexpr double kLeastSpeed = 0.25, kMostSpeed = 4;

int64_t hundredths(double factor) { return std::llround(factor * static_cast<double>(kParts)); }

std::string text_of(int64_t factor) { return fmt::format("{}", static_cast<double>(factor) / kParts); }

class Speed final : public Kernel {
 public:
  Speed(int64_t lo, int64_t hi)
      : Kernel({.title = lo == hi ? fmt::format("speed({})", text_of(lo))
                                  : fmt::format("speed([{}, {}])", text_of(lo), text_of(hi)),
                .draws = lo == hi ? "" : "speed",
                .result = [lo, hi](const Spec& in) { return result_of(in, lo, hi); }}) {
    for (int64_t factor = lo; factor <= hi; ++factor) speeds_.push_back(resample({.from = factor, .to = kParts}));
  }

  Result<void> run(KernelCall& call) const override {
    uint64_t chosen = 0;
    if (speeds_.size() > 1) chosen = call.random().below(speeds_.size());
    return speeds_[chosen]->run(call);
  }

 private:
  static Spec result_of(Spec spec, int64_t lo, int64_t hi) {
    sound_internal::require_sound(spec, "speed");
    if (lo == hi) return resample({.from = lo, .to = kParts})->facts().result(spec);
    spec[0].shape = spec[0].shape.row().stacked(kUnknown);
    return spec;
  }

  std::vector<KernelRef> speeds_;
};

}  // namespace

KernelRef speed(double factor) { return speed(SpeedRange{factor, factor}); }

KernelRef speed(const SpeedRange& range) {
  const bool fits = range.lo >= kLeastSpeed && range.lo <= range.hi && range.hi <= kMostSpeed;
  require(fits, "speed", "a factor of 0.25 to 4 is needed, or lo <= hi of them");
  return std::make_shared<Speed>(hundredths(range.lo), hundredths(range.hi));
}

}  // namespace headpond
