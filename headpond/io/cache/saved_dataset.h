// SPDX-License-Identifier: Apache-2.0
// The folder that engine/save.h writes and load() (dataset/ops/files.h) reads: it has a file "dataset", which names the
// folder of the elements (io/cache/cache_store.h). Not for users.
#pragma once

#include <cstdint>
#include <string>

#include "headpond/base/status.h"
#include "headpond/io/cache/cache_store.h"
#include "headpond/tensor/element.h"

namespace headpond::internal {

struct SavedDataset {
  std::string id;  ///< Another one for each call of save().
  int64_t elements = 0;
  Spec spec;
  /// The plan of the store that has the elements, at positions from 0 on.
  CachePlan plan() const { return {.text = "saved " + id + "\n"}; }
};

/// NotFound iff there is no saved dataset in `folder`; DataLoss iff its file is damaged.
Result<SavedDataset> read_saved(const std::string& folder);
/// Replaces the file: from then on `folder` has this dataset.
Result<void> write_saved(const std::string& folder, const SavedDataset& saved);

}  // namespace headpond::internal
