// SPDX-License-Identifier: Apache-2.0
// The records of TFRecord files in their order, compressed or not.
#pragma once

#include <string>
#include <vector>

#include "headpond/dataset/dataset.h"
#include "headpond/io/record/record_reader.h"

namespace headpond::internal {

/// As tfrecord over `paths`, in order only; a record has the key that it has there. `facts` with op and args.
Dataset record_stream(Node::Facts facts, std::vector<std::string> paths, const RecordReaderOptions& options);

}  // namespace headpond::internal
