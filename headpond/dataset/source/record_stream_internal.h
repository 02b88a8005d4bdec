// SPDX-License-Identifier: Apache-2.0
// TFRecord files as a stream, compressed or not.
#pragma once

#include "headpond/dataset/dataset.h"
#include "headpond/dataset/source/file_set_internal.h"
#include "headpond/io/record/record_reader.h"

namespace headpond::internal {

/// The records of the files of `set` in order, with the keys that tfrecord gives them; `num_parallel_reads`, as in
/// TFRecordOptions, makes files take turns, and keys others. Throws for more than 1,000, as each state lists the files
/// that are open. `facts` has op, args and spec.
Dataset record_stream(Node::Facts facts, FileSetOptions set, const RecordReaderOptions& options,
                      std::optional<int64_t> num_parallel_reads = std::nullopt);

}  // namespace headpond::internal
