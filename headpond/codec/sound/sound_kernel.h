// SPDX-License-Identifier: Apache-2.0
// decode_sound as a kernel, for map: map("sound", decode_sound({.rate = 16000}), mono(), pad_or_trim(16000)).
#pragma once

#include "headpond/codec/sound/sound_file.h"
#include "headpond/tensor/kernel.h"

namespace headpond {

/// From a field of dtype bytes, a whole file each, to the samples, f32 [frames, channels], which are known ahead where
/// the options fix them. The rate is not passed on: set `rate`, so that no other one is taken for it. Errors of an
/// element as decode_sound(file). Throws Exception(InvalidArgument) iff an option is out of range. Thread-safe.
///
/// Before random_sound_crop, within one map, only the crop is decoded of WAV, FLAC and AIFF, unless values are to be
/// rejected or desired_samples is set: damage outside the crop is not looked for.
KernelRef decode_sound(const SoundOptions& options = {});
inline KernelRef decode_sound(std::initializer_list<NoOption>) { return decode_sound(SoundOptions()); }

}  // namespace headpond
