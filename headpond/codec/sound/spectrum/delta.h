// SPDX-License-Identifier: Apache-2.0
// Differences of features over time, as torchaudio's compute_deltas: what is put beside cepstral coefficients. A pure
// function, thread-safe.
#pragma once

#include <cstdint>

#include "headpond/base/status.h"
#include "headpond/tensor/kernel.h"
#include "headpond/tensor/tensor.h"

namespace headpond {

struct DeltaOptions {
  int64_t width = 5;        ///< Frames that a difference is taken over: odd, 3 to 1001.
  bool mels_first = false;  ///< Features are [features, frames].
  bool append = false;      ///< Gives the features and then their differences, twice as many columns.
};

/// From f32 [frames, features] to the same shape: with N = width / 2, sum over k = 1..N of k (x[t + k] - x[t - k]),
/// over 2 (1 + 4 + ... + N^2); the first and the last frame stand for those outside. InvalidArgument iff an option is
/// out of range, or dtype or rank is another.
Result<Tensor> delta(const Tensor& features, const DeltaOptions& options = {});

/// The same as a kernel. Throws Exception(InvalidArgument) iff an option is out of range.
KernelRef delta(const DeltaOptions& options = {});

}  // namespace headpond
