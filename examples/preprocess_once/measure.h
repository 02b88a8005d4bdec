// SPDX-License-Identifier: Apache-2.0
// The three ways side by side: how many samples a second each gives a training loop that does nothing but read them.
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

/// Where it stands.
struct Progress {
  std::string_view line;   ///< What begins now, for people; empty unless something does.
  std::string_view doing;  ///< "draw", "write", "straightforward", "operators", "one thread", "tfrecord", "in memory",
                           ///< "distance maps".
  int64_t done = 0;        ///< Samples of it; 0 when it begins.
};

struct MeasureOptions {
  std::string data = "";       ///< A folder of pictures; "": $HEADPOND_DATA's or ../shared/data's, else they are drawn.
  int64_t images = -1;         ///< The first so many; below 0: all (of drawn ones 20).
  int64_t rounds = 3;          ///< At least 1. Each has an epoch of every way.
  int64_t record_epochs = 10;  ///< At least 1. Of the records there are so many instead: one is over too soon.
  uint64_t seed = 7;
  std::stop_token stop = {};  ///< Asked after each sample, whatever is done with it; then the result is Cancelled.
  std::function<void(const Progress&)> progress = {};  ///< Called before that, and when something begins.
};

/// What a round saw at most of the process's memory in use, MiB, mapped files included: it looks after a sample, every
/// 50 ms. The memory that Headpond keeps for later is given back before each way begins.
struct PeakMemory {
  std::vector<double> straightforward, operators, records;  ///< A value a round.
};

/// Rates and times are medians over the rounds; how many times better one way is than another, of the rounds' ratios.
struct Measured {
  bool is_drawn = false;  ///< The pictures are no photographs.
  int64_t images = 0, masks = 0;
  int64_t rounds = 0, record_epochs = 0;                   ///< As asked for.
  double straightforward = 0, operators = 0, records = 0;  ///< Samples a second.
  double one_thread = 0;                                   ///< By operators, with a Loader of one thread.
  double operators_gain = 0, records_gain = 0;             ///< Over straightforward.
  double brute_force_ms = 0, linear_ms = 0;                ///< Of an image's two distance channels alone, one thread.
  double distances_gain = 0;
  double in_memory = 0;       ///< Samples a second if they lay in memory: reading them is all that is left.
  double records_wait = 0;    ///< The share of its time that the loop waited for records.
  double write_s = 0;         ///< To prepare all and write them.
  uint64_t record_bytes = 0;  ///< Of the file.
  PeakMemory peak_mib;
  bool bytes_equal = true;  ///< Each way gave every sample with the same bytes, in every round and epoch.
};

/// The folder of the real pictures; nullopt iff they are not there.
std::optional<std::string> find_data();

/// Writes to a folder of its own below $TMPDIR, else /tmp; it is gone afterwards, however this ends.
hp::Result<Measured> measure(const MeasureOptions& options);

}  // namespace preprocess_once
