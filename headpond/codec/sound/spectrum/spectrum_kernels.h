// SPDX-License-Identifier: Apache-2.0
// Spectra as kernels, for map: map("sound", decode_wav({.desired_channels = 1}), log_mel({.mels = 80})).
#pragma once

#include "headpond/codec/sound/spectrum/spectrum.h"
#include "headpond/tensor/kernel.h"

namespace headpond {

/// From samples, f32 [frames] or [frames, 1], to their spectrum (spectrum.h), whose shape is known ahead where the
/// number of samples is. Errors of an element as Spectrum's. They throw Exception(InvalidArgument) iff an option is out
/// of range. Thread-safe.
KernelRef stft(const SpectrumOptions& options = {});
KernelRef spectrogram(const SpectrumOptions& options = {});
KernelRef mel_spectrogram(const SpectrumOptions& options = {});
KernelRef log_mel(const SpectrumOptions& options = {});
KernelRef mfcc(const SpectrumOptions& options = {});

}  // namespace headpond
