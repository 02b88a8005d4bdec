// SPDX-License-Identifier: Apache-2.0
// Scenario 2: the verdict on a program that waits for data.
#include "cli/bench/busy.h"
#include "cli/bench/verdict/planted_mistakes.h"
#include "headpond/base/trace.h"
#include "headpond/monitor/run_log.h"
#include "scenario.h"

namespace headpond::scenarios {
namespace {

void write(JsonWriter& figures, const char* name, const cli::PlantedRun& run, bool is_found) {
  figures.begin_object().member("name", name).member("right", is_found).member("code", to_string(run.verdict.code));
  figures.member("text", run.verdict.to_string()).member("wait_error", run.wait_error());
}

void find(const cli::PlantedMistake& what, int64_t steps, JsonWriter& figures) {
  const auto before = value_or_throw(cli::run_planted(what.make(steps), steps));
  const std::vector<Change>& changes = before.verdict.changes;
  const bool is_found = what.is_found_by(before.verdict);
  write(figures, what.name, before, is_found);
  if (what.changed != nullptr && is_found && !changes.empty()) {
    const auto after = value_or_throw(cli::run_planted(what.changed(changes[0], steps), steps));
    figures.member("told", changes[0].gain).member("gained", after.steps_per_s / before.steps_per_s);
  }
  figures.end_object();
}

void find_all(const Run& run, JsonWriter& figures) {
  const int64_t steps = run.full ? 400 : 150;
  figures.key("planted").begin_array();
  for (const cli::PlantedMistake& what : cli::planted_mistakes()) {
    if (run.text("only").empty() || run.text("only") == what.name) find(what, steps, figures);
  }
  figures.end_array().key("silent").begin_array();
  for (const cli::PlantedMistake& what : cli::runs_without_a_mistake()) find(what, steps, figures);
  figures.end_array();
}

// Two broken libraries: one measures the wait after a buffer, one takes a stage for its neighbour.
void find_wrongly(JsonWriter& figures) {
  constexpr int64_t kSteps = 60;
  figures.key("planted").begin_array();
  for (const cli::PlantedMistake& what : cli::planted_mistakes()) {
    auto run = value_or_throw(cli::run_planted(what.make(kSteps), kSteps));
    if (run.stages.size() < 2) continue;  // There is nothing to swap.
    run.verdict = cli::with_stages_swapped(run);
    write(figures, what.name, run, what.is_found_by(run.verdict));
    figures.end_object();
  }
  const auto buffered =
      value_or_throw(cli::run_planted(cli::slow_input(kSteps), kSteps, {}, cli::TakeFrom::after_a_buffer));
  write(figures, "after a buffer", buffered, false);
  figures.end_object().end_array();
}

// Seconds of 20 batches, with and without a trace in turn; the input limits.
void cost_of_a_trace(JsonWriter& figures) {
  const Step compute = map([](int64_t x) {
    cli::compute_us(100);
    return x;
  });
  Loader loader(range(int64_t{1} << 40) | compute | batch(32));
  const auto batches = [&] {
    const int64_t began = now_ns();
    for (int i = 0; i < 20; ++i) must_next(loader);
    return ms_since(began);
  };
  std::vector<double> with, without;
  (void)batches();
  for (int i = 0; i < 60; ++i) {
    without.push_back(batches());
    trace::start(16384, trace::Keep::newest);
    with.push_back(batches());
    trace::stop();
  }
  member(figures, "traced_ms", with);
  member(figures, "untraced_ms", without);
}

void leave_files(const std::string& folder, JsonWriter& figures) {
  const auto log = value_or_throw(RunLog::open(folder));
  Loader loader(cli::slow_input(60).dataset);
  auto watch = log->watch(loader);
  while (auto batch = loader.next()) {
    const auto step = log->step();
    sleep_us(20'000);
  }
  watch.reset();
  value_or_throw(log->close());
  figures.member("folder", folder);
}

}  // namespace

void starved_trainer(const Run& run, JsonWriter& figures) {
  if (run.control()) return find_wrongly(figures);
  find_all(run, figures);
  cost_of_a_trace(figures);
  leave_files(run.place + "/run", figures);
}

}  // namespace headpond::scenarios
