// SPDX-License-Identifier: Apache-2.0
// Operators that stack elements.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "headpond/dataset/dataset.h"

namespace headpond {

struct BatchOptions {
  bool drop_remainder = false;  ///< The last elements, if fewer than batch_size, are left out.
};

/// `batch_size` elements stacked along a new first dimension; the last batch may be smaller. The shapes of a field must
/// agree: an element of another shape is an error in place of its batch, which the next call gives without it. The spec
/// says how many rows a batch has only with drop_remainder, without which elements that fail make the last one smaller.
Step batch(int64_t batch_size, BatchOptions options = {});

struct PaddedBatchOptions {
  bool drop_remainder = false;
  /// By field; kUnknown: to the longest of the batch. A field that is not here: each unknown dimension to the longest.
  std::map<std::string, Shape> padded_shapes = {};
  std::map<std::string, double> padding_values = {};  ///< By field; else 0. bytes are padded with "".
};

/// As batch, for elements of different sizes: each is put at the beginning of its row, and what is left of the row is
/// padding. An element longer than a fixed padded shape, or of another rank, is an error. Fields without names go by
/// their number, "0", "1".
Step padded_batch(int64_t batch_size, PaddedBatchOptions options = {});

}  // namespace headpond
