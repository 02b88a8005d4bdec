// SPDX-License-Identifier: Apache-2.0
// headpond explain: how the engine will run a pipeline file, and why.
#include <fmt/core.h>

#include <cstdio>
#include <memory>
#include <utility>

#include "cli/session.h"
#include "cli/verbs/loader_bar.h"
#include "cli/verbs/session_log.h"
#include "cli/verbs/verbs.h"
#include "headpond/engine/loader.h"
#include "headpond/plan/plan_file.h"
#include "headpond/plan/shown/analysis.h"
#include "headpond/plan/shown/explain_format.h"

namespace headpond::cli {
namespace {

struct ExplainFlags {
  std::vector<std::string> files;
  std::string format = "text";
  bool analyze = false;
  double seconds = 2;
};

void declare(Flags& flags, ExplainFlags& to) {
  flags.words("FILE.toml", to.files, "a pipeline file (docs/plan_files.md)");
  flags.choice("format", to.format, {"text", "json", "dot", "mermaid", "html"}, "output format");
  flags.flag("analyze", to.analyze, "also run the pipeline and measure what each operator costs");
  flags.option_from(0, "seconds S", to.seconds, "time limit of that run, in seconds (default: 2)");
}

Result<plan::Analysis> analysis_of(Session& session, const plan::PlanFile& plan, const ExplainFlags& flags,
                                   uint64_t seed) {
  const auto log = SessionLog::open_if_named(session);
  if (!log) return fail(log.error());
  Loader loader(plan.dataset, {.seed = seed});
  RunLog::Watch watched;
  if (*log) watched = (**log)->watch(loader);
  Progress bar(loader_bar(session, loader, "explain"));
  int64_t shown = 0;
  auto analysis = plan::analysed(loader, flags.seconds, [&](int64_t taken) {
    bar.update(taken - std::exchange(shown, taken));
    return session.stop().stop_requested();
  });
  bar.close();
  if (analysis) return analysis;
  const Error& error = analysis.error();
  return fail(error.kind(), fmt::format("{}: {}", flags.files[0], with_causes(error)));
}

Result<Report> run(Session& session, const ExplainFlags& flags) {
  const plan::PlanFile plan = plan::read_plan_file(only_file("explain", flags.files));
  const uint64_t seed = session.common().seed_given ? session.common().seed : plan.seed.value_or(0);
  session.set_seed(seed);
  plan::ExplainReport report{flags.files[0], plan.dataset, explain(plan.dataset)};
  if (flags.analyze) {
    auto analysis = analysis_of(session, plan, flags, seed);
    if (!analysis) return fail(analysis.error());
    if (session.interrupt().requested()) return fail(ErrorKind::Cancelled, "interrupted");
    report.analysis = std::move(*analysis);
  }
  std::string text = plan::explain_as(report, flags.format);
  text.pop_back();
  session.say(text);
  return Report{.members = [report](JsonWriter& json) { plan::write_explanation(json, report); }};
}

}  // namespace

Verb explain_verb() {
  const auto flags = std::make_shared<ExplainFlags>();
  return {.path = "explain",
          .what = "show how the engine will run a pipeline file, and why",
          .declare = [flags](Flags& to) { declare(to, *flags); },
          .run = [flags](Session& session) { return run(session, *flags); },
          .default_seed = "the file's, else 0",
          .has_progress = true,
          .default_logdir = kNoFolder,
          .writes_none = [flags] { return std::string(flags->analyze ? "" : "without --analyze"); }};
}

}  // namespace headpond::cli
