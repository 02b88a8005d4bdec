// SPDX-License-Identifier: Apache-2.0
#include "cli/bench/bench_harness.h"

#include <fmt/core.h>

#include <algorithm>
#include <ctime>

namespace headpond::cli {
namespace {

double cpu_seconds() {
  timespec time{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}

double times_better(const BenchRow& row, double of, double to) {
  const double above = row.lower_is_better ? to : of, below = row.lower_is_better ? of : to;
  return below > 0 ? above / below : 0;
}

template <class Pick>
Spread spread(const std::vector<BenchRound>& rounds, Pick pick) {
  std::vector<double> values;
  values.reserve(rounds.size());
  for (const BenchRound& round : rounds) values.push_back(pick(round));
  if (values.empty()) return {};
  const auto [least, greatest] = std::minmax_element(values.begin(), values.end());
  return {median(values), *least, *greatest};
}

// What the cycles of a round measured, one list for each row and ratio.
struct Cycles {
  explicit Cycles(const Bench& b)
      : bench(b), values(b.rows.size()), ratios(b.ratios.size()), cpu_s(b.rows.size()), pss_mib(b.rows.size()) {}

  Result<void> add(const std::vector<BenchSample>& samples) {
    if (samples.size() != bench.rows.size()) {
      return fail(ErrorKind::FailedPrecondition,
                  fmt::format("{}: {} samples for {} rows", bench.name, samples.size(), bench.rows.size()));
    }
    for (size_t i = 0; i < samples.size(); ++i) {
      values[i].push_back(samples[i].value);
      cpu_s[i] += samples[i].cpu_s;
      pss_mib[i] = std::max(pss_mib[i], samples[i].pss_mib);
    }
    for (size_t i = 0; i < ratios.size(); ++i) {
      const auto [of, to] = bench.ratios[i];
      ratios[i].push_back(times_better(bench.rows[of], samples[of].value, samples[to].value));
    }
    return {};
  }

  BenchRound round() const {
    BenchRound round{.values = {}, .ratios = {}, .cpu_s = cpu_s, .pss_mib = pss_mib};
    for (const auto& row : values) round.values.push_back(median(row));
    for (const auto& ratio : ratios) round.ratios.push_back(median(ratio));
    return round;
  }

  const Bench& bench;
  std::vector<std::vector<double>> values, ratios;
  std::vector<double> cpu_s, pss_mib;
};

class Run {
 public:
  Run(const Bench& bench, const BenchOptions& options) : bench_(bench), options_(options), start_ns_(options.clock()) {}

  Result<BenchResult> rounds() {
    const int64_t wanted = options_.rounds > 0 ? options_.rounds : bench_.rounds;
    round_s_ = options_.seconds > 0 ? std::min(bench_.round_s, options_.seconds / static_cast<double>(wanted))
                                    : bench_.round_s;
    BenchResult result;
    while (static_cast<int64_t>(result.rounds.size()) < wanted && (result.rounds.empty() || has_time())) {
      auto round = accepted(result.rounds.size() + 1);
      result.interrupted = !round && round.error().kind() == ErrorKind::Cancelled && !result.rounds.empty();
      if (result.interrupted) break;
      if (!round) return fail(round.error());
      result.rounds.push_back(std::move(*round));
      result.pss_peak_mib = std::max(result.pss_peak_mib, static_cast<double>(memory_info().pss) / (1 << 20));
    }
    if (bench_.digest_equal && !result.interrupted) result.digest_equal = bench_.digest_equal();
    result.wall_s = seconds_since(start_ns_);
    return result;
  }

 private:
  double seconds_since(int64_t start_ns) const { return static_cast<double>(options_.clock() - start_ns) * 1e-9; }
  bool has_time() const { return options_.seconds <= 0 || seconds_since(start_ns_) < options_.seconds; }
  void say(const std::string& line) const {
    if (options_.say) options_.say(line);
  }

  Result<BenchRound> measured() {
    Cycles cycles(bench_);
    const int64_t start = options_.clock();
    const CpuSample from = options_.cpu();
    do {
      if (options_.stop.stop_requested()) return fail(ErrorKind::Cancelled, "a stop was requested");
      const auto samples = bench_.cycle(options_.stop);
      if (!samples) return fail(samples.error());
      HEADPOND_TRY(cycles.add(*samples));
    } while (seconds_since(start) < round_s_);
    BenchRound round = cycles.round();
    round.other_cores = other_cores(from, options_.cpu());
    return round;
  }

  // Measured again while others disturb it and repetitions are left.
  Result<BenchRound> accepted(size_t number) {
    for (int repeats = 0;; ++repeats) {
      auto round = measured();
      if (!round) return round;
      const std::string head =
          fmt::format("{} round {}: other processes used {:.3f} cores", bench_.name, number, round->other_cores);
      round->repeats = repeats;
      round->noisy = round->other_cores > kOthersAtMost;
      if (!round->noisy) {
        say(head);
        return round;
      }
      if (repeats == kRepeatsAtMost || !has_time()) {
        say(fmt::format("{}, more than {} after {} repetitions: kept, noisy", head, kOthersAtMost, repeats));
        return round;
      }
      say(fmt::format("{}, more than {}: again ({} of {})", head, kOthersAtMost, repeats + 1, kRepeatsAtMost));
    }
  }

  const Bench& bench_;
  const BenchOptions& options_;
  const int64_t start_ns_;
  double round_s_ = 0;
};

}  // namespace

double median(std::vector<double> values) {
  if (values.empty()) return 0;
  std::sort(values.begin(), values.end());
  const size_t middle = values.size() / 2;
  return values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

Spread BenchResult::row(size_t i) const {
  return spread(rounds, [i](const BenchRound& round) { return round.values[i]; });
}

Spread BenchResult::ratio(size_t i) const {
  return spread(rounds, [i](const BenchRound& round) { return round.ratios[i]; });
}

bool BenchResult::noisy() const {
  return std::any_of(rounds.begin(), rounds.end(), [](const BenchRound& round) { return round.noisy; });
}

Result<BenchResult> run_bench(const Bench& bench, const BenchOptions& options) { return Run(bench, options).rounds(); }

bool meets(const BenchTarget& target, double value) {
  return target.at_least ? value >= target.bound : value <= target.bound;
}

bool passes(const Bench& bench, const BenchResult& result) {
  return !result.rounds.empty() && result.digest_equal.value_or(true) &&
         std::all_of(bench.targets.begin(), bench.targets.end(),
                     [&](const BenchTarget& target) { return meets(target, target.value(result)); });
}

BenchSample with_cpu_time(const std::function<double()>& work) {
  const double before = cpu_seconds();
  const double value = work();
  return {value, cpu_seconds() - before};
}

}  // namespace headpond::cli
