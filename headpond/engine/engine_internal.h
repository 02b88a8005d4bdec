// SPDX-License-Identifier: Apache-2.0
// The engine of a Loader: puts its parts together. It decides how each node runs (stages/stage_internal.h), opens it as
// a buffer of work (stages/reorder_buffer_internal.h), and has an executor run that.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "headpond/base/cpu.h"
#include "headpond/base/stats.h"
#include "headpond/base/thread.h"
#include "headpond/dataset/dataset.h"
#include "headpond/engine/executor/executor_internal.h"
#include "headpond/engine/executor/prefetcher_internal.h"
#include "headpond/engine/loader.h"
#include "headpond/engine/made_datasets_internal.h"
#include "headpond/engine/stages/stage_host_internal.h"
#include "headpond/engine/verdict/figures_internal.h"

namespace headpond::internal {

/// Shared with its threads.
class Engine final : public StageHost, private IdleWork, public std::enable_shared_from_this<Engine> {
 public:
  static std::shared_ptr<Engine> make(const Dataset& dataset, const LoaderOptions& options);
  Engine(const Dataset& dataset, const LoaderOptions& options);  ///< For make().
  ~Engine() override;

  // ---- Feed and StageHost: by any thread that opens an input.
  /// `node` run by the engine. Threads begin with it at once.
  std::unique_ptr<Iterator> open(const Node& node, const Binding& binding) override;
  std::unique_ptr<Iterator> open_made(const Node::Ref& made, const Binding& binding) override;
  void expect(const Node& node, const Binding& binding) override;
  std::unique_ptr<Iterator> restored(const std::function<std::unique_ptr<Iterator>()>& make,
                                     StateVisitor& visitor) override;
  bool is_root(const Node& node) const override;
  CostModel costs_of(const Stage& stage, const char* name) override;
  void wake() HEADPOND_REQUIRES(engine_state) override { executor_.wake(); }
  void made_progress() HEADPOND_REQUIRES(engine_state) override { executor_.made_progress(); }
  void closed(const WorkSource& source, const Stage& stage, const CostModel& costs)
      HEADPOND_REQUIRES(engine_state) override;
  bool has_workers() const HEADPOND_REQUIRES(engine_state) override { return executor_.has_workers(); }
  bool has_io_threads() const HEADPOND_REQUIRES(engine_state) override { return executor_.io_threads() > 0; }
  bool waits_for_locks(const char* stage) const HEADPOND_REQUIRES(engine_state) override {
    return executor_.are_often_locked(stage);
  }

  // ---- By the program's thread.
  /// Its nodes live as long as threads do, too.
  void keep(const Dataset& dataset) { kept_.push_back(dataset); }
  /// The program is in this epoch now.
  void begin_epoch(uint64_t epoch);
  /// expect() of the next epoch.
  void expect_epoch(const Binding& binding);
  /// The program goes back to the beginning of this epoch, and has not asked for it yet.
  void expect_start(const Binding& binding);
  void arrive() {
    executor_.arrive();
    consumer.arrive(lock);
  }
  /// What next() gives now, once for each answer. `waited_ns`: time that it blocked, or -1.
  void count_answer(int64_t waited_ns, bool with_batch);
  /// next() gives `batch`: its memory is the program's from now on. `bytes`: those of
  /// its blocks, without values inside the element.
  void give_to_program(const Element& batch, int64_t bytes);
  /// next() returns. `was_ready`: see Consumer::leave().
  void leave(bool was_ready) { consumer.leave(was_ready); }
  /// try_next() returns, as nothing is ready.
  void leave_empty();
  bool help(Context& context, bool may_wait) { return executor_.help(context, may_wait); }
  void wait(uint64_t seen) { executor_.wait(seen); }
  /// What the call in progress waits for, as far as that is known.
  WaitKind kind_of_wait() {
    const Locked locked(lock);
    return consumer.steps.kind_now();
  }
  void set_failed(const std::vector<FailedCounts>& failed);
  /// Whether a stage that runs in `epoch` has lost what follows.
  bool has_lost_in(uint64_t epoch) {
    const Locked locked(lock);
    return has_lost[epoch % 2];
  }
  /// What ran in `epoch` is gone.
  void forget_loss_of(uint64_t epoch) {
    const Locked locked(lock);
    has_lost[epoch % 2] = false;
  }
  /// No epoch that began goes on.
  void forget_losses() {
    const Locked locked(lock);
    has_lost = {};
  }
  /// The figures of the stages that run now stay those of stats() until others run.
  void keep_figures();
  void stop();
  /// By any thread.
  LoaderStats stats();
  /// By any thread. What verdicts are made of.
  Figures figures();
  /// The same. The last steps.
  RecentSteps recent_steps();
  /// The same. Why next() waits.
  Verdict diagnose();

  /// After fork() the child has none of its threads.
  bool is_of_another_process() const { return !home_.is_here(); }
  /// Keeps this engine for ever: in the child of a fork() its locks may be held, so it cannot be destroyed.
  void stay() { self_ = shared_from_this(); }

 private:
  bool has_idle_work() const HEADPOND_REQUIRES(engine_state) override;
  void do_idle_work(const char*& doing) HEADPOND_REQUIRES(engine_state) override;
  void add(const std::shared_ptr<WorkSource>& source);
  // Names this engine in the scopes of threads.
  const void* key() const { return static_cast<const StageHost*>(this); }
  std::unique_ptr<Iterator> take_prefetched(const Node& node, const Binding& binding);
  /// The epoch that the calling thread opens something for.
  uint64_t epoch_here() const HEADPOND_REQUIRES(engine_state);

  void count_call() HEADPOND_REQUIRES(engine_state);
  int64_t startup_calls() HEADPOND_REQUIRES(engine_state);
  void begin_to_count() HEADPOND_REQUIRES(engine_state);
  void look_at_machine() HEADPOND_REQUIRES(engine_state);
  std::vector<StageFigures> stage_figures() const HEADPOND_REQUIRES(engine_state);
  void add_steps(Figures& figures) const HEADPOND_REQUIRES(engine_state);
  void add_threads(Figures& figures) const HEADPOND_REQUIRES(engine_state);
  void look_at_held(int64_t batch_bytes, int64_t block_bytes);
  void add_machine(Figures& figures, const CpuSample& now) const HEADPOND_REQUIRES(engine_state);

  const Dataset dataset_;      // Nodes live as long as threads do.
  std::vector<Dataset> kept_;  // Belongs to the program's thread.
  bool repeats_ = false;       // Figures::repeats.
  bool gives_batches_ = false;
  StatsCell elements_given_, bytes_given_;     // To the program.
  int64_t unlooked_ = 0, unlooked_bytes_ = 0;  // Batches, and bytes of their blocks, since what it holds was looked at.
  bool held_much_ = false, was_warned_ = false;  // These four belong to the program's thread.
  const HomeProcess home_;
  std::shared_ptr<Engine> self_;
  Executor executor_;
  Prefetcher prefetcher_;
  MadeDatasets made_;
  // The node at the stage's top and the stage's name. Null in a dataset that a function made, which may be gone: there
  // the node's depth and whether it is declared to wait tell stages of one name apart.
  using CostKey = std::tuple<const Node*, const char*, int, bool>;
  static CostKey cost_key(const Stage& stage, const char* name, bool is_made);
  std::map<CostKey, CostModel> costs_ HEADPOND_GUARDED_BY(engine_state);
  bool expects_start_ HEADPOND_GUARDED_BY(engine_state) = false;
  LoaderStats stats_ HEADPOND_GUARDED_BY(engine_state);                  // Its stages: those of the epoch before.
  std::vector<StageFigures> figures_ HEADPOND_GUARDED_BY(engine_state);  // The same.
  // When the start ended.
  std::map<const void*, StageTotals> totals_before_ HEADPOND_GUARDED_BY(engine_state);
  SeenInWaits seen_before_ HEADPOND_GUARDED_BY(engine_state);
  // Taken by the first call that begins 0.1 s or more after the first batch, once the start has ended.
  bool was_machine_looked_at_ HEADPOND_GUARDED_BY(engine_state) = false;
  CpuSample cpu_before_ HEADPOND_GUARDED_BY(engine_state);
  int64_t swapped_before_ HEADPOND_GUARDED_BY(engine_state) = 0;
  int64_t first_batch_ns_ HEADPOND_GUARDED_BY(engine_state) = 0;  // When it was given; 0: not yet.
};

}  // namespace headpond::internal
