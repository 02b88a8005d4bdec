// SPDX-License-Identifier: Apache-2.0
#include "cli/verbs/train_report.h"

#include <fmt/core.h>

#include <filesystem>

#include "cli/json_members.h"

namespace headpond::cli {

void declare_checkpoints(Flags& flags, CheckpointFlags& to, int64_t save_steps) {
  to.save_steps = save_steps;
  flags.option("max-steps N", to.max_steps, "end at this step; steps of earlier runs count");
  flags.option("model-dir DIR", to.model_dir, "folder for checkpoints; training resumes from the newest");
  flags.option_from(1, "save-steps", to.save_steps,
                    fmt::format("steps between checkpoints, each with an evaluation (default: {})", save_steps));
  flags.choice("resume", to.resume, {"auto", "never"}, "never: refuse a --model-dir that has checkpoints");
  flags.flag("from-scratch", to.from_scratch, "remove the checkpoints in --model-dir, and begin anew");
}

namespace {

Result<void> refuse_checkpoints(const std::string& model_dir) {
  std::error_code ignored;
  if (!std::filesystem::exists(model_dir, ignored)) return {};
  const auto folder = CheckpointFolder::open(model_dir);
  if (!folder) return fail(folder.error());
  const auto steps = folder->steps();
  if (!steps) return fail(steps.error());
  if (steps->empty()) return {};
  return fail(ErrorKind::FailedPrecondition,
              fmt::format("{}: it has a checkpoint of step {}; --from-scratch removes it, --resume auto goes on",
                          model_dir, steps->back()));
}

}  // namespace

Result<RunConfig> config_of(const CheckpointFlags& flags, uint64_t seed, const std::vector<std::string>& in) {
  const bool refuses = flags.resume == "never" && !flags.from_scratch && !flags.model_dir.empty();
  for (const std::string& folder : in) {
    if (refuses) HEADPOND_TRY(refuse_checkpoints(flags.model_dir + folder));
  }
  return RunConfig{
      .model_dir = flags.model_dir, .save_steps = flags.save_steps, .seed = seed, .from_scratch = flags.from_scratch};
}

void write_training(JsonWriter& json, const TrainingReport& report, const std::vector<double>& losses) {
  member_or_null(json, "resumed_from", report.resumed_from);
  json.member("steps", report.last_step).key("checkpoints").begin_array();
  for (const CheckpointWritten& one : report.checkpoints) {
    json.begin_object().member("step", one.step).member("bytes", one.bytes).member("write_ms", one.write_ms);
    json.member("stall_ms", one.stall_ms).end_object();
  }
  json.end_array().key("losses").begin_array();
  for (const double loss : losses) json.value(fmt::format("{:a}", loss));
  json.end_array();
}

}  // namespace headpond::cli
