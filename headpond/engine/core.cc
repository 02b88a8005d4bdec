// SPDX-License-Identifier: Apache-2.0
#include <sched.h>
#include <sys/resource.h>
#include <time.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "headpond/base/clock.h"
#include "headpond/base/cpu.h"
#include "headpond/base/log.h"
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

// What `work` throws.
template <class Work>
Error error_of(const Work& work) {
  try {
    work();
    return {};
  } catch (...) {
    return current_exception_error();
  }
}

// The mutex is not held as long as this lives.
class HEADPOND_ANNOTATE(scoped_lockable) Unlocked {
 public:
  explicit Unlocked(Mutex& mutex) HEADPOND_RELEASE(mutex) : mutex_(mutex) { mutex_.unlock(); }
  ~Unlocked() HEADPOND_RELEASE() { mutex_.lock(); }  // To the analysis: gives up what the constructor did.
  Unlocked(const Unlocked&) = delete;
  Unlocked& operator=(const Unlocked&) = delete;

 private:
  Mutex& mutex_;
};

struct Done {
  std::shared_ptr<Unit> opened;
  Got got = Got::value;
  Error error;  // Thrown.
  int64_t elapsed_ns = 0;
  bool waited = false;
};

Done carry_out(const Core& core, const Task& task, Context& context) {
  Done done;
  Window& window = *task.window;
  hand_over_point();
  const Usage usage = task.is_long ? thread_usage() : Usage();
  const int64_t began = now_ns();
  done.error = error_of([&] {
    const trace::Span span(window.trace_name(), trace::Category::op);
    if (task.unit) {
      window.work(*task.unit, task.first, task.count, context);
    } else {
      const Opener opener(core, window);
      done.got = window.open(task.count, context, done.opened);
    }
  });
  done.elapsed_ns = now_ns() - began;
  done.waited = task.is_long && has_waited(usage, thread_usage(), done.elapsed_ns);
  hand_over_point();
  return done;
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

namespace {

// What the calling thread opens as long as this lives is not begun before its end.
class Held {
 public:
  explicit Held(Core& core) : core_(core), before_(std::exchange(current, this)) {}
  ~Held() {
    current = before_;
    core_.release(windows_);
  }
  Held(const Held&) = delete;
  Held& operator=(const Held&) = delete;
  static bool is_in(const Core& core) { return current != nullptr && &current->core_ == &core; }
  static void add(const Core& core, const std::shared_ptr<Window>& window) {
    if (!is_in(core)) return;
    window->held = true;
    current->windows_.push_back(window);
  }

 private:
  static thread_local Held* current;
  Core& core_;
  Held* const before_;
  std::vector<std::shared_ptr<Window>> windows_;
};
thread_local Held* Held::current = nullptr;

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
  if (auto early = take_early(node, binding); early && !Held::is_in(*this)) return early;  // Held: at another place.
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

std::unique_ptr<Iterator> Core::restored(const std::function<std::unique_ptr<Iterator>()>& make,
                                         StateVisitor& visitor) {
  const Held held(*this);
  auto iterator = make();
  iterator->visit_state(visitor);  // It may open others.
  return iterator;
}

void Core::release(const std::vector<std::shared_ptr<Window>>& held) {
  MutexLock lock(mu);
  for (const auto& window : held) window->held = false;
  wake();
}

void Core::add(std::shared_ptr<Window> window) {
  window->epoch = epoch_here();
  Held::add(*this, window);
  const Window* const opener = Opener::in(*this);
  const auto is_opener = [opener](const auto& other) { return other.get() == opener; };
  const auto after = std::find_if(windows_.begin(), windows_.end(), is_opener);
  Early* const early = is_opening_early() ? opening_early_ : after != windows_.end() ? early_of(**after) : nullptr;
  window->early = early != nullptr;
  if (early != nullptr) {
    early->windows.insert(std::find_if(early->windows.begin(), early->windows.end(), is_opener), window);
  }
  // Nearest to the program first: a window is made after those that it takes from, or by one that takes from it.
  const auto place = after != windows_.end() ? after + 1 : window->early ? windows_.end() : windows_.begin();
  windows_.insert(place, std::move(window));
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

bool Core::fits(int64_t bytes) const {
  const int64_t used = std::max(pool_.stats().bytes_in_use, ready_bytes);
  int64_t all = 0;
  const bool fits = !__builtin_add_overflow(used + pending_bytes, bytes, &all) && all <= options_.memory;
  short_of_memory_ = short_of_memory_ || !fits;
  return fits;
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
  if (stopped_) return false;
  for (const auto& window : windows_) {
    if (!window->early && window->claim(role, true, task)) return true;
  }
  if (role == Role::helper || options_.run_ahead == 0) return false;
  return std::any_of(windows_.begin(), windows_.end(), [&](const auto& w) { return w->claim(role, false, task); });
}

void Core::run(Task& task, Context& context) {
  const uint64_t before = progress();
  Window& window = *task.window;
  Done done;
  {
    const Unlocked unlocked(mu);
    done = carry_out(*this, task, context);
  }
  work_ns_ += done.elapsed_ns;
  stats_.memory_peak = std::max(stats_.memory_peak, pool_.stats().bytes_in_use);
  if (task.is_long) window.saw_wait(task, done.waited);
  if (done.error) {
    window.lose(task, std::move(done.error));
  } else if (!task.unit) {
    window.finish_open(done.opened, done.got, done.elapsed_ns, before, task.count);
  } else {
    finish_rows(task, done.elapsed_ns, context);
  }
  if (!window.is_closed() && task.unit.use_count() != 1) return;
  const Unlocked unlocked(mu);  // This may be the last owner, whose inputs take the lock, and whose elements are large.
  task = {};
  done.opened.reset();
}

void Core::finish_rows(const Task& task, int64_t elapsed_ns, Context& context) {
  Window& window = *task.window;
  const bool complete = window.finish(task, elapsed_ns);
  if (complete) {
    Error error;
    {
      const Unlocked unlocked(mu);
      error = error_of([&] { window.complete(*task.unit, context); });
    }
    error ? window.lose(task, std::move(error)) : window.finish_unit(*task.unit);
  }
  if (!task.samples) return;
  const int64_t began = now_ns();
  {
    const Unlocked unlocked(mu);  // What fails here is told where the element is made.
    const Error ignored = error_of([&] { window.sample(*task.unit, task.first, context); });
  }
  window.sampled(now_ns() - began);
}

bool Core::help(Context& context) {
  MutexLock lock(mu);
  start_threads();
  Task task;
  const bool may = workers_.empty() || (options_.consumer_helps && running_ < threads_);
  if (!may || !claim(Role::helper, &task)) return false;
  ++running_;
  ++stats_.helped;
  const bool opens = task.unit == nullptr;
  {
    const CurrentPool current(pool_);
    run(task, context);
  }
  --running_;
  if (opens) wake();
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
  std::string to_tell;
  {
    MutexLock lock(mu);
    to_tell.swap(to_tell_);
    measure_take();
    if (waited_ns >= 0) {
      ++stats_.waits;
      stats_.wait_ns += waited_ns;
      if (stats_.batches == 0) stats_.first_wait_ns = waited_ns;
    }
    if (with_batch) ++stats_.batches;
  }
  if (!to_tell.empty()) log(LogLevel::warning, to_tell);
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
