// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <string>

#include "headpond/codec/sound/level/crop_internal.h"
#include "headpond/codec/sound/level/level_internal.h"
#include "headpond/codec/sound/level/level_kernels.h"

namespace headpond {
namespace {

using sound_internal::require;
using sound_internal::SoundCrop;

// `samples` frames of `sound` from `first` on, and zeros after its last one.
void copy_frames(KernelCall& call, const Tensor& sound, int64_t first, int64_t samples) {
  const auto to = call.make<float>(0, sound.shape().row().stacked(samples));
  const auto width = static_cast<size_t>(sound.rank() == 2 ? sound.dim(1) : 1);
  const auto from = sound.as<float>().subspan(static_cast<size_t>(first) * width);
  const size_t copied = std::min(from.size(), to.size());
  std::copy_n(from.begin(), copied, to.begin());
  std::fill(to.begin() + static_cast<ptrdiff_t>(copied), to.end(), 0.0F);
}

std::function<Spec(const Spec&)> with_samples(const std::string& kernel, int64_t samples, bool pads = true) {
  require(samples >= 0, kernel, "samples must be at least 0");
  return [kernel, samples, pads](Spec spec) {
    sound_internal::require_sound(spec, kernel);
    spec[0].shape = spec[0].shape.row().stacked(pads ? samples : kUnknown);
    return spec;
  };
}

class PadOrTrim final : public Kernel {
 public:
  explicit PadOrTrim(int64_t samples)
      : Kernel({.title = fmt::format("pad_or_trim({})", samples), .result = with_samples("pad_or_trim", samples)}),
        samples_(samples) {}

  Result<void> run(KernelCall& call) const override {
    copy_frames(call, call.in(), 0, samples_);
    return {};
  }

 private:
  const int64_t samples_;
};

class RandomSoundCrop final : public SoundCrop {
 public:
  RandomSoundCrop(int64_t samples, bool pads)
      : SoundCrop({.title = fmt::format("random_sound_crop({}{})", samples, pads ? "" : ", pad=false"),
                   .draws = "random_sound_crop",
                   .result = with_samples("random_sound_crop", samples, pads)},
                  samples, pads) {}

  Result<void> run(KernelCall& call) const override {
    crop(call, call.in(), call.random());
    return {};
  }
};

}  // namespace

int64_t sound_internal::SoundCrop::first(int64_t frames, Random random) const {
  const int64_t places = std::max<int64_t>(0, frames - samples_) + 1;
  return static_cast<int64_t>(random.below(static_cast<uint64_t>(places)));
}

void sound_internal::SoundCrop::crop(KernelCall& call, const Tensor& sound, Random random) const {
  copy_frames(call, sound, first(sound.dim(0), random), samples_of(sound.dim(0)));
}

KernelRef pad_or_trim(int64_t samples) { return std::make_shared<PadOrTrim>(samples); }
KernelRef random_sound_crop(int64_t samples, const SoundCropOptions& options) {
  return std::make_shared<RandomSoundCrop>(samples, options.pad);
}

}  // namespace headpond
