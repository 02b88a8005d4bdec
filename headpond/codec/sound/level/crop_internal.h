// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>

#include "headpond/base/random.h"
#include "headpond/tensor/kernel.h"

namespace headpond::sound_internal {

/// random_sound_crop. A decoder that knows the number of frames asks where it begins, and decodes the crop only.
class SoundCrop : public Kernel {
 public:
  /// Samples of the crop of a sound of `frames`.
  int64_t samples_of(int64_t frames) const { return pads_ ? samples_ : std::min(samples_, frames); }
  /// The first frame of the crop of a sound of `frames`. REQUIRES: `random` is new.
  int64_t first(int64_t frames, Random random) const;
  /// Makes the crop of `sound` the first result of `call`.
  void crop(KernelCall& call, const Tensor& sound, Random random) const;

 protected:
  SoundCrop(Facts facts, int64_t samples, bool pads) : Kernel(std::move(facts)), samples_(samples), pads_(pads) {}

 private:
  const int64_t samples_;
  const bool pads_;  // A shorter sound.
};

}  // namespace headpond::sound_internal
