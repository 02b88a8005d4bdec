// SPDX-License-Identifier: Apache-2.0
// headpond diagnose: why a step that takes batches of a pipeline file waits, what to change, and what that gains.
#include <fmt/core.h>

#include <chrono>
#include <memory>
#include <thread>

#include "cli/session.h"
#include "cli/verbs/session_log.h"
#include "cli/verbs/verbs.h"
#include "headpond/base/clock.h"
#include "headpond/engine/loader.h"
#include "headpond/monitor/run/run_record.h"
#include "headpond/monitor/run/verdict_json.h"
#include "headpond/plan/plan_file.h"

namespace headpond::cli {
namespace {

struct DiagnoseFlags {
  std::vector<std::string> files;
  std::string run;
  double seconds = 10, step_ms = 0;
  int threads = -1;
  std::optional<int64_t> memory;
  bool check = false;
};

void declare(Flags& flags, DiagnoseFlags& to) {
  flags.words("FILE.toml", to.files, "a pipeline file (docs/plan_files.md)");
  flags.option("run DIR", to.run,
               "instead of a pipeline file: say it of the run that wrote these files, which may go on");
  flags.option_from(0, "seconds S", to.seconds, "time limit of the run, in seconds (default: 10)");
  flags.option_from(0, "step-ms MS", to.step_ms, "how long a step of the training takes, in ms (default: 0)");
  flags.option_from(0, "threads", to.threads, "compute threads; 0: the calling thread only (default: all CPUs)");
  flags.bytes("memory", to.memory, "memory for elements that are prepared ahead, as 64M or 2G (default: 1G)");
  flags.flag("check", to.check, "exit 3 unless the step is what limits (device_bound)");
}

// Takes batches as a training does: epoch after epoch, with a pause for each step.
Result<Verdict> verdict_of(Session& session, const plan::PlanFile& plan, const DiagnoseFlags& flags, uint64_t seed) {
  const auto slots = plan.dataset.cardinality();
  LoaderOptions options{.epochs = slots == kEndless ? 1 : -1, .seed = seed, .threads = flags.threads};
  if (flags.memory) options.memory = *flags.memory;
  const auto log = SessionLog::open_if_named(session);
  if (!log) return fail(log.error());
  Loader loader(plan.dataset, options);
  RunLog::Watch watched;
  if (*log) watched = (**log)->watch(loader);
  const auto step = std::chrono::duration<double, std::milli>(flags.step_ms);
  const int64_t begin = now_ns();
  while (static_cast<double>(now_ns() - begin) * 1e-9 < flags.seconds && !session.stop().stop_requested()) {
    const auto batch = loader.next();
    if (at_end(batch)) break;
    if (!batch) return fail(batch.error().kind(), fmt::format("{}: {}", flags.files[0], with_causes(batch.error())));
    if (flags.step_ms > 0) std::this_thread::sleep_for(step);
  }
  return loader.diagnose();
}

// Of its pipeline for which the program waited most.
Result<Verdict> verdict_of_run(const std::string& folder) {
  const auto run = read_run(folder);
  if (!run) return fail(run.error());
  const PipelineRecord* const most = most_waited_for(run->pipelines);
  if (most == nullptr) {
    return fail(ErrorKind::FailedPrecondition, folder + ": the run watched no pipeline, or for less than a second");
  }
  return most->verdict;
}

Result<Verdict> verdict_of(Session& session, const DiagnoseFlags& flags) {
  if (!flags.run.empty()) {
    if (flags.files.empty()) return verdict_of_run(flags.run);
    throw Exception(Error(ErrorKind::InvalidArgument, "diagnose takes a pipeline file or --run DIR, not both"));
  }
  const plan::PlanFile plan = plan::read_plan_file(only_file("diagnose", flags.files));
  const uint64_t seed = session.common().seed_given ? session.common().seed : plan.seed.value_or(0);
  session.set_seed(seed);
  return verdict_of(session, plan, flags, seed);
}

Result<Report> run(Session& session, const DiagnoseFlags& flags) {
  const auto verdict = verdict_of(session, flags);
  if (!verdict) return fail(verdict.error());
  if (session.interrupt().requested()) return fail(ErrorKind::Cancelled, "interrupted");
  std::string text = verdict->to_string();
  text.pop_back();
  session.say(text);
  return Report{.exit_code = flags.check && verdict->code != ReasonCode::device_bound ? kTargetMissed : kOk,
                .members = [verdict = *verdict](JsonWriter& json) { write_verdict(json, verdict); }};
}

}  // namespace

Verb diagnose_verb() {
  const auto flags = std::make_shared<DiagnoseFlags>();
  return {.path = "diagnose",
          .what = "say why a training that takes these batches would wait, what to change, and what that gains",
          .declare = [flags](Flags& to) { declare(to, *flags); },
          .run = [flags](Session& session) { return run(session, *flags); },
          .default_seed = "the file's, else 0",
          .has_logdir = true};
}

}  // namespace headpond::cli
