// SPDX-License-Identifier: Apache-2.0
#include <sched.h>
#include <sys/resource.h>
#include <time.h>

#include <algorithm>
#include <utility>

#include "headpond/base/clock.h"
#include "headpond/base/cpu.h"
#include "headpond/base/trace.h"
#include "headpond/engine/core_internal.h"

namespace headpond::internal {
namespace {

constexpr double kInlineNs = 40'000;  // A batch cheaper than that costs less than handing it over.
constexpr double kWorthMeasuringNs = 200'000;
constexpr double kMeanOver = 20'000;  // Takes; several times the largest stock.
constexpr double kLearnAfter = 4;     // Takes.

int64_t thread_cpu_ns() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
}

struct Usage {
  int64_t cpu_ns = 0;
  int64_t waits = 0;      // Given up the processor by itself.
  int64_t preempted = 0;  // By others.
};

Usage thread_usage() {
  rusage usage{};
  getrusage(RUSAGE_THREAD, &usage);
  return {thread_cpu_ns(), usage.ru_nvcsw, usage.ru_nivcsw};
}

// On a busy machine a task that computes is not at work most of the time either, but others take the processor from it.
bool has_waited(const Usage& before, const Usage& after, int64_t elapsed_ns) {
  return after.waits - before.waits > after.preempted - before.preempted &&
         after.cpu_ns - before.cpu_ns < elapsed_ns / 2;
}

}  // namespace

Core::Core(const Dataset& dataset, const LoaderOptions& options)
    : dataset_(dataset),
      options_(options),
      cpus_(allowed_cpus()),
      threads_(options.threads < 0 ? cpu_count() : options.threads),
      pool_(options.memory, options.memory) {
  stats_.threads = threads_;
}

// A thread that was left behind may be the last owner of windows, which close here: as long as the rest is there.
Core::~Core() {
  const auto early = std::move(early_);
  const auto windows = std::move(windows_);
}

// ---- what runs

std::unique_ptr<Iterator> Core::take_early(const Node& node, const Binding& binding) {
  Early early;  // Its windows may end with it, and take the lock then.
  MutexLock lock(mu);
  const auto is_this = [&](const Expected& what) { return what.node == &node && what.binding == binding; };
  std::erase_if(expected_, is_this);
  while (opening_early_ != nullptr && early_thread_ != this_thread_id() && is_this(opening_early_->what) && !stopped_) {
    opened_early_.wait(mu);
  }
  const auto found = std::find_if(early_.begin(), early_.end(), [&](const Early& e) { return is_this(e.what); });
  if (found == early_.end()) return nullptr;
  early = std::move(*found);
  early_.erase(found);
  for (const auto& window : early.windows) {
    if (window->is_closed()) continue;
    remove(window.get());
    window->early = false;
    windows_.insert(windows_.begin(), window);
  }
  made_progress();
  wake();
  return std::move(early.iterator);
}

namespace {

int height_of(const Node& node) {
  int height = 0;
  for (const Node::Ref& input : node.facts().inputs) height = std::max(height, height_of(*input));
  return height + 1;
}

class WindowIterator final : public Iterator {
 public:
  explicit WindowIterator(std::shared_ptr<Window> window) : window_(std::move(window)) {}
  ~WindowIterator() override { window_->close(); }
  Got next(Context& context, Element& out) override { return window_->next(context, out); }
  void visit_state(StateVisitor& visitor) override { window_->visit_state(visitor); }

 private:
  const std::shared_ptr<Window> window_;
};

}  // namespace

std::unique_ptr<Iterator> Core::open(const Node& node, const Binding& binding) {
  if (auto early = take_early(node, binding)) return early;
  const Stage stage = stage_of(node);
  if (stage.how == How::in_order) return node.iterate(binding, *this);
  const auto make = stage.how == How::rows        ? make_rows_window
                    : stage.how == How::positions ? make_positions_window
                                                  : make_ahead_window;
  auto window = make(*this, stage, binding);
  {
    MutexLock lock(mu);
    add(window);
  }
  return std::make_unique<WindowIterator>(std::move(window));
}

void Core::add(std::shared_ptr<Window> window) {
  if (opening_early_ != nullptr && early_thread_ == this_thread_id()) {
    window->early = true;
    opening_early_->windows.push_back(window);
  }
  // Nearest to the program first: a window is made after those that it takes from.
  windows_.insert(window->early ? windows_.end() : windows_.begin(), std::move(window));
  wake();
}

Learned Core::learned(const Node& node) {
  MutexLock lock(mu);
  const auto found = learned_.find(&node);
  return found != learned_.end() ? found->second : Learned();
}

void Core::remove(const Window* window) {
  std::erase_if(windows_, [&](const auto& other) { return other.get() == window; });
}

void Core::expect(const Node& node, const Binding& binding) {
  const int height = height_of(node);
  MutexLock lock(mu);
  expected_.push_back({&node, binding, round_, height});
  wake();
}

void Core::forget_expected() {
  std::vector<Early> dropped;  // Their windows take the lock when they close.
  {
    MutexLock lock(mu);
    std::erase_if(expected_, [&](const Expected& what) { return what.round < round_; });
    for (auto& early : early_) {
      if (early.what.round < round_) dropped.push_back(std::move(early));
    }
    std::erase_if(early_, [](const Early& early) { return !early.iterator; });
    ++round_;
  }
}

void Core::hold(bool held) {
  MutexLock lock(mu);
  held_ = held;
  wake();
}

bool Core::fits(int64_t bytes) const {
  const int64_t used = std::max(pool_.stats().bytes_in_use, ready_bytes);
  int64_t all = 0;
  return !__builtin_add_overflow(used + pending_bytes, bytes, &all) && all <= options_.memory;
}

void Core::made_progress() {
  progress_.fetch_add(1, std::memory_order_acq_rel);
  if (waiting_) ready_.notify_one();
}

double Core::take_interval_ns(int64_t taken, int64_t since) const {
  if (taken <= 0 || taken_ <= since || !step_ns_.known()) return 0;
  return std::max(step_ns_.value(), 1000.0) * static_cast<double>(taken_ - since) / static_cast<double>(taken);
}

// ---- tasks

bool Core::claim(Role role, Task* task) {
  if (stopped_ || held_) return false;
  for (const auto& window : windows_) {
    if (!window->early && window->claim(role, true, task)) return true;
  }
  if (role == Role::helper || options_.run_ahead == 0) return false;
  return std::any_of(windows_.begin(), windows_.end(), [&](const auto& w) { return w->claim(role, false, task); });
}

void Core::run(Task& task, Context& context) {
  const uint64_t before = progress();
  Window& window = *task.window;
  mu.unlock();
  hand_over_point();
  const Usage usage = task.is_long ? thread_usage() : Usage();
  const int64_t began = now_ns();
  std::shared_ptr<Unit> opened;
  Got got = Got::value;
  {
    const trace::Span span(window.trace_name(), trace::Category::op);
    if (task.unit) {
      window.work(*task.unit, task.first, task.count, context);
    } else {
      got = window.open(task.count, context, opened);
    }
  }
  const int64_t elapsed = now_ns() - began;
  const bool waited = task.is_long && has_waited(usage, thread_usage(), elapsed);
  if (task.samples) window.sample(*task.unit, task.first, context);
  const int64_t sampling = task.samples ? now_ns() - began - elapsed : 0;
  hand_over_point();
  mu.lock();
  work_ns_ += elapsed;
  stats_.memory_peak = std::max(stats_.memory_peak, pool_.stats().bytes_in_use);
  if (task.is_long) window.saw_wait(waited);
  if (!task.unit) {
    window.finish_open(opened, got, elapsed, before, task.count);
  } else {
    if (task.samples) window.sampled(sampling);
    finish_rows(task, elapsed, context);
  }
  if (!window.is_closed() && task.unit.use_count() != 1) return;
  mu.unlock();  // This may be the last owner, whose inputs take the lock when they go, and whose elements may be large.
  task = {};
  opened.reset();
  mu.lock();
}

void Core::finish_rows(const Task& task, int64_t elapsed_ns, Context& context) {
  Window& window = *task.window;
  if (!window.finish(task, elapsed_ns)) return;
  mu.unlock();
  window.complete(*task.unit, context);
  mu.lock();
  window.finish_unit(*task.unit);
}
bool Core::help(Context& context) {
  MutexLock lock(mu);
  start_threads();
  Task task;
  const bool may = workers_.empty() || (options_.consumer_helps && running_ < threads_);
  if (!may || !claim(Role::helper, &task)) return false;
  ++running_;
  ++stats_.helped;
  {
    const CurrentPool current(pool_);
    run(task, context);
  }
  --running_;
  return true;
}

void Core::wait(uint64_t seen) {
  MutexLock lock(mu);
  waiting_ = true;
  wake();
  while (progress() == seen && !stopped_) ready_.wait(mu);
  waiting_ = false;
}

int Core::permits() const {
  const bool leave_one = !waiting_ && consumer_computes_.load(std::memory_order_relaxed);
  return std::max(1, threads_ - (leave_one ? 1 : 0));
}

// ---- the step of who takes

void Core::arrive() {
  const int64_t now = now_ns();
  const bool measures = left_cpu_ns_ > 0;
  if (measures) {  // Clamped: the program may have come on another thread, which has another clock.
    const auto used = static_cast<double>(thread_cpu_ns() - left_cpu_ns_);
    busy_.add(std::clamp(used / static_cast<double>(now - left_ns_ + 1), 0.0, 1.0));
  }
  MutexLock lock(mu);
  if (left_ns_ > 0) step_ns_.add(static_cast<double>(now - left_ns_));
}

void Core::leave(int64_t waited_ns, bool with_batch) {
  {
    MutexLock lock(mu);
    measure_take();
    if (waited_ns >= 0) {
      ++stats_.waits;
      stats_.wait_ns += waited_ns;
      if (stats_.batches == 0) stats_.first_wait_ns = waited_ns;
    }
    if (with_batch) ++stats_.batches;
  }
  // Not known: it does, so that the first steps are not held up either.
  consumer_computes_.store(!busy_.known() || busy_.value() > 0.5, std::memory_order_relaxed);
  const bool measures = !step_ns_.known() || step_ns_.value() > kWorthMeasuringNs;
  left_cpu_ns_ = measures ? thread_cpu_ns() : 0;
  if (measures) consumer_cpu_.store(sched_getcpu(), std::memory_order_relaxed);
  left_ns_ = now_ns();
}

// Work is counted when it is done, takes when they are: so while there is a stock the mean over many takes is at least
// what a batch costs, never less. Without a stock, when batches are made by who takes, each take shows its own.
void Core::measure_take() {
  ++taken_;
  const auto work = static_cast<double>(work_ns_ - std::exchange(work_ns_at_take_, work_ns_));
  if (inline_) {
    inline_batch_ns_.add(work);
    if (inline_batch_ns_.value() < 2 * kInlineNs) return;
    inline_ = false;
    mean_work_ns_ = mean_takes_ = 0;
    wake();
    return;
  }
  mean_work_ns_ += work;
  mean_takes_ += 1;
  if (mean_takes_ > kMeanOver) {
    mean_work_ns_ /= 2;
    mean_takes_ /= 2;
  }
  const bool any_blocking =
      std::any_of(windows_.begin(), windows_.end(), [](const auto& window) { return window->is_blocking(); });
  inline_ =
      options_.consumer_helps && mean_takes_ >= kLearnAfter && !any_blocking && mean_work_ns_ < kInlineNs * mean_takes_;
  inline_batch_ns_ = {0.2, 0.2};
}

LoaderStats Core::stats() {
  MutexLock lock(mu);
  LoaderStats stats = stats_;
  stats.inline_now = inline_;
  stats.io_threads = io_threads_;
  stats.memory_in_use = std::max(pool_.stats().bytes_in_use, ready_bytes);
  std::vector<StageStats> stages;
  for (const auto& window : windows_) {
    if (!window->early) stages.push_back(window->stats());
  }
  if (!stages.empty()) stats.stages = std::move(stages);
  return stats;
}

void Core::keep_figures() {
  std::vector<StageStats> stages = stats().stages;
  MutexLock lock(mu);
  stats_.stages = std::move(stages);
}

}  // namespace headpond::internal
