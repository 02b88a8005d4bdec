// SPDX-License-Identifier: Apache-2.0
// Prepared once: the samples as tf.train.Example in one TFRecord file, written and read.
#pragma once

#include <string>

#include "examples/preprocess_once/sample.h"

namespace preprocess_once {

/// One epoch of `samples` as the one shard that write_shards() makes of them in `folder`: features "input" and
/// "nuclei", the bytes of both, and "size", height and width. `made_from`, if not "", names what the samples follow
/// from: a file that an earlier call wrote from the same stays, and an interrupted one is continued.
hp::Result<hp::Shard> write_prepared(const hp::Dataset& samples, const std::string& folder, const GoOn& go_on = {},
                                     const std::string& made_from = "");

/// The samples in `path`, in order. Throws as tfrecord() does.
hp::Dataset read_prepared(const std::string& path);

}  // namespace preprocess_once
