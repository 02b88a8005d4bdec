// SPDX-License-Identifier: Apache-2.0
// Measures the three ways: how many samples a second each delivers to a training loop that only reads them.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "examples/preprocess_once/nuclei.h"

namespace preprocess_once {

/// What is being done.
struct Progress {
  std::string_view line;   ///< A message for the user when something begins; else empty.
  std::string_view doing;  ///< "draw", "write", "straightforward", "operators", "one thread", "tfrecord", "in memory",
                           ///< "distance maps".
  int64_t done = 0;        ///< Samples done of it; 0 when it begins.
};

struct MeasureOptions {
  std::string data = "";       ///< A folder of pictures; empty: $HEADPOND_DATA's or ../shared/data's, else drawn ones.
  int64_t images = -1;         ///< The first N pictures; below 0: all (20 drawn ones).
  int64_t rounds = 3;          ///< At least 1. A round has an epoch of every way.
  int64_t record_epochs = 10;  ///< At least 1. Epochs over the records in a round: one would be too short.
  uint64_t seed = 7;
  std::stop_token stop = {};                           ///< Checked after each sample; the result is then Cancelled.
  std::function<void(const Progress&)> progress = {};  ///< Called after each sample, and when something begins.
};

/// The process's peak memory in a round, MiB, mapped files included; sampled after a sample, every 50 ms. Headpond's
/// pooled memory is freed before each way begins.
struct PeakMemory {
  std::vector<double> straightforward, operators, records;  ///< One value a round.
};

/// Rates, times and gains are medians over the rounds; a gain is the median of the rounds' ratios.
struct Measured {
  bool is_drawn = false;  ///< The pictures are drawn, not photographs.
  int64_t images = 0, masks = 0;
  int64_t rounds = 0, record_epochs = 0;                   ///< As requested.
  double straightforward = 0, operators = 0, records = 0;  ///< Samples a second.
  double one_thread = 0;                                   ///< By operators, with a Loader of one thread.
  double operators_gain = 0, records_gain = 0;             ///< Over straightforward.
  double brute_force_ms = 0, linear_ms = 0;  ///< For an image's two distance channels alone, on one thread.
  double distances_gain = 0;
  double in_memory = 0;       ///< Samples a second if they are in memory and are only read.
  double records_wait = 0;    ///< The share of its time that the loop waited for records.
  double write_s = 0;         ///< To prepare and write all of them.
  uint64_t record_bytes = 0;  ///< Size of the file.
  PeakMemory peak_mib;
  bool bytes_equal = true;  ///< Every way delivered the same bytes in every round and epoch.
};

/// A folder of $HEADPOND_DATA or ../shared/data, by default that of the real pictures; nullopt iff it does not exist.
std::optional<std::string> find_data(const std::string& folder = "dsb2018-nuclei/stage1_train");

/// Writes to a new folder in $TMPDIR, else /tmp, and always removes it.
hp::Result<Measured> measure(const MeasureOptions& options);

}  // namespace preprocess_once
