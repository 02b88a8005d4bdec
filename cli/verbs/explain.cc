// SPDX-License-Identifier: Apache-2.0
// headpond explain: how the engine will run a pipeline file, and why.
#include <fmt/core.h>

#include <cstdio>
#include <memory>
#include <utility>

#include "cli/session.h"
#include "cli/verbs/session_log.h"
#include "cli/verbs/verbs.h"
#include "headpond/base/clock.h"
#include "headpond/engine/loader.h"
#include "headpond/plan/plan_file.h"
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
  const int64_t begin = now_ns();
  const auto passed = [begin] { return static_cast<double>(now_ns() - begin) * 1e-9; };
  plan::Analysis analysis;
  for (; passed() < flags.seconds && !session.stop().stop_requested(); ++analysis.elements) {
    const auto batch = loader.next();
    if (at_end(batch)) break;
    if (!batch) return fail(batch.error().kind(), fmt::format("{}: {}", flags.files[0], with_causes(batch.error())));
  }
  analysis.seconds = passed();
  analysis.stats = loader.stats();
  return analysis;
}

std::string text_of(const plan::ExplainReport& report, const std::string& format) {
  if (format == "dot") return plan::explain_dot(report);
  if (format == "mermaid") return plan::explain_mermaid(report);
  if (format == "html") return plan::explain_html(report);
  if (format == "text") return plan::explain_text(report);
  JsonWriter json;
  json.begin_object();
  plan::write_explanation(json, report);
  json.end_object();
  return json.take() + "\n";
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
  std::string text = text_of(report, flags.format);
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
          .has_logdir = true};
}

}  // namespace headpond::cli
