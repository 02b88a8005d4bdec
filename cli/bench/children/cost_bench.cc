// SPDX-License-Identifier: Apache-2.0
// trace.cost and stats.cost: what a trace, and what counting, adds to benches of calls that take nanoseconds.
#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <initializer_list>
#include <memory>
#include <optional>
#include <system_error>
#include <utility>

#include "cli/bench/benches.h"
#include "cli/bench/children/bench_costs.h"
#include "cli/bench/children/child_process.h"
#include "headpond/monitor/recording.h"
#include "headpond/monitor/run/trace_options.h"

namespace headpond::cli {
namespace {

constexpr double kMostCost = 1.01;
// Of queue.handoff: so long that what a trace does once for each thread and queue, 0.1 ms, is nothing.
constexpr int64_t kTimesTheItems = 10;
constexpr std::chrono::minutes kLongestChild(30);
constexpr const char* kCounts = "counts, as it was not built with -DHEADPOND_STATS=OFF";

// A bench, and which of its rows are Headpond's times.
struct Measured {
  Bench bench;
  // How often a round measures it. engine.tiny takes only 25 ms, so another program can disturb one measurement.
  int64_t times;
  std::vector<size_t> own = {};
};

std::vector<Measured> measured(BenchSetup setup) {
  setup.peers = false;
  std::vector<Measured> all;
  using Make = Bench (*)(const BenchSetup&);
  const std::initializer_list<std::pair<Make, int64_t>> benches = {
      {engine_tiny_bench, 15}, {loader_mnist_bench, 1}, {queue_handoff_bench, 1}};
  for (const auto& [make, times] : benches) {
    Measured one{.bench = make(setup), .times = times};
    for (size_t i = 0; i < one.bench.rows.size(); ++i) {
      if (one.bench.rows[i].system.starts_with("headpond") && one.bench.rows[i].unit == "ns") one.own.push_back(i);
    }
    all.push_back(std::move(one));
  }
  return all;
}

// How many times as much time the rows `first`, `first` + 2, ... take as the row after each, in the middle of all rows.
double cost_of(const BenchResult& result, size_t first, size_t pairs) {
  std::vector<double> costs;
  for (size_t i = 0; i < pairs; ++i) {
    std::vector<double> ratios;
    ratios.reserve(result.rounds.size());
    for (const BenchRound& round : result.rounds) {
      ratios.push_back(round.values[first + (2 * i)] / round.values[first + (2 * i) + 1]);
    }
    costs.push_back(median(std::move(ratios)));
  }
  return median(std::move(costs));
}

// Two rows for each row of Headpond's: `with` and without it. A target for each bench.
void declare_pairs(Bench& bench, const std::vector<Measured>& all, const std::string& with) {
  for (const Measured& one : all) {
    const size_t first = bench.rows.size(), pairs = one.own.size();
    for (const size_t i : one.own) {
      BenchRow row = one.bench.rows[i];
      row.name = fmt::format("{}: {}", one.bench.name, row.name);
      bench.rows.push_back(row);
      bench.rows.back().system += " " + with;
      bench.rows.push_back(row);
      bench.ratios.push_back({bench.rows.size() - 1, bench.rows.size() - 2});
    }
    bench.targets.push_back({fmt::format("{}.{}", bench.name, one.bench.name),
                             fmt::format("at most {} x the time in the middle of {} rows", kMostCost, pairs), false,
                             kMostCost,
                             [first, pairs](const BenchResult& result) { return cost_of(result, first, pairs); }});
  }
}

Samples here(const Measured& one, bool with_trace, const std::stop_token& stop) {
  std::optional<Recording> recording;
  if (with_trace) recording.emplace(TraceOptions().events_per_thread);
  const auto samples = one.bench.cycle(stop);
  if (!samples) return fail(samples.error());
  std::vector<BenchSample> own;
  own.reserve(one.own.size());
  for (const size_t i : one.own) own.push_back((*samples)[i]);
  return own;
}

std::filesystem::path this_program() { return std::filesystem::read_symlink("/proc/self/exe"); }

Samples in_program(const Measured& one, const std::string& program, bool counts, bool brief,
                   const std::stop_token& stop) {
  std::vector<std::string> words = {program, "bench",  one.bench.name, "--peers",
                                    "off",   "--json", "--rounds",     std::to_string(3 * one.times)};
  if (brief) words.insert(words.end(), {"--seconds", "0.001"});
  const auto said = run_child(words, stop, kLongestChild);
  if (!said) return fail(said.error());
  if (said->text.find(fmt::format("\"stats\":{}", counts)) == std::string::npos)
    return fail(ErrorKind::FailedPrecondition, fmt::format("{}: it {}", program, counts ? "does not count" : kCounts));
  std::vector<BenchSample> own;
  for (const size_t i : one.own) {
    const auto found = median_in(said->text, one.bench.rows[i]);
    if (!found) {
      return fail(ErrorKind::FailedPrecondition,
                  fmt::format("{} bench {}: no figure of '{}'", program, one.bench.name, one.bench.rows[i].name));
    }
    own.push_back({.value = *found});
  }
  return own;
}

bool all_agree(const std::vector<Measured>& all) {
  return std::all_of(all.begin(), all.end(), [](const Measured& one) { return one.bench.digest_equal(); });
}

}  // namespace

Samples side_by_side(bool with_first, const std::function<Samples(bool with)>& measure) {
  const auto first = measure(with_first);
  if (!first) return fail(first.error());
  const auto second = measure(!with_first);
  if (!second) return fail(second.error());
  std::vector<BenchSample> both;
  for (size_t i = 0; i < first->size(); ++i) {
    both.push_back(with_first ? (*first)[i] : (*second)[i]);
    both.push_back(with_first ? (*second)[i] : (*first)[i]);
  }
  return both;
}

Samples medians_of(int64_t times, const std::function<Samples(int64_t i)>& measure) {
  std::vector<BenchSample> all;
  std::vector<std::vector<double>> values;
  for (int64_t i = 0; i < times; ++i) {
    const auto samples = measure(i);
    if (!samples) return fail(samples.error());
    all.resize(samples->size());
    values.resize(samples->size());
    for (size_t row = 0; row < all.size(); ++row) {
      values[row].push_back((*samples)[row].value);
      all[row].cpu_s += (*samples)[row].cpu_s;
      all[row].pss_mib = std::max(all[row].pss_mib, (*samples)[row].pss_mib);
    }
  }
  for (size_t row = 0; row < all.size(); ++row) all[row].value = median(std::move(values[row]));
  return all;
}

std::optional<double> median_in(std::string_view json, const BenchRow& row) {
  const auto text = [&json](size_t from, std::string_view key) {
    const size_t at = json.find(fmt::format("\"{}\":", key), from);
    if (at == std::string_view::npos) return std::string_view();
    std::string_view rest = json.substr(at + key.size() + 3);
    rest.remove_prefix(std::min(rest.find_first_not_of(" \n"), rest.size()));
    if (!rest.starts_with('"')) return rest.substr(0, rest.find_first_of(",}\n"));
    return rest.substr(1, rest.find('"', 1) - 1);
  };
  for (size_t at = json.find("\"case\":"); at != std::string_view::npos; at = json.find("\"case\":", at + 1)) {
    if (text(at, "case") != row.name || text(at, "system") != row.system || text(at, "metric") != row.metric) continue;
    const std::string_view digits = text(at, "median");
    double median = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), median);
    const bool is_time = error == std::errc() && end == digits.data() + digits.size() && std::isfinite(median);
    return is_time && median > 0 ? std::optional(median) : std::nullopt;
  }
  return std::nullopt;
}

std::string program_without_stats(const BenchSetup& setup) {
  if (!setup.without_stats.empty()) return setup.without_stats;
  const auto built = this_program().parent_path().parent_path() / "no_stats" / "headpond";
  return std::filesystem::exists(built) ? built.string() : "";
}

Bench trace_cost_bench(const BenchSetup& setup) {
  Bench bench{.name = "trace.cost", .consume = "as each bench does", .round_s = 8};
  BenchSetup longer = setup;
  longer.items *= kTimesTheItems;
  const auto all = std::make_shared<std::vector<Measured>>(measured(longer));
  declare_pairs(bench, *all, "with a trace");
  bench.cycle = [all, with_first = true](const std::stop_token& stop) mutable -> Samples {
    std::vector<BenchSample> samples;
    with_first = !with_first;
    for (const Measured& one : *all) {
      const auto both = medians_of(one.times, [&](int64_t i) {
        return side_by_side(with_first == (i % 2 == 0), [&](bool with) { return here(one, with, stop); });
      });
      if (!both) return fail(both.error());
      samples.insert(samples.end(), both->begin(), both->end());
    }
    return samples;
  };
  bench.digest_equal = [all] { return all_agree(*all); };
  return bench;
}

Bench stats_cost_bench(const BenchSetup& setup) {
  Bench bench{.name = "stats.cost", .consume = "as each bench does"};
  const auto all = std::make_shared<std::vector<Measured>>(measured(setup));
  declare_pairs(bench, *all, "that counts");
  const std::string without = program_without_stats(setup), counts = this_program().string();
  const bool brief = setup.items < BenchSetup().items;
  bench.cycle = [=, with_first = true](const std::stop_token& stop) mutable -> Samples {
    std::vector<BenchSample> samples;
    with_first = !with_first;
    for (const Measured& one : *all) {
      const auto both = side_by_side(
          with_first, [&](bool with) { return in_program(one, with ? counts : without, with, brief, stop); });
      if (!both) return fail(both.error());
      samples.insert(samples.end(), both->begin(), both->end());
    }
    return samples;
  };
  return bench;
}

}  // namespace headpond::cli
