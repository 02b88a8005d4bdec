// SPDX-License-Identifier: Apache-2.0
// headpond train blstm: how much time is saved by making batches ahead of an expensive training step.
#include <fmt/core.h>

#include <memory>
#include <utility>

#include "cli/json_members.h"
#include "cli/session.h"
#include "cli/text_table.h"
#include "cli/verbs/session_log.h"
#include "cli/verbs/verbs.h"
#include "headpond/train/articles/blstm.h"

namespace headpond::cli {
namespace {

struct BlstmFlags {
  BlstmOptions options;
  std::string feed = "all", generator = "std";
  bool full = false;
  std::optional<int64_t> steps;
};

void declare(Flags& flags, BlstmFlags& to) {
  BlstmOptions& o = to.options;
  flags.choice("feed", to.feed, {"feed", "queue", "loader", "all"},
               "feed: generate, then train; queue: a thread generates ahead; loader: a Loader with no settings "
               "generates ahead; all: these in turns, then feed with all cores");
  flags.choice("generator", to.generator, {"std", "headpond"},
               "generator of the normal numbers, the same in all modes");
  flags.option_from(1, "steps", to.steps, "steps in each mode (default: 6)");
  flags.flag("full", to.full, "50 steps in each mode, instead of --steps");
  flags.option_from(1, "capacity", o.capacity, "capacity of the queue, in batches (default: 4)");
  flags.option_from(1, "cores", o.cores, "CPUs of the trainer (default: 1)");
  flags.option_from(1, "torch-threads", o.torch_threads, "threads of libtorch (default: 1)");
  flags.option_from(1, "batch", o.batch, "samples in a batch (default: 400)");
  flags.option_from(1, "time", o.time, "time steps of a sample (default: 128)");
  flags.option_from(1, "features", o.features, "features of a time step (default: 512)");
  flags.option_from(1, "hidden", o.hidden, "units in each direction (default: 128)");
  flags.option_from(0, "lr", o.lr, "Adam's learning rate (default: 1e-3)");
}

BlstmOptions options_of(const BlstmFlags& flags, uint64_t seed) {
  if (flags.full && flags.steps)
    throw Exception(Error(ErrorKind::InvalidArgument, "--full and --steps exclude each other"));
  BlstmOptions options = flags.options;
  const bool all = flags.feed == "all";
  options.feed = all || flags.feed == "feed";
  options.queue = all || flags.feed == "queue";
  options.loader = all || flags.feed == "loader";
  options.all_cores = all;
  options.generator = flags.generator == "std" ? NormalSource::standard : NormalSource::headpond;
  options.steps = flags.steps.value_or(flags.full ? 50 : 6);
  options.seed = seed;
  return options;
}

void write_mode(JsonWriter& json, const char* name, const std::optional<BlstmMode>& mode) {
  if (!mode) return;
  json.key(name).begin_object().member("step_s", mode->step_s).member("generate_s", mode->generate_s);
  json.member("train_s", mode->train_s).member("wait_share", mode->wait_share).member("wait_s", mode->wait_s);
  json.member("first_wait_s", mode->first_wait_s).member("stopwatch_wait_s", mode->stopwatch_wait_s);
  json.key("losses").begin_array();
  for (const float loss : mode->losses) json.value(fmt::format("{:a}", loss));
  json.end_array().key("batch_digests").begin_array();
  for (const uint32_t digest : mode->batch_digests) json.value(fmt::format("{:08x}", digest));
  json.end_array().end_object();
}

void write_gains(JsonWriter& json, const char* name, const BlstmResult& result, double BlstmGain::*figure) {
  const auto of = [&](const std::optional<BlstmGain>& gain) {
    return gain ? std::optional((*gain).*figure) : std::nullopt;
  };
  json.key(name).begin_object();
  member_or_null(json, "queue", of(result.queue_gain));
  member_or_null(json, "loader", of(result.loader_gain));
  json.end_object();
}

void write_modes(JsonWriter& json, const BlstmResult& result) {
  json.member("name", "blstm").key("modes").begin_object();
  write_mode(json, "feed", result.feed);
  write_mode(json, "queue", result.queue);
  write_mode(json, "loader", result.loader);
  json.end_object();
}

void write_members(JsonWriter& json, const BlstmOptions& options, const BlstmResult& result) {
  write_modes(json, result);
  json.key("feed_all_cores");
  if (result.all_cores) {
    json.begin_object().member("step_s", result.all_cores->step_s).end_object();
  } else {
    json.value(nullptr);
  }
  write_gains(json, "saved_vs_feed", result, &BlstmGain::saved_vs_feed);
  member_or_null(json, "ceiling", result.ceiling);
  write_gains(json, "step_over_limit", result, &BlstmGain::step_over_limit);
  member_or_null(json, "losses_equal", result.losses_equal);
  json.key("rounds").begin_array();
  for (const BlstmRound& round : result.rounds) {
    json.begin_object().member("generate_s", round.generate_s).member("train_s", round.train_s);
    json.member("feed_step_s", round.feed_step_s).member("queue_step_s", round.queue_step_s);
    json.member("loader_step_s", round.loader_step_s).member("all_cores_step_s", round.all_cores_step_s).end_object();
  }
  json.end_array()
      .member("steps", options.steps)
      .member("generator", options.generator == NormalSource::standard ? "std" : "headpond");
}

std::string table(const BlstmResult& result) {
  std::vector<std::vector<std::string>> rows;
  const auto add = [&](const char* name, const std::optional<BlstmMode>& mode) {
    if (!mode) return;
    rows.push_back({name, fmt::format("{:.3f}", mode->step_s), fmt::format("{:.3f}", mode->generate_s),
                    fmt::format("{:.3f}", mode->train_s), fmt::format("{:.1f} %", 100 * mode->wait_share),
                    fmt::format("{:.3f}", mode->first_wait_s)});
  };
  add("feed", result.feed);
  add("queue", result.queue);
  add("loader", result.loader);
  add("feed, all cores", result.all_cores);
  return format_table({{.head = "mode"},
                       {.head = "s/step", .right = true},
                       {.head = "generate s", .right = true},
                       {.head = "train s", .right = true},
                       {.head = "wait share", .right = true},
                       {.head = "first wait s", .right = true}},
                      rows);
}

void tell(const Session& session, const BlstmOptions& options, const BlstmResult& result) {
  session.say("\n" + table(result));
  session.say(fmt::format(
      "The trainer has {} core(s) in feed, queue and loader mode, as a stand-in for a device. The means exclude the "
      "first step of each block, which waits for the first batch.",
      options.cores));
  if (!result.losses_equal) return;
  for (const auto& [name, gain] : {std::pair{"queue", result.queue_gain}, {"loader", result.loader_gain}}) {
    if (!gain) continue;
    session.say(fmt::format(
        "{}: saves {:.1f} % of feed's time (ceiling {:.1f} %: generate / (generate + train)); step / max(generate, "
        "train) {:.3f}",
        name, 100 * gain->saved_vs_feed, 100 * *result.ceiling, gain->step_over_limit));
  }
  session.say(
      "The repeated article reports 36.8 %. Its feed run generates each batch twice, because its accuracy evaluates "
      "the "
      "random input again; the queue does not save that part.");
  session.say(*result.losses_equal ? "losses of all modes (feed, queue and loader) are bitwise equal"
                                   : "THE LOSSES OF THE MODES DIFFER: this is a bug in Headpond");
}

Result<Report> run(Session& session, const BlstmFlags& flags) {
  const BlstmOptions options = options_of(flags, session.common().seed);
  BlstmTrial check(options);  // Rejects wrong options before any file is written.
  auto log = SessionLog::open(session);
  if (!log) return fail(log.error());
  BlstmResult so_far;
  const auto result =
      train_blstm(options, {.stop = session.stop(), .log = log->get(), .progress = session.progress()}, &so_far);
  log->end();
  if (!result) return ended_early(session, *log, result.error(), [&](JsonWriter& json) { write_modes(json, so_far); });
  tell(session, options, *result);
  Report report =
      told(session, *log, [options, result = *result](JsonWriter& json) { write_members(json, options, result); });
  report.exit_code = result->losses_equal.value_or(true) ? kOk : kFailed;
  return report;
}

}  // namespace

Verb train_blstm_verb() {
  const auto flags = std::make_shared<BlstmFlags>();
  return {.path = "train blstm",
          .what = kTrainBlstmWhat,
          .declare = [flags](Flags& to) { declare(to, *flags); },
          .run = [flags](Session& session) { return run(session, *flags); },
          .default_seed = "7",
          .has_progress = true,
          .default_logdir = kNewFolder};
}

}  // namespace headpond::cli
