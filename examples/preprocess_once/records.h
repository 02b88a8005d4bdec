// SPDX-License-Identifier: Apache-2.0
// Prepared once: the samples as tf.train.Example in one TFRecord file, and how they come back.
#pragma once

#include <string>

#include "examples/preprocess_once/sample.h"

namespace preprocess_once {

/// One epoch of `samples`, made by a Loader, to `path`: features "input" and "nuclei", the bytes of both, and "size",
/// height and width. Replaces the file once all are in. Returns the bytes of the payloads.
hp::Result<uint64_t> write_prepared(const hp::Dataset& samples, const std::string& path);

/// The samples of `path`, in their order. Throws as tfrecord() does.
hp::Dataset read_prepared(const std::string& path);

}  // namespace preprocess_once
