// SPDX-License-Identifier: Apache-2.0
// Measures several systems side by side. A round runs all of them in turn, and only values of one round are compared:
// that removes the drift of the machine. A round in which other processes took CPU time is measured again.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "headpond/base/clock.h"
#include "headpond/base/cpu.h"
#include "headpond/base/json.h"
#include "headpond/base/status.h"
#include "headpond/engine/verdict/verdict.h"

namespace headpond::cli {

/// One figure of one system.
struct BenchRow {
  std::string name;  ///< What is measured; the same for systems that are compared.
  std::vector<std::pair<std::string, std::variant<int64_t, std::string>>> params = {};
  std::string system = "headpond";
  std::string system_version = "";
  std::string metric;
  std::string unit;
  bool lower_is_better = true;
};

struct BenchSample {
  double value = 0;
  double cpu_s = 0;    ///< Processor time that was spent on it.
  double pss_mib = 0;  ///< What another process that measured it had then; 0: this one measured it.
};

/// How many times better one row is than another. Indices of rows.
struct BenchRatio {
  size_t of, to;
};

struct BenchRound {
  std::vector<double> values;        ///< For each row the median over the round's cycles.
  std::vector<double> ratios;        ///< For each ratio the median of the cycles' ratios.
  std::vector<double> cpu_s;         ///< For each row, all cycles together.
  std::vector<double> pss_mib = {};  ///< For each row the most of BenchSample::pss_mib.
  double other_cores = 0;            ///< Processors' worth that other processes used meanwhile.
  int repeats = 0;                   ///< How often the round was measured again.
  bool noisy = false;                ///< Others used too much each time; the last measurement stands.
};

struct Spread {
  double median = 0, min = 0, max = 0;
};

struct BenchResult {
  std::vector<BenchRound> rounds;
  std::optional<bool> digest_equal = {};          ///< Outputs of all systems agree; empty: nothing to compare.
  std::optional<double> consume_ns_per_kib = {};  ///< Reading alone, of memory that is in the cache.
  double pss_peak_mib = 0;                        ///< Of this process.
  double wall_s = 0;
  bool interrupted = false;  ///< A stop was requested before the last round; those before it are here.

  Spread row(size_t i) const;
  Spread ratio(size_t i) const;
  bool noisy() const;
};

struct BenchTarget {
  std::string id, text;
  bool at_least;  ///< Else: at most.
  double bound;
  std::function<double(const BenchResult&)> value;
};

struct Bench {
  std::string name;
  std::vector<BenchRow> rows = {};
  std::vector<BenchRatio> ratios = {};
  std::vector<BenchTarget> targets = {};
  std::string consume = "none";  ///< How what is delivered is read.
  int64_t rounds = 5;            ///< Unless the user says otherwise.
  double round_s = 0;            ///< A round repeats the cycle until so much time has passed.
  /// A sample of each row.
  std::function<Result<std::vector<BenchSample>>(const std::stop_token&)> cycle = {};
  std::function<bool()> digest_equal = {};  ///< Asked at the end.
  /// By case, what the Loaders say that the last cycle measured; null: it measures none.
  std::shared_ptr<const std::map<std::string, Verdict>> verdicts = nullptr;
};

struct BenchOptions {
  int64_t rounds = 0;  ///< 0: the bench's own.
  double seconds = 0;  ///< Above 0: then no round and no repetition begins.
  std::stop_token stop = {};
  std::function<void(std::string_view)> say = {};  ///< A line for each round.
  std::function<CpuSample()> cpu = sample_cpu;
  std::function<int64_t()> clock = now_ns;
};

/// What other processes may use in a round, in processors, and how often a round is measured again.
inline constexpr double kOthersAtMost = 0.02;
inline constexpr int kRepeatsAtMost = 5;

Result<BenchResult> run_bench(const Bench& bench, const BenchOptions& options);

/// True iff each target is met, the digests agree, and the result has a round.
bool passes(const Bench& bench, const BenchResult& result);
bool meets(const BenchTarget& target, double value);

/// The CPU time that `work` took in this process, with its value.
BenchSample with_cpu_time(const std::function<double()>& work);

double median(std::vector<double> values);

}  // namespace headpond::cli
