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
  bool drop_remainder = false;  ///< Drop the last elements if they are fewer than batch_size.
};

/// Stacks `batch_size` elements along a new first dimension; the last batch may be smaller. The shapes of a field must
/// agree: an element of another shape is an error, and the next call gives its batch without it. Only with
/// drop_remainder does the spec tell how many rows a batch has, as elements that fail make the last one smaller.
Step batch(int64_t batch_size, BatchOptions options = {});

struct PaddedBatchOptions {
  bool drop_remainder = false;
  /// By field. A dimension of kUnknown is padded to the longest one of the batch, as are the unknown dimensions of a
  /// field that is not listed.
  std::map<std::string, Shape> padded_shapes = {};
  std::map<std::string, double> padding_values = {};  ///< By field; default 0. bytes are padded with "".
};

/// As batch, for elements of different sizes: each is written at the beginning of its row, and the rest of the row is
/// padding. An element that is longer than a fixed padded shape, or of another rank, is an error. A field without a
/// name is called by its number: "0", "1".
Step padded_batch(int64_t batch_size, PaddedBatchOptions options = {});

}  // namespace headpond
