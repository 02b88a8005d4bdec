// SPDX-License-Identifier: Apache-2.0
// headpond stalls: how much of a step is lost to preparing data, and how much to fetching it.
#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <memory>
#include <optional>
#include <string_view>
#include <thread>

#include "cli/bench/bench_harness.h"
#include "cli/session.h"
#include "cli/verbs/cold_files.h"
#include "cli/verbs/verbs.h"
#include "headpond/base/clock.h"
#include "headpond/base/log.h"
#include "headpond/engine/loader.h"
#include "headpond/io/file/file.h"
#include "headpond/plan/plan_file.h"

namespace headpond::cli {
namespace {

struct StallsFlags {
  std::vector<std::string> files;
  double step_ms = -1;
  int64_t records = 10'000, batches = 50, rounds = 3;
};

void declare(Flags& flags, StallsFlags& to) {
  flags.words("FILE.toml", to.files, "a pipeline file (docs/plan_files.md)");
  flags.option_from(0, "step-ms MS", to.step_ms, "how long a step of the training takes, in ms");
  flags.option_from(1, "records", to.records, "elements of the file's first step that are used (default: 10000)");
  flags.option_from(1, "batches", to.batches, "batches that are taken in each way and round (default: 50)");
  flags.option_from(1, "rounds", to.rounds, "rounds, in which the ways take turns (default: 3)");
}

enum class Way : uint8_t { ready, memory, warm, cold };
constexpr std::array kWays = {Way::ready, Way::memory, Way::warm, Way::cold};
constexpr std::array kNames = {"ready", "memory", "warm", "cold"};
constexpr std::array kMeanings = {"a batch that is ready", "records in memory", "warm files", "cold files"};

// The pipeline of the first elements that its first step gives, kept in memory if `cached`.
plan::PlanFile plan_of(const std::string& text, const std::string& path, int64_t records, bool cached) {
  constexpr std::string_view kStep = "[[step]]";
  const size_t first = text.find(kStep);
  const size_t second = first == std::string::npos ? first : text.find(kStep, first + kStep.size());
  std::string more = fmt::format("[[step]]\nop = \"take\"\nargs = {{ count = {} }}\n", records);
  if (cached) more += "[[step]]\nop = \"cache\"\n";
  std::string made = text;
  second == std::string::npos ? made.append("\n" + more) : made.insert(second, more);
  return plan::parse_plan(made, path);
}

void step(double ms) {
  if (ms > 0) std::this_thread::sleep_for(std::chrono::duration<double, std::milli>(ms));
}

double ms_since(int64_t begin_ns) { return static_cast<double>(now_ns() - begin_ns) * 1e-6; }

// Milliseconds a step, but for the wait for the first batch.
Result<double> measure_loader(const Dataset& dataset, uint64_t seed, const StallsFlags& flags, int64_t skipped_epochs) {
  Loader loader(dataset, {.epochs = 1 + skipped_epochs, .seed = seed});
  for (int64_t i = 0; i < skipped_epochs; ++i) {
    while (true) {
      const auto batch = loader.next_in_epoch();
      if (at_end(batch)) break;
      if (!batch) return fail(batch.error());
    }
  }
  int64_t taken = 0, begin = 0;
  for (; taken <= flags.batches; ++taken) {
    const auto batch = loader.next();
    if (at_end(batch)) break;
    if (!batch) return fail(batch.error());
    if (taken == 0) begin = now_ns();
    step(flags.step_ms);
  }
  if (taken < 2) return fail(ErrorKind::InvalidArgument, "fewer than two batches: use more --records");
  return ms_since(begin) / static_cast<double>(taken);
}

double measure_ready(const StallsFlags& flags) {
  const int64_t begin = now_ns();
  for (int64_t i = 0; i < flags.batches; ++i) step(flags.step_ms);
  return ms_since(begin) / static_cast<double>(flags.batches);
}

struct Stalls {
  std::array<double, kWays.size()> step_ms = {};           // Medians.
  double preparation = 0, fetch_warm = 0, fetch_cold = 0;  // Of the steps with cold files.
  double most = 1;                                         // How many times as fast with batches that are always ready.
};

Stalls stalls_of(const std::array<std::vector<double>, kWays.size()>& samples) {
  Stalls stalls;
  for (size_t i = 0; i < kWays.size(); ++i) stalls.step_ms[i] = median(samples[i]);
  const auto [ready, memory, warm, cold] = stalls.step_ms;
  const auto share = [cold = cold](double ms) { return cold > 0 ? std::max(ms, 0.0) / cold : 0; };
  stalls.preparation = share(memory - ready);
  stalls.fetch_warm = share(warm - memory);
  stalls.fetch_cold = share(cold - memory);
  stalls.most = ready > 0 ? std::max(cold / ready, 1.0) : 1;
  return stalls;
}

Result<Stalls> measure(Session& session, const StallsFlags& flags) {
  const std::string& path = only_file("stalls", flags.files);
  const auto bytes = read_file(path);
  if (!bytes) return fail(bytes.error());
  const std::string text(reinterpret_cast<const char*>(bytes->data()), bytes->size());
  const auto plan = [&](bool cached) { return plan_of(text, path, flags.records, cached); };
  const SourceFiles files = files_of(plan(false).dataset);
  if (!files.are_all)
    log(LogLevel::warning, path + ": the list of files is too long: some are not made cold; a pattern has all");
  const uint64_t seed = session.common().seed_given ? session.common().seed : plan(false).seed.value_or(0);
  session.set_seed(seed);
  std::array<std::vector<double>, kWays.size()> samples;
  for (int64_t round = 0; round < flags.rounds; ++round) {
    for (const Way way : kWays) {
      if (session.stop().stop_requested()) return fail(ErrorKind::Cancelled, "interrupted");
      if (way == Way::cold) make_cold(files.paths);
      // Each way has a dataset of its own: one that lives keeps the files that it has read in memory.
      const auto ms = way == Way::ready    ? Result<double>(measure_ready(flags))
                      : way == Way::memory ? measure_loader(plan(true).dataset, seed, flags, 1)
                                           : measure_loader(plan(false).dataset, seed, flags, 0);
      if (!ms) return fail(ms.error().kind(), fmt::format("{}: {}", path, with_causes(ms.error())));
      samples[static_cast<size_t>(way)].push_back(*ms);
    }
  }
  return stalls_of(samples);
}

void tell(const Session& session, const Stalls& stalls) {
  for (size_t i = 0; i < kWays.size(); ++i) {
    session.say(fmt::format("{:<22} {:9.3f} ms a step", kMeanings[i], stalls.step_ms[i]));
  }
  session.say(
      fmt::format("lost to preparing: {:.1f} % of a step; to fetching: {:.1f} % with warm files, {:.1f} % with "
                  "cold ones; most to gain: {:.2f} times as fast",
                  100 * stalls.preparation, 100 * stalls.fetch_warm, 100 * stalls.fetch_cold, stalls.most));
}

Result<Report> run(Session& session, const StallsFlags& flags) {
  if (flags.step_ms < 0) throw Exception(Error(ErrorKind::InvalidArgument, "stalls needs --step-ms"));
  const auto stalls = measure(session, flags);
  if (!stalls) return fail(stalls.error());
  tell(session, *stalls);
  return Report{.members = [stalls = *stalls](JsonWriter& json) {
    json.key("step_ms").begin_object();
    for (size_t i = 0; i < kWays.size(); ++i) json.member(kNames[i], stalls.step_ms[i]);
    json.end_object().member("preparation_stall", stalls.preparation).member("fetch_stall_warm", stalls.fetch_warm);
    json.member("fetch_stall_cold", stalls.fetch_cold).member("most_gain", stalls.most);
  }};
}

}  // namespace

Verb stalls_verb() {
  const auto flags = std::make_shared<StallsFlags>();
  return {.path = "stalls",
          .what = "measure how much of a step is lost to preparing data, and how much to fetching it",
          .declare = [flags](Flags& to) { declare(to, *flags); },
          .run = [flags](Session& session) { return run(session, *flags); },
          .default_seed = "the file's, else 0"};
}

}  // namespace headpond::cli
