// SPDX-License-Identifier: Apache-2.0
// The program's own digit set, for users without data: drawn once, kept as MNIST's four IDX files.
#pragma once

#include <cstdint>
#include <stop_token>
#include <string>

#include "headpond/base/status.h"

namespace headpond {

inline constexpr const char* kTrainImages = "train-images-idx3-ubyte";
inline constexpr const char* kTrainLabels = "train-labels-idx1-ubyte";
inline constexpr const char* kTestImages = "t10k-images-idx3-ubyte";
inline constexpr const char* kTestLabels = "t10k-labels-idx1-ubyte";

struct DigitSetOptions {
  std::string folder;  ///< Where the set is kept; empty: cache_folder() + "/digits-v1".
  int64_t train_images = 60'000;
  int64_t test_images = 10'000;
  std::stop_token stop = {};  ///< Ends drawing and waiting with Cancelled.
};

struct DigitSet {
  std::string folder;  ///< Holds the four files.
  bool drawn;          ///< True iff this call drew it.
};

/// Returns the existing set if its checksums fit, else draws a new one (draw_digit(i) is train image i, the test images
/// follow). The folder appears complete: a kill at any moment leaves the old state or the new one, and the next drawing
/// removes temporary files. With several callers, in one process or many, one draws and the others wait. A damaged set
/// is replaced, with a warning in the log.
Result<DigitSet> digit_set(const DigitSetOptions& options = {});

}  // namespace headpond
