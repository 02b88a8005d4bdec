// SPDX-License-Identifier: Apache-2.0
// headpond demo: repeats four published examples of fed trainings in minutes.
#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <utility>

#include "cli/bench/bench_harness.h"
#include "cli/demo/demo_table.h"
#include "cli/demo/prepared_row.h"
#include "cli/demo/trained_rows.h"
#include "cli/session.h"
#include "cli/verbs/nuclei_data.h"
#include "cli/verbs/session_log.h"
#include "cli/verbs/verbs.h"
#include "headpond/base/clock.h"
#include "headpond/train/articles/blstm.h"
#include "headpond/train/articles/mnist/mnist.h"
#include "headpond/train/articles/nuclei.h"
#include "headpond/train/articles/spoken.h"

namespace headpond::cli {
namespace {

using namespace std::chrono_literals;

// How much of each part is run.
struct Plan {
  int64_t blstm_rounds, blstm_steps;
  double blstm_s;  // No round of that part starts later.
  bool all_cores;
  int64_t one_producer_steps, four_producers_steps;
  int64_t pairs, pair_steps;
  int64_t images, image_rounds;  // Negative images: all.
  int64_t nuclei_steps, nuclei_batch;
  int64_t spoken_epochs, paced_steps;  // Paced: between two evaluations.
};
constexpr Plan kWhole = {3, 4, 60, true, 150, 300, 5, 300, -1, 2, 200, 4, 5, 50};
constexpr Plan kFast = {2, 3, 5, false, 50, 80, 3, 200, 20, 1, 8, 2, 1, 10};
constexpr int kTorchThreads = 2;  // For the last two trainings, whose data costs little.

// What the log says of a pipeline, in a line; "" where it has none.
std::string verdict_of(const SessionLog& log, const std::string& pipeline) {
  for (const PipelineRecord& one : log->pipelines()) {
    if (one.name != pipeline) continue;
    const std::string text = one.verdict.to_string();
    return text.substr(0, text.find('\n'));
  }
  return "";
}

double seconds_since(int64_t start_ns) { return static_cast<double>(now_ns() - start_ns) * 1e-9; }

struct Demo {
  Session& session;
  const Plan plan;
  std::vector<DemoRow> rows = {};
  std::vector<RunFiles> files = {};

  // `chart_every`: such that the queue's chart has at least 20 points even in a fast demo.
  Result<SessionLog> open_log(const std::string& part, std::chrono::milliseconds chart_every) {
    return SessionLog::open(session, part, {.sample_every = std::min(chart_every, 100ms), .write_every = chart_every});
  }
  RunHooks hooks(const SessionLog& log) const {
    return {.stop = session.stop(), .log = log.get(), .progress = session.progress()};
  }
  // Ends the log of a part.
  void close(const SessionLog& log) {
    say_verdicts(session, log->pipelines());
    files.push_back(log->files());
    log.end();
  }
  Result<void> blstm();
  Result<void> sleeping(int producers, int64_t steps, double article);
  Result<void> sixty_four();
  Result<void> prepared_once();
  Result<void> nuclei();
  Result<void> spoken();
  Result<SpokenResult> paced(SpokenInputs inputs, const std::string& folder, const RunHooks& run);
};

DemoRow blstm_row(const BlstmResult& result, std::optional<double> all_cores_step_s) {
  const BlstmMode &feed = *result.feed, &queue = *result.queue;
  DemoRow row{
      .id = "blstm.queue",
      .what = "BLSTM: time saved by a queue",
      .article = {36.8, "%", "BLSTM 2 x 128 on batches of 400 x 128 x 512 normals, queue of 4"},
      .flaw =
          "its feed run generates each batch twice (its accuracy evaluates the random input again), and the "
          "queue does not save that part",
      .ours = {100 * result.queue_gain->saved_vs_feed, "%",
               fmt::format("the trainer has one core; feed takes {:.2f} s a step: generate {:.2f}, train {:.2f}; "
                           "queue {:.2f} s; {} in turns",
                           feed.step_s, feed.generate_s, feed.train_s, queue.step_s,
                           times(static_cast<int64_t>(result.rounds.size()), "round"))}};
  row.ours.conditions += all_cores_step_s ? fmt::format("; feed with all cores {:.2f} s", *all_cores_step_s)
                                          : "; feed with all cores: not measured in this run";
  row.ceiling = 100 * *result.ceiling;
  if (queue.wait_share < 0.05) {
    row.limited_by = "training, which hardly waits for batches; the generator's CPU time costs the rest";
  } else if (feed.generate_s > feed.train_s) {
    row.limited_by = "the generator, which takes longer than training";
  } else {
    row.limited_by = "the producer: it had less than a core to itself";
  }
  return row;
}

Result<BlstmResult> turns(const Plan& plan, uint64_t seed, const RunHooks& hooks) {
  BlstmTrial trial({.loader = false, .all_cores = false, .steps = plan.blstm_rounds * plan.blstm_steps, .seed = seed},
                   hooks);
  const int64_t start = now_ns();
  for (int64_t i = 0; i < plan.blstm_rounds && seconds_since(start) < plan.blstm_s; ++i) {
    const auto round = trial.round(plan.blstm_steps);
    if (!round) return fail(round.error());
  }
  return trial.result();
}

// Feed with every core for the trainer: without a device, this is what a queue competes with.
Result<std::optional<double>> step_on_all_cores(uint64_t seed, const RunHooks& hooks) {
  const auto result = train_blstm({.feed = false, .queue = false, .loader = false, .steps = 4, .seed = seed}, hooks);
  if (!result) return fail(result.error());
  return result->all_cores ? std::optional(result->all_cores->step_s) : std::nullopt;
}

Result<void> Demo::blstm() {
  session.say("\n1. BLSTM: batches made in turn with training (feed), and by a thread ahead of it (queue)");
  const auto log = open_log("blstm", 250ms);
  if (!log) return fail(log.error());
  const int64_t start = now_ns();
  const uint64_t seed = session.common().seed;
  const auto result = turns(plan, seed, hooks(*log));
  if (!result) return fail(result.error());
  if (!result->losses_equal.value_or(false)) return fail(ErrorKind::DataLoss, "the losses of feed and queue differ");
  session.say(fmt::format("saved {:.1f} % of the time, of at most {:.1f} %; the losses of both modes are bitwise equal",
                          100 * result->queue_gain->saved_vs_feed, 100 * *result->ceiling));
  std::optional<double> all_cores;
  if (plan.all_cores && seconds_since(start) < plan.blstm_s) {
    session.say("feed again, with all cores for the trainer");
    const auto step_s = step_on_all_cores(seed, hooks(*log));
    if (!step_s) return fail(step_s.error());
    all_cores = *step_s;
  }
  rows.push_back(blstm_row(*result, all_cores));
  close(*log);
  return {};
}

Result<void> Demo::sleeping(int producers, int64_t steps, double article) {
  session.say(
      fmt::format("\n{}. Digits: {}, 50 ms of sleep for each batch", rows.size() + 1, times(producers, "producer")));
  const auto log = open_log(fmt::format("mnist-{}", producers), producers == 1 ? 100ms : 50ms);
  if (!log) return fail(log.error());
  const auto result =
      train_mnist({.recipe = {.seed = session.common().seed}, .producers = producers, .steps = steps}, hooks(*log));
  if (!result) return fail(result.error());
  const double rate = result->epochs.front().steady_it_per_s, allowed = 20.0 * producers;
  session.say(
      fmt::format("{:.2f} it/s of at most {:.0f}; waited {:.0f} % of the time; test accuracy after {} steps: {:.3f}",
                  rate, allowed, 100 * result->wait_share, steps, result->epochs.front().valid_acc.value_or(0)));
  rows.push_back(
      {.id = fmt::format("mnist.producers.{}", producers),
       .what = "digits: " + times(producers, "sleeping producer"),
       .article = {article, "it/s", "batches of 32 from threads that sleep 50 ms each; RandomShuffleQueue"},
       .flaw =
           fmt::format("{:.0f} % of what the sleep allows; it validates on training samples", 100 * article / allowed),
       .ours = {rate, "it/s",
                fmt::format(
                    "{} steps, from step 20 on; the trainer has one core, on which training alone runs at {:.0f} it/s",
                    steps, result->train_it_per_s)},
       .ceiling = result->limit_it_per_s,
       .limited_by =
           result->limit_it_per_s < result->train_it_per_s ? "the producers' sleep; more producers help" : "training"});
  close(*log);
  return {};
}

std::string limit_of_many(double share, double wait_share) {
  if (share >= 0.98) return "training; data is always ready";
  if (wait_share < (1 - share) / 2) {
    return fmt::format("training, which waits only {:.1f} % of its time; the producers' CPU time costs the rest",
                       100 * wait_share);
  }
  return fmt::format("the producers; training waits {:.1f} % of its time for data", 100 * wait_share);
}

Result<void> Demo::sixty_four() {
  session.say(
      fmt::format("\n4. Digits: 64 producers against one prepared batch; {} pairs of blocks in turns", plan.pairs));
  const auto log = open_log("mnist-64", 25ms);
  if (!log) return fail(log.error());
  MnistTrial trial({.recipe = {.seed = session.common().seed}}, hooks(*log));
  std::vector<double> fed, ready, shares, waits;
  for (int64_t i = 0; i < plan.pairs; ++i) {
    const auto queue = trial.block(64, plan.pair_steps);
    if (!queue) return fail(queue.error());
    const auto prepared = trial.block(0, plan.pair_steps);
    if (!prepared) return fail(prepared.error());
    fed.push_back(queue->steady_it_per_s);
    ready.push_back(prepared->steady_it_per_s);
    shares.push_back(fed.back() / ready.back());
    waits.push_back(queue->wait_share);
  }
  session.say(fmt::format("{:.1f} it/s against {:.1f} it/s; median of the pairs: {:.1f} %", median(fed), median(ready),
                          100 * median(shares)));
  rows.push_back({.id = "mnist.producers.64",
                  .what = "digits: 64 sleeping producers",
                  .article = {{}, "it/s", "not reported; its most were 4 threads"},
                  .flaw = "",
                  .ours = {median(fed), "it/s",
                           fmt::format("median of {} pairs: {:.1f} % of the rate with a prepared batch", plan.pairs,
                                       100 * median(shares))},
                  .ceiling = median(ready),
                  .limited_by = limit_of_many(median(shares), median(waits))});
  close(*log);
  return {};
}

Result<void> Demo::prepared_once() {
  session.say("\n5. Nuclei: samples for segmentation, prepared in the loop in two ways, and read from TFRecords");
  const auto measured = preprocess_once::measure({.images = plan.images,
                                                  .rounds = plan.image_rounds,
                                                  .seed = session.common().seed,
                                                  .stop = session.stop(),
                                                  .progress = [&](const preprocess_once::Progress& progress) {
                                                    if (!progress.line.empty()) session.say(progress.line);
                                                  }});
  if (!measured) return fail(measured.error());
  if (!measured->bytes_equal) return fail(ErrorKind::DataLoss, "the samples of the three ways differ");
  session.say(fmt::format("{:.1f}, {:.1f} and {:.1f} images/s; all samples are byte for byte equal",
                          measured->straightforward, measured->operators, measured->records));
  rows.push_back(prepared_row(*measured));
  return {};
}

Result<void> Demo::nuclei() {
  session.say("\n6. Nuclei: a network that is told by clicks which nucleus is meant, and one that is not");
  const auto log = open_log("nuclei", 250ms);
  if (!log) return fail(log.error());
  const auto folder = preprocess_once::find_data();
  const uint64_t seed = session.common().seed;
  const auto data =
      nuclei_data({.folder = folder.value_or(""), .batch = plan.nuclei_batch, .seed = seed, .stop = session.stop()});
  if (!data) return fail(data.error());
  std::vector<NucleiResult> results;
  for (const bool clicks : {true, false}) {
    const auto result = train_nuclei({.train = data->train(clicks),
                                      .test = data->test(clicks),
                                      .steps = plan.nuclei_steps,
                                      .torch_threads = kTorchThreads,
                                      .config = {.seed = seed, .log_name = clicks ? "" : "without"}},
                                     hooks(*log));
    if (!result) return fail(result.error());
    session.say(fmt::format("{} clicks: mean IoU {:.3f}", clicks ? "with" : "without", *result->iou));
    results.push_back(*result);
  }
  rows.push_back(nuclei_row({.is_drawn = !folder,
                             .train_pictures = data->train_pictures,
                             .test_pictures = data->test_pictures,
                             .steps = plan.nuclei_steps,
                             .batch = plan.nuclei_batch,
                             .iou = *results[0].iou,
                             .iou_without = *results[1].iou,
                             .images_per_s = static_cast<double>(plan.nuclei_batch) / results[0].clock.step_s(),
                             .wait_share = results[0].clock.wait_share(),
                             .verdict = verdict_of(*log, "train")}));
  close(*log);
  return {};
}

constexpr SpokenPace kPace = {.prepare_s = 0.02, .train_s = 0.01};

// Five evaluations.
Result<SpokenResult> Demo::paced(SpokenInputs inputs, const std::string& folder, const RunHooks& run) {
  const RunConfig config = {.save_steps = plan.paced_steps, .seed = session.common().seed, .log_name = "paced"};
  return train_spoken({.folder = folder,
                       .pace = kPace,
                       .run = {.inputs = inputs, .epochs = -1, .max_steps = 5 * plan.paced_steps, .config = config}},
                      run);
}

int64_t later_opens(const std::vector<SpokenEvaluation>& evaluations) {
  int64_t opens = -evaluations.front().files_opened;
  for (const SpokenEvaluation& one : evaluations) opens += one.files_opened;
  return opens;
}

Result<void> Demo::spoken() {
  session.say("\n7. Spoken digits: inputs made in turn, made anew for each evaluation, and warm; then a training");
  const auto log = open_log("spoken", 250ms);
  if (!log) return fail(log.error());
  const auto found = preprocess_once::find_data("fsdd/recordings");
  const std::string folder = found.value_or("");
  std::vector<SpokenResult> paced_runs;
  for (const SpokenInputs inputs : {SpokenInputs::turn, SpokenInputs::fresh, SpokenInputs::warm}) {
    const auto result =
        paced(inputs, folder, {.stop = session.stop(), .log = inputs == SpokenInputs::warm ? log->get() : nullptr});
    if (!result) return fail(result.error());
    paced_runs.push_back(*result);
  }
  const auto trained = train_spoken(
      {.folder = folder,
       .torch_threads = kTorchThreads,
       .run = {.epochs = plan.spoken_epochs, .config = {.save_steps = 1000, .seed = session.common().seed}}},
      hooks(*log));
  if (!trained) return fail(trained.error());
  const std::vector<SpokenEvaluation>& warm = paced_runs[2].run.evaluations;
  rows.push_back(spoken_row({.is_drawn = !found,
                             .train_files = trained->train_files,
                             .test_files = trained->test_files,
                             .epochs = plan.spoken_epochs,
                             .accuracy = trained->accuracy.value_or(0),
                             .prepare_s = kPace.prepare_s,
                             .train_s = kPace.train_s,
                             .turn_s = paced_runs[0].run.clock.step_s(),
                             .fresh_s = paced_runs[1].run.clock.step_s(),
                             .warm_s = paced_runs[2].run.clock.step_s(),
                             .evaluations = static_cast<int64_t>(warm.size()),
                             .first_opens = warm.front().files_opened,
                             .later_opens = later_opens(warm),
                             .verdict = verdict_of(*log, "train_paced")}));
  session.say(fmt::format("{:.1f} times as fast as in turn; test accuracy {:.3f}", *rows.back().ours.value,
                          trained->accuracy.value_or(0)));
  close(*log);
  return {};
}

Result<void> all_parts(Demo& demo) {
  HEADPOND_TRY(demo.blstm());
  HEADPOND_TRY(draw_digits_once(demo.session));
  HEADPOND_TRY(demo.sleeping(1, demo.plan.one_producer_steps, 18.13));
  HEADPOND_TRY(demo.sleeping(4, demo.plan.four_producers_steps, 69.64));
  HEADPOND_TRY(demo.sixty_four());
  HEADPOND_TRY(demo.prepared_once());
  HEADPOND_TRY(demo.nuclei());
  return demo.spoken();
}

Result<Report> run(Session& session, bool fast) {
  const auto folder = session.folder();
  if (!folder) return fail(folder.error());
  Demo demo{.session = session, .plan = fast ? kFast : kWhole};
  HEADPOND_TRY(all_parts(demo));
  session.say("");
  announce(session, *folder, demo.files);
  session.say("\n" + format_demo(demo.rows));
  return Report{.members = [rows = demo.rows, fast, folder = *folder, files = demo.files](JsonWriter& json) {
    json.member("fast", fast);
    write_demo(json, rows);
    write_files(json, folder, files);
  }};
}

}  // namespace

Verb demo_verb() {
  const auto fast = std::make_shared<bool>(false);
  return {.path = "demo",
          .what = kDemoWhat,
          .declare = [fast](Flags& to) { to.flag("fast", *fast, "run shorter parts, in about a minute"); },
          .run = [fast](Session& session) { return run(session, *fast); },
          .default_seed = "7",
          .has_progress = true,
          .default_logdir = kNewFolder};
}

}  // namespace headpond::cli
