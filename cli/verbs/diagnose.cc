// SPDX-License-Identifier: Apache-2.0
// headpond diagnose: why a step that takes batches of a pipeline file waits, what to change, and what that gains.
#include <fmt/core.h>

#include <memory>

#include "cli/session.h"
#include "cli/verbs/take_batches.h"
#include "cli/verbs/verbs.h"
#include "headpond/monitor/run/run_record.h"
#include "headpond/monitor/run/verdict_json.h"

namespace headpond::cli {
namespace {

struct DiagnoseFlags {
  TakeFlags take;
  std::string run;
  bool check = false;
};

void declare(Flags& flags, DiagnoseFlags& to) {
  declare_take(flags, to.take);
  flags.option("run DIR", to.run, "instead of a pipeline file: diagnose the run in this folder, ended or not");
  flags.flag("check", to.check, "exit 3 unless the step is what limits (device_bound)");
}

Result<Report> run(Session& session, const DiagnoseFlags& flags) {
  const auto taken = taken_or_of_run(session, "diagnose", flags.take, flags.run, most_waited_for);
  if (!taken) return fail(taken.error());
  const Verdict& verdict = taken->verdict;
  if (session.interrupt().requested()) return fail(ErrorKind::Cancelled, "interrupted");
  std::string text = verdict.to_string();
  text.pop_back();
  session.say(text);
  return Report{.exit_code = flags.check && verdict.code != ReasonCode::device_bound ? kTargetMissed : kOk,
                .members = [verdict](JsonWriter& json) { write_verdict(json, verdict); }};
}

}  // namespace

Verb diagnose_verb() {
  const auto flags = std::make_shared<DiagnoseFlags>();
  return {.path = "diagnose",
          .what = "say why a training that takes these batches would wait, what to change, and what that gains",
          .declare = [flags](Flags& to) { declare(to, *flags); },
          .run = [flags](Session& session) { return run(session, *flags); },
          .default_seed = "the file's, else 0",
          .has_progress = true,
          .default_logdir = kNoFolder,
          .writes_none = [flags] { return std::string(flags->run.empty() ? "" : "with --run"); }};
}

}  // namespace headpond::cli
