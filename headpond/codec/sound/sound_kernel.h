// SPDX-License-Identifier: Apache-2.0
// decode_sound as a kernel, for map: map("sound", decode_sound({.sample_rate = 16000}), mono(), pad_or_trim(16000)).
#pragma once

#include "headpond/codec/sound/sound_file.h"
#include "headpond/tensor/kernel.h"

namespace headpond {

/// From a field of dtype bytes, a whole file each, to the samples, f32 [frames, channels], which are known ahead where
/// the options fix them. The rate is not passed on: set `sample_rate`, which gives all sounds one, or `rate`, which
/// refuses others. Errors of an element as decode_sound(file). Throws Exception(InvalidArgument) iff an option is out
/// of range. Thread-safe.
///
/// Before random_sound_crop, within one map, only the crop is decoded of WAV, FLAC and AIFF, unless values are to be
/// rejected or desired_samples is set: damage outside the crop is not looked for.
KernelRef decode_sound(const SoundOptions& options = {});
inline KernelRef decode_sound(std::initializer_list<NoOption>) { return decode_sound(SoundOptions()); }

/// From a file to the number of frames, int64 [], that decode_sound(options) gives if the file has those that it
/// states: a HeadKernel (tensor/head_kernel.h), so write_lengths() reads the heads of WAV, FLAC and AIFF files only.
/// Errors of an element as sound_info(); InvalidArgument also for a file that does not state its frames, and if
/// first_sample is after the last frame. Throws as decode_sound().
KernelRef sound_frames(const SoundOptions& options = {});

}  // namespace headpond
