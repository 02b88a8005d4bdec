// SPDX-License-Identifier: Apache-2.0
// decode_wav as a kernel, for map: map("sound", decode_wav({.desired_channels = 1, .desired_samples = 16000})).
#pragma once

#include "headpond/codec/sound/wav.h"
#include "headpond/tensor/kernel.h"

namespace headpond {

/// From a field of dtype bytes, a whole file each, to the samples, f32 [frames, channels], which are known ahead where
/// the options fix them. The rate is not passed on: set `sample_rate`, which gives all sounds one, or `rate`, which
/// refuses others. Errors of an element as decode_wav(file). Throws Exception(InvalidArgument) iff an option is out of
/// range. Thread-safe.
///
/// Before random_sound_crop, within one map, only the crop is decoded, unless values are to be rejected or
/// desired_samples is set.
KernelRef decode_wav(const WavOptions& options = {});
inline KernelRef decode_wav(std::initializer_list<NoOption>) { return decode_wav(WavOptions()); }

}  // namespace headpond
