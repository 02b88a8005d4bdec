// SPDX-License-Identifier: Apache-2.0
// One run of each way: a training loop that only reads the bytes of every sample.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "examples/preprocess_once/nuclei.h"

namespace preprocess_once {

using Digests = std::vector<uint32_t>;

/// How fast, and what was delivered.
struct Run {
  double rate = 0;  ///< Samples a second.
  Digests digests = {};
  double wait_share = 0;  ///< The share of the time that the loop waited for a Loader.
};

hp::Result<Run> run_straightforwardly(const std::vector<Picture>& pictures, uint64_t seed, const GoOn& go_on = {});

/// Constructing the dataset, which may open files, is part of the time.
hp::Result<Run> run_loader(const std::function<hp::Dataset()>& make, const hp::LoaderOptions& options,
                           const GoOn& go_on = {});

/// The loop alone: `epochs` over the samples of `path` in memory, at most 64 MiB and one sample at a time. Reading them
/// into memory is not part of the time.
hp::Result<Run> run_in_memory(const std::string& path, int64_t epochs, const GoOn& go_on = {});

/// Milliseconds for the two distance channels of an image, on one thread.
struct DistanceTimes {
  double brute_force_ms = 0;
  double linear_ms = 0;
};

/// Both for each image of `path` in turn, after a first one of each that does not count.
hp::Result<DistanceTimes> time_distances(const std::string& path, uint64_t seed, const GoOn& go_on = {});

/// Whether `digests` are `epochs` times those of `one` epoch.
bool repeats(const Digests& digests, const Digests& one, int64_t epochs);

}  // namespace preprocess_once
