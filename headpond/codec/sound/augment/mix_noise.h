// SPDX-License-Identifier: Apache-2.0
// Adds noise to sound at a drawn signal-to-noise ratio, as torchaudio's add_noise. Values have the same bits on every
// processor.
#pragma once

#include <string>
#include <vector>

#include "headpond/tensor/kernel.h"
#include "headpond/tensor/tensor.h"
#include "headpond/tensor/tensor_list.h"

namespace headpond {

/// Clips of noise, f32 [frames] or [frames, channels], at the rate of the sound. tensors_of() (dataset/tensors_of.h)
/// makes them of a dataset.
using NoiseClips = TensorList;
/// Clips in memory.
NoiseClips noise_clips(std::vector<Tensor> clips, const std::string& name = "");

struct MixNoiseOptions {
  double low_snr_db = 0;  ///< The ratio is uniform from low to high; both within -200 and 200.
  double high_snr_db = 20;
  double p = 1;  ///< The part of samples that noise is added to, 0 to 1.
};

/// From f32 [frames] or [frames, channels] to x + noise sqrt(E_x / (E_noise 10^(snr / 10))), with E the sums of squares
/// of the sound and of the noise that is used. Noise has one channel, which is added to all, or as many as the sound. A
/// clip that is longer than the sound begins at a drawn frame at which it still covers it; a shorter one begins at any
/// frame and is repeated. Without energy in either, and for a clip without frames, the sound stays as it is.
///
/// Draws six words, whatever follows: one for p, one for the ratio, two for the clip, two for its first frame, each two
/// as the upper half of a 64-bit number times the number of choices. Errors of an element: those of `read`;
/// InvalidArgument iff dtype, rank or channels do not fit. Throws Exception(InvalidArgument) iff there are no clips or
/// an option is out of range. Thread-safe.
KernelRef mix_noise(const NoiseClips& noise, const MixNoiseOptions& options = {});

}  // namespace headpond
