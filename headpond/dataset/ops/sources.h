// SPDX-License-Identifier: Apache-2.0
// Where elements come from.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "headpond/dataset/dataset.h"

namespace headpond {

/// start, start + step, ... up to stop, which is not among them; i64 scalars. Throws for step 0.
Dataset range(int64_t stop);
Dataset range(int64_t start, int64_t stop, int64_t step = 1);

/// Row i of each tensor is element i; rows of more than 16 bytes are not copied. Tensors need a first dimension, the
/// same for all; they must not change afterwards.
Dataset from_tensor_slices(const std::vector<std::pair<std::string, Tensor>>& tensors);
Dataset from_tensor_slices(Tensor tensor);

/// The images and labels of two IDX files, plain or gzip (io/array/idx.h), read when this is called: fields "image" and
/// "label". Throws Exception with the reader's error. The files' names and a checksum of their values belong to the
/// plan: a state is refused when they have changed.
Dataset idx(const std::string& images_path, const std::string& labels_path);
/// One IDX file: an unnamed field.
Dataset idx(const std::string& path);

/// The next element, or nullopt at the end. One thread at a time calls it.
using Generator = std::function<Result<std::optional<Element>>()>;

struct GeneratorOptions {
  std::string name = "";  ///< For explain, errors and the state; "": a restore does not notice a change.
  int version = 0;        ///< Raise it when the generator changes what it gives.
  /// A generator of `epoch` that stands behind its first `position` elements. Without it a restore asks a fresh one for
  /// so many elements and drops them.
  std::function<Result<Generator>(uint64_t epoch, int64_t position)> seek = {};
};

/// What a generator gives, one element after the other; `make` gives a fresh one for an epoch, with the same elements
/// each time. An element that is not of `spec` is an error in its own place; an error that the generator returns or
/// throws is its last word, and comes again at each further call.
Dataset from_generator(std::function<Generator(uint64_t epoch)> make, Spec spec, const GeneratorOptions& options = {});

}  // namespace headpond
