// SPDX-License-Identifier: Apache-2.0
// TFRecord files as a stream, compressed or not.
#pragma once

#include <string>
#include <vector>

#include "headpond/dataset/dataset.h"
#include "headpond/io/record/record_reader.h"

namespace headpond::internal {

/// The records of `paths` in order, with the keys that tfrecord gives them. `facts` has op and args.
Dataset record_stream(Node::Facts facts, std::vector<std::string> paths, const RecordReaderOptions& options);

}  // namespace headpond::internal
