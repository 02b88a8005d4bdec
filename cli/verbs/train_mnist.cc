// SPDX-License-Identifier: Apache-2.0
// headpond train mnist: a small network that is faster than its producers until there are enough of them.
#include <fmt/core.h>

#include <filesystem>
#include <memory>
#include <utility>
#include <vector>

#include "cli/json_members.h"
#include "cli/session.h"
#include "cli/verbs/session_log.h"
#include "cli/verbs/verbs.h"
#include "headpond/io/file/file.h"
#include "headpond/train/articles/digits/digits.h"
#include "headpond/train/articles/mnist/mnist.h"

namespace headpond::cli {
namespace {

struct MnistFlags {
  MnistOptions options;
  std::string feed = "queue";
  std::string batch_norm, loss;  // Empty: as the recipe says.
  std::optional<double> lr;
  bool article = false;
  int64_t sleep_ms = 50;
};

void declare(Flags& flags, MnistFlags& to) {
  MnistOptions& o = to.options;
  flags.choice("feed", to.feed, {"queue", "loader", "ready"},
               "queue: sleeping producers fill a shuffle queue; loader: a Loader over shuffled slices, each batch "
               "sleeps once; ready: the same prepared batch in every step, the limit of training");
  flags.option("data DIR", o.folder, "folder with MNIST's four files, plain or .gz (default: drawn digits)");
  flags.option_from(1, "producers", o.producers, "producer threads (default: 4)");
  flags.option_from(0, "sleep-ms", to.sleep_ms,
                    "sleep of a producer before each batch, stands for slow storage (default: 50)");
  flags.option_from(1, "batch", o.batch, "images in a batch (default: 32)");
  flags.option("capacity", o.capacity, "capacity of the queue, in images (default: 2000)");
  flags.option_from(0, "min-after-dequeue", o.min_after_dequeue,
                    "images kept in the queue to mix with (default: 1000)");
  flags.option_from(1, "epochs", o.epochs, "epochs (default: 3)");
  flags.option_from(1, "steps", o.steps, "steps in total, instead of --epochs");
  flags.option_from(0, "lr", to.lr, "Adam's learning rate (default: 1e-3)");
  flags.choice("batch-norm", to.batch_norm, {"train", "article"},
               "article: batch normalisation stays in inference mode (default: train)");
  flags.choice("loss", to.loss, {"mean", "sum"}, "how the losses of a batch are combined (default: mean)");
  flags.flag("article", to.article, "as published: --lr 1e-4 --loss sum --batch-norm article");
  flags.option_from(1, "torch-threads", o.torch_threads, "threads of libtorch, and CPUs of the trainer (default: 1)");
  flags.option_from(1, "early-exit", o.early_exit, "leave the loop after N steps, while producers are still working");
}

MnistOptions options_of(const MnistFlags& flags, uint64_t seed) {
  MnistOptions options = flags.options;
  options.recipe = flags.article ? MnistRecipe::article(seed) : MnistRecipe{.seed = seed};
  if (flags.lr) options.recipe.lr = *flags.lr;
  if (!flags.loss.empty()) options.recipe.loss = flags.loss == "sum" ? LossReduction::sum : LossReduction::mean;
  if (!flags.batch_norm.empty()) options.recipe.train_batch_norm = flags.batch_norm == "train";
  options.feed = flags.feed == "ready"    ? MnistFeed::ready
                 : flags.feed == "loader" ? MnistFeed::loader
                                          : MnistFeed::queue;
  options.sleep = std::chrono::milliseconds(flags.sleep_ms);
  return options;
}

void write_epoch(JsonWriter& json, const MnistEpoch& epoch) {
  json.begin_object().member("steps", epoch.steps).member("it_per_s", epoch.it_per_s);
  json.member("steady_it_per_s", epoch.steady_it_per_s).member("train_acc", epoch.train_acc);
  json.member("train_loss", epoch.train_loss).member("wait_share", epoch.wait_share);
  member_or_null(json, "valid_acc", epoch.valid_acc);
  member_or_null(json, "valid_loss", epoch.valid_loss);
  json.member("wall_s", epoch.wall_s).end_object();
}

void write_epochs(JsonWriter& json, const std::vector<MnistEpoch>& epochs) {
  json.key("epochs").begin_array();
  for (const MnistEpoch& epoch : epochs) write_epoch(json, epoch);
  json.end_array();
}

void write_loader(JsonWriter& json, const std::optional<LoaderStats>& stats) {
  json.key("loader");
  if (!stats) {
    json.value(nullptr);
    return;
  }
  json.begin_object().member("batches", stats->batches).member("waits", stats->waits);
  json.member("helped", stats->helped).member("threads", stats->threads).member("io_threads", stats->io_threads);
  json.member("memory_peak_bytes", stats->memory_peak).end_object();
}

void write_members(JsonWriter& json, const MnistOptions& options, const MnistResult& result) {
  json.member("name", "mnist").member("parameters", result.parameters);
  write_epochs(json, result.epochs);
  json.member("limit_it_per_s", result.limit_it_per_s).member("train_it_per_s", result.train_it_per_s);
  json.member("share_of_limit", result.share_of_limit).member("wait_share", result.wait_share);
  json.member("stopwatch_wait_share", result.stopwatch_wait_share).member("wait_s", result.wait_s);
  json.member("stopwatch_wait_s", result.stopwatch_wait_s).member("fill_s", result.fill_s).key("queue");
  if (result.queue) {
    json.begin_object().member("capacity", options.capacity).member("min_after_dequeue", options.min_after_dequeue);
    json.member("fraction_mean", result.queue->fraction_mean)
        .member("empty_share", result.queue->empty_share)
        .end_object();
  } else {
    json.value(nullptr);
  }
  write_loader(json, result.loader);
  json.key("data").begin_object().member("source", result.source).member("train", result.train_images);
  json.member("valid", result.test_images).member("digest", fmt::format("{:08x}", result.digest)).end_object();
}

void tell_epoch(const Session& session, const MnistEpoch& epoch) {
  session.say(fmt::format("epoch {}: {} steps, {:.2f} it/s, steady {:.2f} it/s", epoch.index + 1, epoch.steps,
                          epoch.it_per_s, epoch.steady_it_per_s));
  session.say(fmt::format("  train:      accuracy {:.4f}, loss {:.4f}", epoch.train_acc, epoch.train_loss));
  if (!epoch.valid_acc) return;
  session.say(
      fmt::format("  validation: accuracy {:.4f}, loss {:.4f} (test set)", *epoch.valid_acc, *epoch.valid_loss));
}

void tell(const Session& session, const MnistOptions& options, const MnistResult& result) {
  session.say(fmt::format("limit {:.2f} it/s ({}); reached {:.1f} % of it", result.limit_it_per_s,
                          result.limit_it_per_s < result.train_it_per_s
                              ? fmt::format("{} producer(s) sleeping {} ms; training alone runs at {:.0f}",
                                            options.producers, options.sleep.count(), result.train_it_per_s)
                              : "training alone",
                          100 * result.share_of_limit));
  session.say(fmt::format("waited for data {:.1f} % of the time (stopwatch: {:.1f} %); first batch after {:.2f} s",
                          100 * result.wait_share, 100 * result.stopwatch_wait_share, result.fill_s));
  if (result.loader) {
    session.say(fmt::format("chosen by the Loader: {} compute threads, {} I/O threads; peak memory {:.1f} MiB",
                            result.loader->threads, result.loader->io_threads,
                            static_cast<double>(result.loader->memory_peak) / (1 << 20)));
  }
  if (!result.queue) return;
  session.say(fmt::format("queue above its minimum: {:.0f} % full on average; empty in {:.0f} % of the samples: {}",
                          100 * result.queue->fraction_mean, 100 * result.queue->empty_share,
                          result.queue->empty_share > 0.5 ? "the producers limit, more of them help"
                                                          : "training limits, more producers do not help"));
}

Result<Report> run(Session& session, const MnistFlags& flags) {
  MnistOptions options = options_of(flags, session.common().seed);
  std::vector<MnistEpoch> epochs;
  options.on_epoch = [&](const MnistEpoch& epoch) {
    tell_epoch(session, epoch);
    epochs.push_back(epoch);
  };
  MnistTrial check(options);  // Rejects wrong options before any file is written.
  auto log = SessionLog::open(session);
  if (!log) return fail(log.error());
  if (options.folder.empty()) HEADPOND_TRY(draw_digits_once(session));
  const auto result = train_mnist(options, {.stop = session.stop(), .log = log->get(), .progress = session.progress()});
  log->end();
  if (!result)
    return ended_early(session, *log, result.error(), [&](JsonWriter& json) {
      json.member("name", "mnist");
      write_epochs(json, epochs);
    });
  tell(session, options, *result);
  options.on_epoch = {};
  return told(session, *log, [options, result = *result](JsonWriter& json) { write_members(json, options, result); });
}

}  // namespace

Result<void> draw_digits_once(Session& session) {
  const auto cache = cache_folder();
  if (!cache) return fail(cache.error());
  if (!std::filesystem::exists(*cache + "/digits-v1")) session.say("drawing the digit set (once): " + *cache);
  const auto set = digit_set({.folder = {}, .stop = session.stop()});
  if (!set) return fail(set.error());
  return {};
}

Verb train_mnist_verb() {
  const auto flags = std::make_shared<MnistFlags>();
  return {.path = "train mnist",
          .what = kTrainMnistWhat,
          .declare = [flags](Flags& to) { declare(to, *flags); },
          .run = [flags](Session& session) { return run(session, *flags); },
          .default_seed = "7",
          .has_progress = true,
          .default_logdir = kNewFolder};
}

}  // namespace headpond::cli
