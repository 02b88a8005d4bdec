// SPDX-License-Identifier: Apache-2.0
// headpond train nuclei: interactive segmentation, with pictures that are prepared once or in the loop, and with clicks
// against without.
#include <fmt/core.h>

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "cli/json_members.h"
#include "cli/session.h"
#include "cli/verbs/nuclei_data.h"
#include "cli/verbs/session_log.h"
#include "cli/verbs/train_report.h"
#include "cli/verbs/verbs.h"
#include "headpond/train/articles/nuclei.h"

namespace headpond::cli {
namespace {

struct NucleiFlags {
  NucleiDataOptions data;
  CheckpointFlags checkpoints;
  std::string target = "one", clicks = "on", input = "tfrecord";
  int64_t steps = 400;
  double lr = 4e-3;
  int torch_threads = 1;
};

void declare(Flags& flags, NucleiFlags& to) {
  flags.option("data DIR", to.data.folder,
               "folder of pictures, <id>/images/<id>.png and <id>/masks/*.png (default: drawn ones)");
  flags.choice("target", to.target, {"one", "all"}, "one: the nucleus that is clicked; all: each");
  flags.choice("clicks", to.clicks, {"on", "off", "shuffled"},
               "on: trains with clicks, then without; off: only without; shuffled: like on, but with the clicks of "
               "other pictures, as a control");
  flags.choice("input", to.input, {"tfrecord", "loop"},
               "tfrecord: samples are prepared once; loop: anew in each epoch");
  flags.option_from(1, "steps", to.steps, "steps of a training (default: 400)");
  flags.option_from(1, "batch", to.data.batch, "crops in a batch (default: 8)");
  flags.option_from(0, "lr", to.lr, "Adam's learning rate at the start; it falls to 0 (default: 4e-3)");
  flags.option_from(1, "torch-threads", to.torch_threads, "threads of libtorch (default: 1)");
  declare_checkpoints(flags, to.checkpoints, 1000);
}

constexpr const char* kWithout = "/without";  // In the model_dir, the network without clicks.

// Folders of the networks that it trains.
std::vector<std::string> model_dirs(const NucleiFlags& flags) {
  if (flags.clicks == "off") return {kWithout};
  return {"", kWithout};
}

struct Trained {
  std::optional<NucleiResult> with = std::nullopt, without = std::nullopt;
  const NucleiResult& first() const { return with ? *with : *without; }
};

// `to` also has what a training that failed has done.
Result<void> train(const NucleiFlags& flags, const NucleiData& data, bool clicks, RunConfig config,
                   const RunHooks& hooks, std::optional<NucleiResult>& to) {
  if (!clicks && !config.model_dir.empty()) config.model_dir += kWithout;
  if (!clicks && flags.clicks != "off") config.log_name = "without";
  auto trained = train_nuclei({.train = data.train(clicks),
                               .test = data.test(clicks),
                               .steps = flags.steps,
                               .max_steps = flags.checkpoints.max_steps,
                               .lr = flags.lr,
                               .torch_threads = flags.torch_threads,
                               .config = std::move(config)},
                              hooks, &to.emplace());
  if (!trained) return fail(trained.error());
  to = std::move(*trained);
  return {};
}

double images_per_s(const NucleiFlags& flags, const NucleiResult& result) {
  const double step_s = result.clock.step_s();
  return step_s > 0 ? static_cast<double>(flags.data.batch) / step_s : 0;
}

void write_members(JsonWriter& json, const NucleiFlags& flags, const NucleiData& data, const Trained& trained) {
  const NucleiResult& first = trained.first();
  json.member("name", "nuclei").member("parameters", first.parameters).key("pictures").begin_object();
  json.member("train", data.train_pictures).member("test", data.test_pictures).end_object();
  json.member("target", flags.target).member("clicks", flags.clicks).member("input", flags.input);
  member_or_null(json, "iou", trained.with ? trained.with->iou : std::nullopt);
  member_or_null(json, "iou_without", trained.without ? trained.without->iou : std::nullopt);
  json.member("images_per_s", images_per_s(flags, first)).member("wait_share", first.clock.wait_share());
  json.member("step_s", first.clock.step_s());
  write_training(json, first.report, first.losses);
}

void tell(const Session& session, const NucleiFlags& flags, const char* what, const NucleiResult& result) {
  if (result.report.resumed_from) session.say(fmt::format("went on from step {}", *result.report.resumed_from));
  session.say(
      fmt::format("{}: mean IoU {:.3f} after {} steps; {:.1f} images/s; the training waited {:.1f} % of the time", what,
                  *result.iou, result.report.last_step, images_per_s(flags, result), 100 * result.clock.wait_share()));
}

// With clicks, then without.
Result<void> both(Session& session, const NucleiFlags& flags, const NucleiData& data, const RunConfig& config,
                  const RunHooks& hooks, Trained& trained) {
  if (flags.clicks != "off") {
    HEADPOND_TRY(train(flags, data, true, config, hooks, trained.with));
    tell(session, flags, flags.clicks == "on" ? "with clicks" : "with clicks of other pictures", *trained.with);
  }
  HEADPOND_TRY(train(flags, data, false, config, hooks, trained.without));
  tell(session, flags, "without clicks", *trained.without);
  return {};
}

Result<Report> run(Session& session, const NucleiFlags& given) {
  NucleiFlags flags = given;
  flags.data.one = flags.target == "one";
  flags.data.others = flags.clicks == "shuffled";
  flags.data.in_the_loop = flags.input == "loop";
  flags.data.seed = session.common().seed;
  flags.data.stop = session.stop();
  const auto config = config_of(flags.checkpoints, flags.data.seed, model_dirs(flags));
  if (!config) return fail(config.error());
  const auto data = nuclei_data(flags.data);
  if (!data) return fail(data.error());
  session.say(fmt::format("{} pictures for the training, {} for the test", data->train_pictures, data->test_pictures));
  auto log = SessionLog::open(session);
  if (!log) return fail(log.error());
  Trained trained;
  const RunHooks hooks{.stop = session.stop(), .log = log->get(), .progress = session.progress()};
  const auto done = both(session, flags, *data, *config, hooks, trained);
  log->end();
  const auto members = [flags, data = *data, trained](JsonWriter& json) { write_members(json, flags, data, trained); };
  return done ? told(session, *log, members) : ended_early(session, *log, done.error(), members);
}

}  // namespace

Verb train_nuclei_verb() {
  const auto flags = std::make_shared<NucleiFlags>();
  return {.path = "train nuclei",
          .what = kTrainNucleiWhat,
          .declare = [flags](Flags& to) { declare(to, *flags); },
          .run = [flags](Session& session) { return run(session, *flags); },
          .default_seed = "7",
          .has_progress = true,
          .default_logdir = kNewFolder};
}

}  // namespace headpond::cli
