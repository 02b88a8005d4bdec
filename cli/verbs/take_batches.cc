// SPDX-License-Identifier: Apache-2.0
#include "cli/verbs/take_batches.h"

#include <fmt/core.h>

#include <chrono>
#include <thread>
#include <utility>

#include "cli/session.h"
#include "cli/verbs/loader_bar.h"
#include "cli/verbs/session_log.h"
#include "cli/verbs/verbs.h"
#include "headpond/base/clock.h"
#include "headpond/base/interrupt/interrupt.h"
#include "headpond/engine/loader.h"
#include "headpond/plan/plan_file.h"

namespace headpond::cli {
namespace {

constexpr int64_t kAskAfterNs = 61'000'000'000;  // Without a batch: the verdict may be `stalled` then.

// Says when the taking is over, also while next() waits.
class Limit {
 public:
  Limit(const Session& session, const Loader& loader, double seconds)
      : session_(session), loader_(loader), seconds_(seconds), begin_(now_ns()), last_(begin_) {}

  bool is_over() const {
    return static_cast<double>(now_ns() - begin_) * 1e-9 >= seconds_ || session_.stop().stop_requested();
  }
  /// Asked now and then while next() waits.
  bool ends_wait() {
    if (now_ns() - last_ > ask_after_) {
      ask_after_ += kAskAfterNs;
      if (Verdict now = loader_.diagnose(); now.code == ReasonCode::stalled) stalled_ = std::move(now);
    }
    return stalled_ || is_over();
  }
  void got_batch() { last_ = now_ns(); }
  double waited_s() const { return 1e-9 * static_cast<double>(now_ns() - last_); }
  const std::optional<Verdict>& stalled() const { return stalled_; }

 private:
  const Session& session_;
  const Loader& loader_;
  const double seconds_;
  const int64_t begin_;
  int64_t last_, ask_after_ = kAskAfterNs;
  std::optional<Verdict> stalled_;
};

Result<Verdict> take(const Session& session, Loader& loader, const std::string& verb, const TakeFlags& flags) {
  Limit limit(session, loader, flags.seconds);
  Progress bar(loader_bar(session, loader, verb));
  const InterruptLook look([&limit] { return limit.ends_wait(); });
  const auto step = std::chrono::duration<double, std::milli>(flags.step_ms);
  while (!limit.is_over()) {
    const auto batch = loader.next();
    if (limit.stalled()) return *limit.stalled();
    if (at_end(batch) || (!batch && look.was_interrupted())) break;
    if (!batch) return fail(batch.error().kind(), fmt::format("{}: {}", flags.files[0], with_causes(batch.error())));
    limit.got_batch();
    bar.update();
    if (flags.step_ms > 0) std::this_thread::sleep_for(step);
  }
  Verdict verdict = loader.diagnose();
  constexpr double kLongWaitS = 0.1;  // A shorter one is the wait of a step, which the verdict has.
  if (look.was_interrupted() && limit.waited_s() >= kLongWaitS) {
    verdict.findings.push_back(
        fmt::format("at the end of the run the program had waited {:.1f} s for its next batch", limit.waited_s()));
  }
  return verdict;
}

}  // namespace

void declare_take(Flags& flags, TakeFlags& to) {
  flags.words("FILE.toml", to.files, "a pipeline file (docs/plan_files.md)");
  flags.option_from(0, "seconds S", to.seconds, "time limit of the run, in seconds (default: 10)");
  flags.option_from(0, "step-ms MS", to.step_ms, "how long a step of the training takes, in ms (default: 0)");
  flags.option_from(0, "threads", to.threads, "compute threads; 0: the calling thread only (default: all CPUs)");
  flags.bytes("memory", to.memory, "memory for elements that are prepared ahead, as 64M or 2G (default: 1G)");
}

Result<Taken> take_batches(Session& session, const std::string& verb, const TakeFlags& flags) {
  const plan::PlanFile plan = plan::read_plan_file(only_file(verb, flags.files));
  const uint64_t seed = session.common().seed_given ? session.common().seed : plan.seed.value_or(0);
  session.set_seed(seed);
  LoaderOptions options{
      .epochs = plan.dataset.cardinality() == kEndless ? 1 : -1, .seed = seed, .threads = flags.threads};
  if (flags.memory) options.memory = *flags.memory;
  const auto log = SessionLog::open_if_named(session);
  if (!log) return fail(log.error());
  Loader loader(plan.dataset, options);
  RunLog::Watch watched;
  if (*log) watched = (**log)->watch(loader);
  auto verdict = take(session, loader, verb, flags);
  if (!verdict) return fail(verdict.error());
  return Taken{std::move(*verdict), loader.stats()};
}

Result<Taken> taken_or_of_run(Session& session, const std::string& verb, const TakeFlags& flags, const std::string& run,
                              const PipelineRecord* (*choose)(const std::vector<PipelineRecord>&)) {
  if (run.empty()) return take_batches(session, verb, flags);
  if (!flags.files.empty()) {
    throw Exception(Error(ErrorKind::InvalidArgument, verb + " takes a pipeline file or --run DIR, not both"));
  }
  const auto record = read_run(run);
  if (!record) return fail(record.error());
  const PipelineRecord* const chosen = choose(record->pipelines);
  if (chosen != nullptr) return Taken{chosen->verdict, chosen->loader, chosen->name};
  const char* const why = record->pipelines.empty() ? "the run watched no pipeline, or for less than a second"
                                                    : "none of the pipelines that the run watched is a Loader";
  return fail(ErrorKind::FailedPrecondition, fmt::format("{}: {}", run, why));
}

}  // namespace headpond::cli
