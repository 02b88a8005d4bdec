// SPDX-License-Identifier: Apache-2.0
// headpond train spoken: spoken digits by train_and_evaluate, whose inputs stay warm.
#include <fmt/core.h>

#include <memory>
#include <utility>

#include "cli/json_members.h"
#include "cli/session.h"
#include "cli/verbs/session_log.h"
#include "cli/verbs/train_report.h"
#include "cli/verbs/verbs.h"
#include "headpond/base/cpu.h"
#include "headpond/train/articles/spoken.h"

namespace headpond::cli {
namespace {

struct SpokenFlags {
  SpokenOptions options;
  CheckpointFlags checkpoints;
  std::string inputs = "warm", prepare = "sleep";
  std::optional<double> prepare_ms, train_ms;
  double scale = 1;
};

void declare(Flags& flags, SpokenFlags& to) {
  SpokenOptions& o = to.options;
  flags.option("data DIR", o.folder, "folder of WAV files <digit>_<speaker>_<index>.wav (default: drawn tones)");
  flags.option("leave-speaker NAME", o.leave_speaker, "test by this speaker's files (default: indices 0 to 4 of all)");
  flags.option_from(1, "epochs", o.run.epochs, "epochs of the training (default: 30)");
  flags.option_from(1, "batch", o.batch, "words in a batch (default: 128)");
  flags.option_from(0, "lr", o.lr, "Adam's learning rate at the start; it falls to 0 (default: 2e-3)");
  flags.option_from(1, "torch-threads", o.torch_threads, "threads of libtorch (default: 1)");
  flags.choice(
      "inputs", to.inputs, {"warm", "fresh", "turn"},
      "warm: made once, and kept for all evaluations; fresh: made anew after each evaluation; turn: a batch is "
      "made when it is asked for");
  flags.option_from(0, "prepare-ms", to.prepare_ms,
                    "with --train-ms: learn nothing; preparing a batch takes this long, and a step sleeps --train-ms");
  flags.option_from(0, "train-ms", to.train_ms, "see --prepare-ms");
  flags.option_from(0, "scale", to.scale, "factor for both times; 0.01 turns 2000 ms into 20 ms (default: 1)");
  flags.choice("prepare", to.prepare, {"sleep", "compute"}, "how to spend --prepare-ms");
  flags.flag("shift-labels", o.shift_labels, "a control: each label of the training is wrong by one");
  declare_checkpoints(flags, to.checkpoints, 200);
}

[[noreturn]] void refuse(const std::string& what) { throw Exception(Error(ErrorKind::InvalidArgument, what)); }

// All but the seed and what needs files.
SpokenOptions options_of(const SpokenFlags& flags) {
  SpokenOptions options = flags.options;
  options.run.max_steps = flags.checkpoints.max_steps;
  options.run.inputs = flags.inputs == "warm"    ? SpokenInputs::warm
                       : flags.inputs == "fresh" ? SpokenInputs::fresh
                                                 : SpokenInputs::turn;
  if (flags.prepare_ms.has_value() != flags.train_ms.has_value()) refuse("--prepare-ms and --train-ms need each other");
  if (flags.prepare_ms) {
    options.pace = SpokenPace{.prepare_s = 1e-3 * flags.scale * *flags.prepare_ms,
                              .train_s = 1e-3 * flags.scale * *flags.train_ms,
                              .computes = flags.prepare == "compute"};
  }
  return options;
}

std::optional<double> step_over_limit(const SpokenOptions& options, const SpokenRun& run) {
  const double limit = options.pace ? limit_s(*options.pace, cpu_count()) : 0;
  return limit > 0 ? std::optional(run.clock.step_s() / limit) : std::nullopt;
}

void write_evaluations(JsonWriter& json, const std::vector<SpokenEvaluation>& evaluations) {
  json.key("evaluations").begin_array();
  for (const SpokenEvaluation& one : evaluations) {
    json.begin_object().member("step", one.evaluation.step).key("metrics").begin_object();
    for (const auto& [name, metric] : one.evaluation.metrics) json.member(name, metric.value());
    json.end_object().member("first_wait_ms", one.first_wait_ms);
    member_or_null(json, "next_wait_ms", one.next_wait_ms);
    json.member("files_opened", one.files_opened).member("bytes_read", one.bytes_read).end_object();
  }
  json.end_array();
}

void write_confusion(JsonWriter& json, const SpokenResult& result) {
  json.key("confusion").begin_array();
  for (const auto& row : result.confusion) {
    json.begin_array();
    for (const int64_t count : row) json.value(count);
    json.end_array();
  }
  json.end_array();
}

// `is_whole`: no signal ended the run.
void write_members(JsonWriter& json, const SpokenOptions& options, const SpokenResult& result, bool is_whole) {
  json.member("name", "spoken").member("parameters", result.parameters).key("files").begin_object();
  json.member("train", result.train_files).member("test", result.test_files).end_object();
  if (is_whole) {
    member_or_null(json, "accuracy", result.accuracy);
    write_confusion(json, result);
  }
  json.member("step_s", result.run.clock.step_s());
  member_or_null(json, "step_over_limit", step_over_limit(options, result.run));
  json.member("wait_share", result.run.clock.wait_share());
  json.key("memory").begin_object().member("peak_bytes", result.run.memory_peak);
  json.member("budget_bytes", options.run.config.memory).end_object();
  write_evaluations(json, result.run.evaluations);
  write_training(json, result.run.report, result.run.losses);
}

void tell(const Session& session, const SpokenOptions& options, const SpokenResult& result) {
  const SpokenRun& run = result.run;
  if (run.report.resumed_from) session.say(fmt::format("went on from step {}", *run.report.resumed_from));
  session.say(fmt::format("{} words for the training, {} for the test; {} values", result.train_files,
                          result.test_files, result.parameters));
  for (const SpokenEvaluation& one : run.evaluations) {
    const auto& metrics = one.evaluation.metrics;
    const auto accuracy = metrics.find("accuracy");
    session.say(fmt::format(
        "step {}: {}waited {:.1f} ms for the first batch; {} files opened", one.evaluation.step,
        accuracy == metrics.end()
            ? ""
            : fmt::format("test accuracy {:.4f}, loss {:.4f}; ", accuracy->second.value(), metrics.at("loss").value()),
        one.first_wait_ms, one.files_opened));
  }
  session.say(fmt::format("{} steps of {:.4f} s in {:.1f} s; the training waited {:.1f} % of the time",
                          run.losses.size(), run.clock.step_s(), result.wall_s, 100 * run.clock.wait_share()));
  if (const auto ratio = step_over_limit(options, run))
    session.say(fmt::format("a step takes {:.3f} times the least that it can", *ratio));
}

Result<Report> run(Session& session, const SpokenFlags& flags) {
  SpokenOptions options = options_of(flags);
  auto config = config_of(flags.checkpoints, session.common().seed);
  if (!config) return fail(config.error());
  options.run.config = std::move(*config);
  check_spoken_run(options.run);  // Before any file is written.
  auto log = SessionLog::open(session);
  if (!log) return fail(log.error());
  SpokenResult so_far;
  const auto result =
      train_spoken(options, {.stop = session.stop(), .log = log->get(), .progress = session.progress()}, &so_far);
  log->end();
  if (!result) {
    return ended_early(session, *log, result.error(),
                       [&](JsonWriter& json) { write_members(json, options, so_far, false); });
  }
  tell(session, options, *result);
  return told(session, *log,
              [options, result = *result](JsonWriter& json) { write_members(json, options, result, true); });
}

}  // namespace

Verb train_spoken_verb() {
  const auto flags = std::make_shared<SpokenFlags>();
  return {.path = "train spoken",
          .what = kTrainSpokenWhat,
          .declare = [flags](Flags& to) { declare(to, *flags); },
          .run = [flags](Session& session) { return run(session, *flags); },
          .default_seed = "7",
          .has_progress = true,
          .default_logdir = kNewFolder};
}

}  // namespace headpond::cli
