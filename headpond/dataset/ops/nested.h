// SPDX-License-Identifier: Apache-2.0
// Operators that make a dataset of each element and give the elements of those datasets, one dataset after the other or
// several in turn.
//
// The function must be pure, and is called from many threads. It takes arguments as map's function does, and returns a
// Dataset or a Result<Dataset>. So that kind and fields are known, it is called once while the pipeline is built, with
// an element of zeros and empty texts; if it fails on such an element, set `output`. A dataset that cannot be made or
// opened is one error in its place. The keys of its elements are mixed with the key of the element that it was made of,
// and so is the seed of its random operators.
//
// If the input and the datasets have positions (no stream, no batch in them) and the input has an end, the result has
// positions, so that all cores work on all datasets. Then all datasets are made and counted when a run begins; if
// the input changes from epoch to epoch, they are made again in each. All together must have the same number of
// elements in each epoch. They are kept: where they hold much data, or the input is costly, say `kind = Kind::stream`.
// Else the result is a stream; a restore makes the datasets that are open again.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "headpond/dataset/dataset.h"
#include "headpond/dataset/ops/nested_function.h"

namespace headpond {

struct FlatMapOptions {
  Spec output = {};                         ///< Fields of the datasets; empty: those of the first call.
  std::optional<Kind> kind = std::nullopt;  ///< Kind of the datasets. With `output` and without this: stream.
  std::string name = "";                    ///< Name of the function: see MapOptions.
  int version = 0;
};

struct InterleaveOptions {
  int64_t cycle_length = 16;  ///< How many datasets are open at once. As a stream at most 2,000.
  int64_t block_length = 1;   ///< How many elements a dataset gives in its turn.
  Spec output = {};
  std::optional<Kind> kind = std::nullopt;
  std::string name = "";
  int version = 0;
};

namespace internal {
Step flat_map_step(NestedFunction function, const FlatMapOptions& options);
Step interleave_step(NestedFunction function, const InterleaveOptions& options);
}  // namespace internal

/// The elements of the datasets, one dataset after the other.
template <class F>
Step flat_map(F function, const FlatMapOptions& options = {}) {
  return internal::flat_map_step(internal::make_nested_function(std::move(function)), options);
}

/// The elements of `cycle_length` datasets in turn, in the order of tf.data: each dataset gives `block_length`
/// elements, or those that it has left; one that has ended makes room for the next one, which begins when the turn
/// comes there again. With filters in the datasets it is a stream. Of datasets without positions a Loader makes
/// elements ahead where one takes 50 us or more, of up to 64 at once: so generators of different datasets may be called
/// at the same time, each by one thread.
template <class F>
Step interleave(F function, const InterleaveOptions& options = {}) {
  return internal::interleave_step(internal::make_nested_function(std::move(function)), options);
}

}  // namespace headpond
