// SPDX-License-Identifier: Apache-2.0
// The samples of `train nuclei`: prepared once into records in the cache folder, or prepared in the training's loop.
#pragma once

#include <cstdint>
#include <stop_token>
#include <string>

#include "headpond/base/status.h"
#include "headpond/dataset/dataset.h"

namespace headpond::cli {

struct NucleiDataOptions {
  std::string folder = "";  ///< A folder like the Data Science Bowl 2018's; "": drawn ones, in the cache folder.
  bool one = true;          ///< The target is one nucleus, on which the clicks are; else all of them.
  bool others = false;      ///< A control: the clicks are those of other pictures.
  bool in_the_loop = false;
  int64_t batch = 8;
  uint64_t seed = 7;
  std::stop_token stop = {};
};

/// What a network takes.
struct NucleiData {
  int64_t train_pictures = 0, test_pictures = 0;
  Dataset train_samples, test_samples;
  int64_t batch = 8;
  bool one = true;
  bool new_clicks = false;  ///< In each crop: for all nuclei, and not for the control, whose clicks are others'.
  /// Crops in batches, in another order in each epoch; whole pictures, one by one. Without `clicks` their channels are
  /// 0.
  Dataset train(bool clicks) const;
  Dataset test(bool clicks) const;
};

/// Finds or draws the pictures, and prepares their samples unless they were prepared before; waits for another process
/// that prepares some. Errors as those of find_pictures(), draw_pictures() and write_shards(); Cancelled iff a stop is
/// requested while it waits.
Result<NucleiData> nuclei_data(const NucleiDataOptions& options);

}  // namespace headpond::cli
