// SPDX-License-Identifier: Apache-2.0
// Why the program waits for batches, what to change, and what that will gain: what Loader::diagnose() returns. The
// guide docs/guide/bottlenecks.md explains each code by an example.
#pragma once

#include <cstdint>
#include <iosfwd>
#include <string>
#include <string_view>
#include <vector>

namespace headpond {

/// The reason. Codes are printed as they are spelled here. cpu_bound stays the last one: read_run() looks for a name up
/// to it.
enum class ReasonCode : uint8_t {
  none,                 ///< Too little was seen, or nothing in particular limits.
  device_bound,         ///< The program hardly waits: its own step limits.
  startup,              ///< Only the first batches took long.
  epoch_edge,           ///< Mostly the first batches of epochs took long.
  stalled,              ///< The program waits, and nothing is done.
  machine_busy,         ///< Other processes, or the host of this machine, have the processors.
  memory_limited,       ///< Nothing more is made ahead, for lack of memory.
  min_fill_too_large,   ///< A shuffle queue's minimum holds back elements that are there.
  oversubscribed,       ///< More threads compute than there are processors.
  user_lock,            ///< Calls wait for each other in a lock of a function.
  single_file,          ///< All elements come from one file, in order.
  serial_stage,         ///< One thread at a time can do this work.
  slow_batch_function,  ///< A function of whole batches takes the time.
  window_too_small,     ///< Batches take differently long, and too few are made ahead.
  bandwidth_bound,      ///< Calls at once share a disk or a network that has no more to give.
  latency_bound,        ///< Each call waits for an answer.
  cpu_bound,            ///< The processors are busy.
};
std::string_view to_string(ReasonCode code);

/// A figure that decided, and the number that it was compared with.
struct Evidence {
  std::string figure;
  double value = 0;
  double threshold = 0;  ///< 0: it was compared with nothing.

  /// The threshold, and on which side of it the value is: "above 0.9", "below 0.05". Empty without a threshold.
  std::string limit() const;
};

/// `gain`: how many times as many steps a second are to be expected, between `low` and `high`.
struct Change {
  std::string what;     ///< In words.
  std::string setting;  ///< The option, where it is one: "io_threads"; else empty.
  std::string value;    ///< For the option.
  double gain = 1, low = 1, high = 1;
};

/// What the first finding of a verdict without a reason begins with if too little was seen; then it is its title.
inline constexpr std::string_view kTooLittleWasSeen = "too little was seen";

struct Verdict {
  ReasonCode code = ReasonCode::none;
  std::string stage = {};     ///< A name of LoaderStats::stages; empty if none limits.
  std::string op = {};        ///< The operator in it that takes most; empty if it is not known.
  std::string op_title = {};  ///< What tells it from others of its kind, as OperatorCost::title; empty as `op`.
  double confidence = 0;      ///< 0 to 1: high from 0.8, medium from 0.5, below a guess. Of `none` it says nothing.
  double wait_share = 0;      ///< Share of the time after the start: what a perfect input would save.
  /// Shares of the whole time.
  struct Waits {
    double startup = 0, epoch_edge = 0, burst = 0, sustained = 0;
  } waits = {};
  std::vector<Evidence> evidence = {};
  /// Best first, at most three. None for device_bound, none, stalled and machine_busy, and below a gain of 5 %.
  std::vector<Change> changes = {};
  std::vector<std::string> findings = {};  ///< Facts that are missing, or else worth knowing.

  /// At most eight lines for people, each with its end.
  std::string to_string() const;
};
std::ostream& operator<<(std::ostream& out, const Verdict& verdict);

}  // namespace headpond
