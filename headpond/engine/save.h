// SPDX-License-Identifier: Apache-2.0
// tf.data's save: writes the elements of a dataset once, for load() (dataset/ops/files.h):
//
//   (void)save(idx(images, labels) | map(prepare, {.name = "prepare"}), "prepared");
//   auto train = load("prepared") | shuffle() | batch(32);
#pragma once

#include <cstdint>
#include <string>

#include "headpond/base/status.h"
#include "headpond/dataset/dataset.h"

namespace headpond {

struct SaveOptions {
  int threads = -1;  ///< See LoaderOptions::threads.
  uint64_t seed = 0;
};

/// Writes the elements of epoch 0 into the folder `path`, which is made if need be, in their order and of any dtypes
/// and shapes, and returns their number. An earlier dataset there is replaced when the new one is whole and on the
/// disk; until then, and after an error or a kill, `path` has the old one. Programs that read the old one go on. The
/// first element that fails ends the call. FailedPrecondition for a dataset without an end, and for more than 2^32
/// elements. Throws Exception as Loader does. There are no shard_func, compression and checkpoint_args: one folder has
/// all elements, mapped when they are read.
Result<int64_t> save(const Dataset& dataset, const std::string& path, const SaveOptions& options = {});

}  // namespace headpond
