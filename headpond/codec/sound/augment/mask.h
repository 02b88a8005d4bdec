// SPDX-License-Identifier: Apache-2.0
// Masks over time and frequency of a spectrum, as kernels: Park et al., "SpecAugment", Interspeech 2019, with
// torchaudio's choice of places.
#pragma once

#include <cstdint>

#include "headpond/tensor/kernel.h"

namespace headpond {

/// The values that masked ones become.
enum class MaskFill : uint8_t { zero, mean };

struct MaskOptions {
  int64_t width = 0;  ///< Masks are narrower than this many frames or bands; must be given, at least 1.
  int64_t count = 1;  ///< Masks, 1 to 1000.
  /// At most this part of the frames or bands is in one mask, above 0 to 1.
  double p = 1;
  MaskFill fill = MaskFill::zero;  ///< mean: the spectrum's, before the first mask.
  bool mels_first = false;         ///< The spectrum is [bands, frames].
};

/// Masks of f32 [frames, bands]. A mask draws two words, u and v in [0, 1): with size frames or bands and w =
/// min(width, floor(p size)) u, it covers floor(w) of them from floor(v (size - w)) on. Other fields are passed on.
/// Throw Exception(InvalidArgument) iff an option is out of range. Thread-safe.
KernelRef time_mask(const MaskOptions& options);
KernelRef frequency_mask(const MaskOptions& options);

struct SpecAugmentOptions {
  int64_t frequency_width = 27;  ///< F
  int64_t frequency_masks = 2;   ///< mF; 0 to 1000, as time_masks.
  int64_t time_width = 100;      ///< T
  int64_t time_masks = 2;        ///< mT
  double p = 1;                  ///< See MaskOptions::p; for time masks.
  MaskFill fill = MaskFill::zero;
  bool mels_first = false;
};

/// Time masks, then frequency masks, which draw in that order.
KernelRef spec_augment(const SpecAugmentOptions& options = {});

}  // namespace headpond
