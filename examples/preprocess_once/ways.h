// SPDX-License-Identifier: Apache-2.0
// One run of each way: a training loop that does nothing but read the bytes of every sample.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "examples/preprocess_once/nuclei.h"

namespace preprocess_once {

using Digests = std::vector<uint32_t>;

/// How fast, and what came.
struct Run {
  double rate = 0;  ///< Samples a second.
  Digests digests = {};
  double wait_share = 0;  ///< The share of the time that the loop waited for a Loader.
};

hp::Result<Run> run_straightforwardly(const std::vector<Picture>& pictures, uint64_t seed, const GoOn& go_on = {});

/// To make the dataset, which may open files, is part of the time.
hp::Result<Run> run_loader(const std::function<hp::Dataset()>& make, const hp::LoaderOptions& options,
                           const GoOn& go_on = {});

/// The loop alone: so many epochs of the samples of `path` as if they lay in memory. No more than 64 MiB of them and
/// one sample do at a time; to get them there is no part of the time.
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
