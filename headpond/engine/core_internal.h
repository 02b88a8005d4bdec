// SPDX-License-Identifier: Apache-2.0
// The executor: threads, what they may do, and how much memory that may take. One for each Loader, shared with its
// threads.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "headpond/base/mutex.h"
#include "headpond/base/thread.h"
#include "headpond/dataset/dataset.h"
#include "headpond/engine/estimate_internal.h"
#include "headpond/engine/loader.h"
#include "headpond/engine/window_internal.h"

namespace headpond::internal {

/// As long as it lives, what the calling thread opens in `core` is part of `window`: it stands behind it, and is as
/// early.
class Opener {
 public:
  Opener(const Core& core, const Window& window)
      : core_(core), window_(window), before_(std::exchange(innermost(), this)) {}
  ~Opener() { innermost() = before_; }
  Opener(const Opener&) = delete;
  Opener& operator=(const Opener&) = delete;
  /// Null: none.
  static const Window* in(const Core& core) {
    const Opener* const opener = innermost();  // A program may run one engine within another one's task.
    return opener != nullptr && &opener->core_ == &core ? &opener->window_ : nullptr;
  }

 private:
  static const Opener*& innermost() {
    thread_local const Opener* opener = nullptr;
    return opener;
  }
  const Core& core_;
  const Window& window_;
  const Opener* const before_;
};

class Core final : public Feed, public std::enable_shared_from_this<Core> {
 public:
  Core(const Dataset& dataset, const LoaderOptions& options);
  ~Core() override;

  /// `node` run by the engine. Threads begin at it at once.
  std::unique_ptr<Iterator> open(const Node& node, const Binding& binding) override;
  /// It is begun when there is nothing else to do.
  void expect(const Node& node, const Binding& binding) override;
  /// What `make` opens, at the place that `visitor` restores: nothing of it is begun before.
  std::unique_ptr<Iterator> restored(const std::function<std::unique_ptr<Iterator>()>& make, StateVisitor& visitor);
  void release(const std::vector<std::shared_ptr<Window>>& held);
  /// The program is in this epoch now: what is expected of others will not come.
  void begin_epoch(uint64_t epoch);
  /// expect() of the next epoch.
  void expect_epoch(const Node& node, const Binding& binding);

  // ---- By who takes.
  /// Works a little for what is taken next; false: there was nothing that it may do.
  bool help(Context& context);
  /// Until something is ready that was not when `seen` was read from progress().
  void wait(uint64_t seen);
  uint64_t progress() const { return progress_.load(std::memory_order_acquire); }
  /// next() was called; it returns, having waited for so long; below 0: not at all.
  void arrive();
  void leave(int64_t waited_ns, bool with_batch);
  /// What runs now ends: its figures stay until the next.
  void keep_figures();
  /// Ends all threads; those that do not end are left behind.
  void stop();
  /// After fork() the child has no thread of it.
  bool is_of_another_process() const { return forks_ != forks_above(); }
  /// It is never destroyed.
  void stay() { self_ = shared_from_this(); }

  // ---- Of windows, under `mu`.
  void add(std::shared_ptr<Window> window) HEADPOND_REQUIRES(mu);
  void remove(const Window* window);
  bool fits(int64_t bytes) const;
  void made_progress();
  /// There may be work that was not there before.
  void wake() HEADPOND_NO_THREAD_SAFETY_ANALYSIS;  // Windows hold `mu`, unannotated.
  bool is_awaited() const { return waiting_; }
  /// What windows of `node` learned so far.
  Learned learned(const Node& node);
  void learn(const Node& node, const Learned& known) { learned_[&node] = known; }
  bool has_workers() const { return !workers_.empty(); }
  bool has_io_threads() const { return io_threads_ > 0; }
  /// How often the program has taken something.
  int64_t takes() const { return taken_; }
  /// Mean time between two takes of a window that gave `taken` units since the program's take `since`.
  double take_interval_ns(int64_t taken, int64_t since) const;

  bool is_root(const Node& node) const { return &node == dataset_.node().get(); }
  BufferPool& pool() { return pool_; }
  /// Of the memory, for what a cache keeps: the rest is for what is made ahead.
  int64_t may_keep() const { return options_.memory / 2; }
  int threads() const { return threads_; }
  const LoaderOptions& options() const { return options_; }
  LoaderStats stats();

  Mutex mu;
  int64_t pending_bytes = 0;  ///< Under `mu`: that units are going to take.
  int64_t ready_bytes = 0;    ///< Under `mu`: of units that wait.

 private:
  struct Worker {
    Thread thread;
    CondVar wake;
    int cpu = -1;  // That it is pinned to.
    bool asleep = false;
    const char* doing = nullptr;
  };
  struct Expected {
    const Node* node = nullptr;
    Binding binding = {};
    uint64_t epoch = 0;  // In which it comes.
    int height = 0;      // Of the node: what is nested in another comes before that.
  };
  struct Early {
    Expected what = {};
    std::unique_ptr<Iterator> iterator = nullptr;
    std::vector<std::shared_ptr<Window>> windows = {};
  };

  void run(Task& task, Context& context) HEADPOND_REQUIRES(mu);
  void finish_rows(const Task& task, int64_t elapsed_ns, Context& context) HEADPOND_REQUIRES(mu);
  bool claim(Role role, Task* task) HEADPOND_REQUIRES(mu);
  bool may_open_early() const HEADPOND_REQUIRES(mu);
  void open_early(Worker& self) HEADPOND_REQUIRES(mu);
  std::unique_ptr<Iterator> take_early(const Node& node, const Binding& binding);
  bool is_opening_early() const HEADPOND_REQUIRES(mu) {
    return opening_early_ != nullptr && early_thread_ == this_thread_id();
  }
  uint64_t epoch_here() const HEADPOND_REQUIRES(mu);
  /// Gives back what it replaces, to be dropped without the lock.
  std::vector<Early> expect_in(uint64_t epoch, const Node& node, const Binding& binding) HEADPOND_REQUIRES(mu);
  template <class IsStale>
  std::vector<Early> withdraw(IsStale is_stale) HEADPOND_REQUIRES(mu);
  Early* early_of(const Window& window) HEADPOND_REQUIRES(mu);
  int permits() const HEADPOND_REQUIRES(mu);
  void start_threads() HEADPOND_REQUIRES(mu);
  void start_io_thread() HEADPOND_REQUIRES(mu);
  bool start(Worker& worker, const std::string& name, void (Core::*body)(Worker&)) HEADPOND_REQUIRES(mu);
  void compute(Worker& self);
  void sleep(Worker& self) HEADPOND_REQUIRES(mu);
  void do_io(Worker& self);
  void wake_worker() HEADPOND_REQUIRES(mu);
  bool is_in_the_way(const Worker& worker) const HEADPOND_REQUIRES(mu);
  void measure_take() HEADPOND_REQUIRES(mu);

  const Dataset dataset_;  // Nodes live as long as threads do.
  const LoaderOptions options_;
  const std::vector<int> cpus_;
  const int threads_;
  const int forks_ = forks_above();
  std::shared_ptr<Core> self_;
  BufferPool pool_;
  std::atomic<uint64_t> progress_ = 0;

  // Of who takes.
  int64_t left_ns_ = 0, left_cpu_ns_ = 0;
  Estimate busy_{0.2, 0.2};  // The share of its step in which it computes.
  std::atomic<int> consumer_cpu_ = -1;
  std::atomic<bool> consumer_computes_ = false;

  CondVar ready_, ended_, opened_early_;
  std::deque<Worker> workers_, io_workers_;
  std::vector<std::shared_ptr<Window>> windows_;
  std::deque<Expected> expected_;
  std::vector<Early> early_;
  Early* opening_early_ = nullptr;
  int early_thread_ = 0;
  uint64_t epoch_ = 0;
  bool started_ = false, stopped_ = false, waiting_ = false, inline_ = false, warned_ = false;
  int running_ = 0, io_threads_ = 0, io_ceiling_ = options_.io_threads, alive_ = 0;
  std::map<const Node*, Learned> learned_;
  int64_t taken_ = 0, work_ns_ = 0, work_ns_at_take_ = 0;
  Estimate step_ns_{0.05, 0.5};               // Between leave() and arrive().
  double mean_work_ns_ = 0, mean_takes_ = 0;  // Of all stages.
  Estimate inline_batch_ns_{0.2, 0.2};
  mutable bool short_of_memory_ = false;  // Something was not claimed for that.
  bool polls_ = false;                    // A worker.
  LoaderStats stats_;                     // Its stages: those of the epoch before.
  std::string to_tell_;                   // A warning, told without the lock.
};

}  // namespace headpond::internal
