// SPDX-License-Identifier: Apache-2.0
#include "headpond/monitor/queue_monitor.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <thread>
#include <vector>

#include "headpond/base/clock.h"
#include "headpond/base/log.h"
#include "headpond/base/mutex.h"
#include "headpond/base/status.h"
#include "headpond/base/thread.h"
#include "headpond/base/trace.h"
#include "headpond/monitor/events.h"
#include "headpond/monitor/events_internal.h"
#include "headpond/queue/queue.h"
#include "headpond/queue/staging/map_staging_area.h"
#include "headpond/queue/staging/staging_area.h"

namespace headpond {

namespace {

int64_t element_bytes_of(const Queue& queue) {
  double bytes = 0;
  for (size_t i = 0; i < queue.shapes().size(); ++i) {
    const std::optional<int64_t> size = queue.shapes()[i].size();
    if (!size || queue.dtypes()[i] == DType::bytes) return 0;
    bytes += static_cast<double>(*size) * static_cast<double>(item_size(queue.dtypes()[i]));
  }
  constexpr double kMost = 1e15;  // No machine has as much.
  return static_cast<int64_t>(std::min(bytes, kMost));
}

QueueFigures figures_of(const QueueStats& stats) {
  return {.capacity = stats.capacity,
          .min_after_dequeue = stats.min_after_dequeue,
          .size = stats.size,
          .size_peak = stats.size_peak,
          .bytes = stats.bytes,
          .bytes_peak = stats.bytes_peak,
          .put_size_mean = stats.enqueue_size_mean,
          .take_size_mean = stats.dequeue_size_mean,
          .starved_ns = stats.dequeue_wait_ns,
          .starved_p50_ns = stats.dequeue_wait_p50_ns,
          .starved_p99_ns = stats.dequeue_wait_p99_ns,
          .full_ns = stats.enqueue_wait_ns,
          .full_p50_ns = stats.enqueue_wait_p50_ns,
          .full_p99_ns = stats.enqueue_wait_p99_ns};
}

QueueFigures figures_of(const StagingStats& stats) {
  return {.capacity = stats.capacity,
          .size = stats.size,
          .size_peak = stats.size_peak,
          .bytes = stats.bytes,
          .bytes_peak = stats.bytes_peak,
          .put_size_mean = stats.put_size_mean,
          .take_size_mean = stats.get_size_mean,
          .starved_ns = stats.get_wait_ns,
          .starved_p50_ns = stats.get_wait_p50_ns,
          .starved_p99_ns = stats.get_wait_p99_ns,
          .full_ns = stats.put_wait_ns,
          .full_p50_ns = stats.put_wait_p50_ns,
          .full_p99_ns = stats.put_wait_p99_ns};
}

QueueSource source_of(const auto& area, const std::string& summary_name) {
  return {.name = area.name(),
          .capacity = area.stats().capacity,
          .fill = [area] { return QueueFill{.size = area.size(), .waiting = area.waiting_gets()}; },
          .summary_name = summary_name,
          .figures = [area] { return figures_of(area.stats()); }};
}

}  // namespace

QueueSource queue_source(const Queue& queue, std::string summary_name) {
  return {queue.name(),
          queue.capacity(),
          queue.stats().min_after_dequeue,
          [queue] {
            const QueueStats stats = queue.stats();
            return QueueFill{stats.size, queue.is_closed(), stats.waiting_dequeues};
          },
          std::move(summary_name),
          element_bytes_of(queue),
          [queue] { return figures_of(queue.stats()); }};
}

QueueSource queue_source(const StagingArea& area, const std::string& summary_name) {
  return source_of(area, summary_name);
}
QueueSource queue_source(const MapStagingArea& area, const std::string& summary_name) {
  return source_of(area, summary_name);
}

int64_t obtainable(const QueueSource& source, QueueFill fill) {
  return fill.closed ? fill.size : std::max<int64_t>(fill.size - source.min_after_dequeue, 0);
}

Scalar fullness(const QueueSource& source, int64_t size, TagStyle style) {
  const int64_t minimum = std::max<int64_t>(source.min_after_dequeue, 0);
  const int64_t above = source.capacity - minimum;
  const std::string last = !source.summary_name.empty() ? source.summary_name
                           : source.capacity < 0        ? "size"
                           : minimum == 0               ? fmt::format("fraction_of_{}_full", above)
                                                        : fmt::format("fraction_over_{}_of_{}_full", minimum, above);
  const auto inside = static_cast<double>(source.capacity < 0 ? size : std::max<int64_t>(size - minimum, 0));
  return {fmt::format("{}{}/{}", style == TagStyle::queue ? "queue/" : "", source.name, last),
          source.capacity < 0 ? inside : inside / static_cast<double>(above)};
}

class QueueMonitor::State {
 public:
  explicit State(QueueMonitorOptions options) : options_(std::move(options)) {}

  int64_t add(QueueSource source);
  void remove(int64_t id);
  QueueSummary summary(int64_t id);
  std::string name(int64_t id);
  void start(const std::shared_ptr<State>& self) {
    thread_ = Thread("monitor", [self] { self->run(); });
  }
  void stop();

 private:
  struct Watched {
    QueueSource source;
    const char* counter_name;
    int64_t samples = 0;
    int64_t empty = 0, full = 0, waiting = 0, held_back = 0;
    double fraction_sum = 0;
  };

  void run();
  /// One sample of each queue; its scalars too iff `points`.
  std::vector<Scalar> sample(bool points) HEADPOND_REQUIRES(mu_);
  void write(std::vector<Scalar> points, int64_t now, bool last);
  bool rates_due(int64_t now, bool last) const;

  bool is_own_thread() const HEADPOND_REQUIRES(mu_) { return std::this_thread::get_id() == own_; }

  const QueueMonitorOptions options_;
  Thread thread_;

  Mutex mu_;
  CondVar wake_;
  std::map<int64_t, Watched> queues_ HEADPOND_GUARDED_BY(mu_);  // By id: in order of registration.
  int64_t next_id_ HEADPOND_GUARDED_BY(mu_) = 0;
  bool stopping_ HEADPOND_GUARDED_BY(mu_) = false;
  bool stopped_ HEADPOND_GUARDED_BY(mu_) = false;
  std::thread::id own_ HEADPOND_GUARDED_BY(mu_) = {};  // The thread's; it is none before it runs.
  // Rounds asked for out of turn, when a queue comes or goes, and how many of them are done.
  int64_t asked_ HEADPOND_GUARDED_BY(mu_) = 0;
  int64_t answered_ HEADPOND_GUARDED_BY(mu_) = 0;

  // The thread's own.
  PipelineRates rates_;
  int64_t rate_points_ = 0;
  int64_t rated_ns_ = 0;
  int64_t writes_ = 0;
  bool events_failed_ = false;
  bool is_left_alone_ = false;  // The monitor was destroyed by a function that the thread calls.
};

int64_t QueueMonitor::State::add(QueueSource source) {
  MutexLock lock(mu_);
  ++asked_;
  wake_.notify_all();
  const auto taken = [&](const std::string& name) HEADPOND_REQUIRES(mu_) {
    return std::any_of(queues_.begin(), queues_.end(),
                       [&](const auto& other) { return other.second.source.name == name; });
  };
  if (source.name.empty()) source.name = "queue";
  const std::string wanted = source.name;
  for (int number = 1; taken(source.name); ++number) source.name = fmt::format("{}_{}", wanted, number);
  const char* const counter_name = trace::intern("queue/" + source.name);
  queues_.emplace(next_id_, Watched{.source = std::move(source), .counter_name = counter_name});
  return next_id_++;
}

void QueueMonitor::State::remove(int64_t id) {
  MutexLock lock(mu_);
  const int64_t mine = ++asked_;
  wake_.notify_all();
  while (!stopped_ && answered_ < mine && !is_own_thread()) wake_.wait(mu_);
  queues_.erase(id);
}

std::string QueueMonitor::State::name(int64_t id) {
  MutexLock lock(mu_);
  return queues_.at(id).source.name;
}

QueueSummary QueueMonitor::State::summary(int64_t id) {
  MutexLock lock(mu_);
  const Watched& queue = queues_.at(id);
  const auto samples = static_cast<double>(std::max<int64_t>(queue.samples, 1));
  const auto waiting = static_cast<double>(std::max<int64_t>(queue.waiting, 1));
  return {.samples = queue.samples,
          .fraction_mean = queue.fraction_sum / samples,
          .empty_share = static_cast<double>(queue.empty) / samples,
          .full_share = static_cast<double>(queue.full) / samples,
          .waiting_samples = queue.waiting,
          .held_back_share = static_cast<double>(queue.held_back) / waiting};
}

std::vector<Scalar> QueueMonitor::State::sample(bool points) {
  std::vector<Scalar> scalars;
  for (auto& [id, queue] : queues_) {
    const QueueFill fill = queue.source.fill();
    Scalar scalar = fullness(queue.source, fill.size, options_.tag_style);
    trace::counter(queue.counter_name, fill.size);
    if (!fill.closed || fill.size > 0) {
      ++queue.samples;
      const bool empty = obtainable(queue.source, fill) == 0, waits = fill.waiting > 0;
      queue.empty += empty ? 1 : 0;
      queue.full += queue.source.capacity >= 0 && fill.size >= queue.source.capacity ? 1 : 0;
      queue.waiting += waits ? 1 : 0;
      queue.held_back += waits && empty && fill.size > 0 ? 1 : 0;
      queue.fraction_sum += scalar.value;
    }
    if (points) scalars.push_back(std::move(scalar));
  }
  return scalars;
}

void QueueMonitor::State::run() {
  const int64_t write_ns = std::chrono::nanoseconds(options_.write_every).count();
  int64_t write_at = now_ns();
  MutexLock lock(mu_);
  own_ = std::this_thread::get_id();
  while (!stopped_) {
    const int64_t now = now_ns();
    const auto next = std::chrono::steady_clock::now() + options_.sample_every;
    const bool last = stopping_;
    const int64_t asked = asked_;
    const bool points = last || asked > answered_ || now >= write_at;
    std::vector<Scalar> scalars = sample(points);
    mu_.unlock();  // A slow disk holds up nobody.
    if (options_.on_sample) options_.on_sample(now);
    if (points && !is_left_alone_) write(std::move(scalars), now, last);
    mu_.lock();
    if (is_left_alone_) return;
    if (points) write_at = now + write_ns;
    answered_ = asked;
    stopped_ = last;
    wake_.notify_all();
    while (!stopping_ && answered_ == asked_ && wake_.wait_until(mu_, next)) continue;
  }
}

bool QueueMonitor::State::rates_due(int64_t now, bool last) const {
  if (!options_.totals) return false;
  // A rate over the short time since a queue came or went would be noise.
  const int64_t least = std::chrono::nanoseconds(options_.write_every).count() / 2;
  return rate_points_ == 0 || now - rated_ns_ >= least || (last && rate_points_ == 1);
}

void QueueMonitor::State::write(std::vector<Scalar> points, int64_t now, bool last) {
  const PipelineTotals totals = options_.totals ? options_.totals() : PipelineTotals{};
  if (is_left_alone_) return;
  if (rates_due(now, last)) {
    const std::vector<Scalar> rates = rates_.since_last(totals, now);
    points.insert(points.end(), rates.begin(), rates.end());
    rated_ns_ = now;
    ++rate_points_;
  }
  if (options_.on_points) options_.on_points(points, now, last);
  if (is_left_alone_ || options_.events == nullptr || events_failed_) return;
  const int64_t step = totals.steps.value_or(writes_);
  writes_ += points.empty() ? 0 : 1;
  for (const Scalar& point : points) {
    if (const auto written = options_.events->scalar(internal::as_utf8(point.tag), point.value, step); !written) {
      log(LogLevel::warning, "no more scalars of the queues are written: " + written.error().to_string());
      events_failed_ = true;
      return;
    }
  }
}

void QueueMonitor::State::stop() {
  bool is_own = false;
  {
    MutexLock lock(mu_);
    is_own = is_own_thread();
    stopping_ = true;
    if (is_own) stopped_ = is_left_alone_ = true;
  }
  wake_.notify_all();
  is_own ? thread_.detach() : thread_.join();
}

void internal::check(const QueueMonitorOptions& options) {
  if (options.sample_every.count() <= 0 || options.write_every.count() < 0) {
    throw Exception(
        Error(ErrorKind::InvalidArgument, fmt::format("a monitor cannot sample each {} ms and write each {} ms",
                                                      options.sample_every.count(), options.write_every.count())));
  }
}

QueueMonitor::QueueMonitor(QueueMonitorOptions options) {
  internal::check(options);
  state_ = std::make_shared<State>(std::move(options));
  state_->start(state_);
}

QueueMonitor::~QueueMonitor() { state_->stop(); }

QueueMonitor::Handle QueueMonitor::watch(QueueSource source) {
  const bool room = source.capacity < 0 || source.capacity > source.min_after_dequeue;
  if (!source.fill || source.capacity == 0 || source.min_after_dequeue < 0 || !room) {
    throw Exception(
        Error(ErrorKind::InvalidArgument,
              fmt::format("cannot watch the queue \"{}\": capacity {}, minimum fill {}, {} fill function", source.name,
                          source.capacity, source.min_after_dequeue, source.fill ? "a" : "no")));
  }
  return Handle(state_, state_->add(std::move(source)));
}

void QueueMonitor::Handle::reset() {
  if (state_) state_->remove(id_);
  state_.reset();
}

std::string QueueMonitor::Handle::name() const { return state_->name(id_); }
QueueSummary QueueMonitor::Handle::summary() const { return state_->summary(id_); }

}  // namespace headpond
