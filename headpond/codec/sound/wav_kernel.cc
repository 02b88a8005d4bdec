// SPDX-License-Identifier: Apache-2.0
#include "headpond/codec/sound/wav_kernel.h"

#include "headpond/codec/sound/sound_kernel_internal.h"

namespace headpond {

KernelRef decode_wav(const WavOptions& options) {
  return sound_internal::decoder_kernel("decode_wav", {.desired_channels = options.desired_channels,
                                                       .desired_samples = options.desired_samples,
                                                       .first_sample = options.first_sample,
                                                       .lenient = options.lenient,
                                                       .max_channels = options.max_channels,
                                                       .mix = options.mix,
                                                       .non_finite = options.non_finite,
                                                       .rate = options.rate,
                                                       .sample_rate = options.sample_rate});
}

}  // namespace headpond
