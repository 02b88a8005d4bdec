// SPDX-License-Identifier: Apache-2.0
// One thread samples how full queues are while a program runs. It writes scalars for TensorBoard and counters for the
// trace, and keeps a summary for the program's own report.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "headpond/monitor/pipeline_rates.h"

namespace headpond {

class EventWriter;
class MapStagingArea;
class Queue;
class StagingArea;

struct QueueFill {
  int64_t size = 0;
  bool closed = false;  ///< For enqueues. Then the minimum fill no longer applies.
  int64_t waiting = 0;  ///< Dequeues that wait.
};

/// What a queue or a staging area counted since it was made. Times are sums over calls; percentiles are those of single
/// waits.
struct QueueFigures {
  int64_t capacity = -1;
  int64_t min_after_dequeue = 0;  ///< Elements that a shuffle queue keeps until it is closed.
  int64_t size = 0, size_peak = 0;
  int64_t bytes = 0, bytes_peak = 0;
  /// Elements inside when a call had put its own, and when one began to take: the means. Near 0: the producers limit;
  /// near the capacity: the consumers do.
  double put_size_mean = 0, take_size_mean = 0;
  int64_t starved_ns = 0, starved_p50_ns = 0, starved_p99_ns = 0;  ///< Waits to take: there was nothing.
  int64_t full_ns = 0, full_p50_ns = 0, full_p99_ns = 0;           ///< Waits to put: there was no room.
};

/// A queue as the monitor sees it. `fill` is called by the monitor's thread; it must be cheap and not throw.
struct QueueSource {
  std::string name;
  int64_t capacity = -1;          ///< < 0: unbounded.
  int64_t min_after_dequeue = 0;  ///< 0: not a shuffle queue.
  std::function<QueueFill()> fill;
  std::string summary_name = "";  ///< The tag's last part, in place of "fraction_...".
  int64_t element_bytes = 0;      ///< Bytes of an element's payload; 0: not known, or it differs.
  /// Empty: it does not count. Called as `fill`, but less often, and by the thread that ends the watch; it must not
  /// call the RunLog that watches.
  std::function<QueueFigures()> figures = {};
};

/// Keeps the queue itself alive as long as it is registered.
QueueSource queue_source(const Queue& queue, std::string summary_name = "");
QueueSource queue_source(const StagingArea& area, const std::string& summary_name = "");
QueueSource queue_source(const MapStagingArea& area, const std::string& summary_name = "");

/// `queue`: "queue/<name>/fraction_of_32_full", which TensorBoard groups under "queue"; `tf1`: TensorFlow 1's
/// "<name>/fraction_of_32_full".
enum class TagStyle : uint8_t { queue, tf1 };

/// A queue's tag and what it says for `size`:
/// - ".../fraction_of_<capacity>_full" = size / capacity;
/// - a shuffle queue: ".../fraction_over_<min>_of_<capacity - min>_full" = max(0, size - min) / (capacity - min);
/// - an unbounded queue: ".../size";
/// - with a summary_name: ".../<summary_name>", and the same values.
/// A fraction near 1: producers are ahead, and training limits. Near 0: the consumer takes each element as soon as it
/// is there, and the producers limit: add producers or make them cheaper.
Scalar fullness(const QueueSource& source, int64_t size, TagStyle style = TagStyle::queue);

/// Elements that a consumer can take now: above the minimum fill, or all of a closed queue.
int64_t obtainable(const QueueSource& source, QueueFill fill);

/// Over the samples so far. Samples of a queue that is closed and empty do not count: its work is done.
struct QueueSummary {
  int64_t samples = 0;
  /// The mean of fullness(); of an unbounded queue its mean size.
  double fraction_mean = 0;
  /// The share of samples with nothing obtainable. Near 0: the consumer never found the queue empty. Near 1: nearly
  /// always, so it waits for each element: the producers limit.
  double empty_share = 0;
  /// The share of samples without room for another element. Near 1: the consumer limits.
  double full_share = 0;
  /// The samples in which a dequeue waited; and the share of these in which elements were inside that the minimum fill
  /// held back. Near 1: the minimum is too large for the capacity, or the capacity too small.
  int64_t waiting_samples = 0;
  double held_back_share = 0;
};

struct QueueMonitorOptions {
  std::chrono::milliseconds sample_every{100};
  std::chrono::milliseconds write_every{1000};  ///< A point of each tag.
  TagStyle tag_style = TagStyle::queue;
  EventWriter* events = nullptr;                ///< Not owned, outlives the monitor; nullptr: no scalars.
  std::function<PipelineTotals()> totals = {};  ///< The consumer's running totals, for the `pipeline/` scalars and
                                                ///< `steps` as the points' step; called by the monitor's thread.
  std::function<void(int64_t now_ns)> on_sample = {};  ///< Called by the monitor's thread each `sample_every`.
  /// Called by the monitor's thread with the points that it writes next; may add others. `last`: no more come.
  std::function<void(std::vector<Scalar>& points, int64_t now_ns, bool last)> on_points = {};
};

namespace internal {

/// Throws as QueueMonitor().
void check(const QueueMonitorOptions& options);

}  // namespace internal

/// A queue is sampled, and its fill written, as long as its handle lives. Thread-safe.
///
/// Points carry totals().steps as their step, or, where steps are not counted, the number of times that points were
/// written before. A queue's first point is written when it is registered, its last one when its handle goes. An error
/// of the event file is logged once; the scalars end there, the sampling goes on.
class QueueMonitor {
  class State;

 public:
  /// Keeps a queue registered. Destroying or resetting it waits for a last sample, but for in the options' functions;
  /// the source is not called after that.
  class Handle {
   public:
    Handle() = default;
    Handle(Handle&& other) noexcept = default;
    Handle& operator=(Handle&& other) noexcept {
      reset();
      state_ = std::move(other.state_);
      id_ = other.id_;
      return *this;
    }
    ~Handle() { reset(); }
    void reset();
    /// Also after the monitor itself is gone. REQUIRES: a registered queue.
    QueueSummary summary() const;
    /// The source's name; of several sources of one name, "queue", "queue_1", and so on. REQUIRES: a registered queue.
    std::string name() const;

   private:
    friend class QueueMonitor;
    Handle(std::shared_ptr<State> state, int64_t id) : state_(std::move(state)), id_(id) {}
    std::shared_ptr<State> state_;
    int64_t id_ = 0;
  };

  /// Starts the thread "monitor". Throws Exception(InvalidArgument) iff sample_every is not above 0 or write_every is
  /// below 0.
  explicit QueueMonitor(QueueMonitorOptions options = {});
  /// Takes a last sample, writes the last points, and joins without waiting for the next sample's time. One of the
  /// options' functions may destroy it: then nothing more is written.
  ~QueueMonitor();
  QueueMonitor(const QueueMonitor&) = delete;
  QueueMonitor& operator=(const QueueMonitor&) = delete;

  /// Throws Exception(InvalidArgument) iff the source has no fill function or a capacity that is 0 or, if bounded, not
  /// above its minimum. A name that another registered queue has gets "_1", "_2", ... as TensorFlow's scopes do; an
  /// empty name is "queue".
  [[nodiscard]] Handle watch(QueueSource source);

 private:
  std::shared_ptr<State> state_;
};

}  // namespace headpond
