// SPDX-License-Identifier: Apache-2.0
// The state of a queue, which its handles share.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "headpond/base/mutex.h"
#include "headpond/base/thread.h"
#include "headpond/queue/fill_check_internal.h"
#include "headpond/queue/producers_internal.h"
#include "headpond/queue/queue.h"
#include "headpond/queue/store/components_internal.h"
#include "headpond/queue/store/queue_trace_internal.h"
#include "headpond/queue/store/sizes_seen_internal.h"
#include "headpond/queue/store/slots_internal.h"
#include "headpond/queue/store/take_order_internal.h"
#include "headpond/queue/sync/gate_internal.h"

namespace headpond::internal {

/// What distinguishes the types of queues.
struct QueueType {
  std::string_view type;          // "FIFOQueue"
  std::string_view default_name;  // "fifo_queue"
  int64_t min_after_dequeue = 0;
  uint64_t seed = 0;
  bool chooses = false;        // The order depends on all elements inside, not only on the oldest.
  bool takes_at_once = false;  // All elements of a batch must be inside at the same moment.
  Layout layout = Layout::fixed;
  std::unique_ptr<TakeOrder> (*make_order)(Slots& slots, const Packing& packing, uint64_t seed);
};

class QueueState : public WaitHost, public std::enable_shared_from_this<QueueState> {
 public:
  QueueState(QueueOptions options, const QueueType& type);
  ~QueueState() override;

  Result<void> enqueue(Element&& element, const Wait& wait);
  Result<void> enqueue_many(Element&& rows, const Wait& wait);
  Result<Element> dequeue(const Wait& wait);
  Result<Element> dequeue_many(int64_t n, bool or_fewer, const Wait& wait);
  Result<void> close(bool cancel_pending_enqueues);
  void set_failure(Error cause) HEADPOND_EXCLUDES(mu_);

  const QueueOptions& options() const { return options_; }
  const QueueType& type() const { return type_; }
  const Gate& gate() const { return gate_; }
  QueueStats stats() const;
  QueueStats counts() const;  ///< The same without percentiles, which take a microsecond, and what follows them.

  Producers& producers() { return producers_; }
  const HomeProcess& home() const { return home_; }
  Error away_error() const { return HomeProcess::error(label()); }

  void begin_wait(Verb verb) override HEADPOND_EXCLUDES(mu_);
  void end_wait() override HEADPOND_EXCLUDES(mu_);
  int64_t alarm(Stall& stall, int64_t position) const override;
  bool look_into(Stall& stall, Verb verb, int64_t missing) noexcept override;

 private:
  struct PutLock;
  struct TakeLock;
  /// Elements taken for a batch, packed; and unpacked, where the batch is made from unpacked elements.
  struct PendingBatch {
    std::vector<std::byte> packed;
    std::vector<Element> elements;
  };
  void put(Element&& element, PutLock& lock);
  Result<void> enqueue_sized(Element&& element, const Wait& wait);
  int64_t inside(const TakeLock& lock);
  int64_t bytes_inside() const;
  void look_at_bytes(const Element& element, int64_t put);
  void look_after_put(int64_t count);
  // After the last `count` elements were taken, or none were to be had. Not before: the other side waits for the room.
  void look_after_take(int64_t count) {
    if (take_sizes_.is_due(gate_.own_take_count() - count)) [[unlikely]]
      count_size_of_take(count);
  }
  void count_size_of_take(int64_t count);
  void take(TakeLock& lock, Element& element);
  WaitResult await_bytes(int64_t bytes, WaitContext& context);
  WaitResult put_sized(Element&& element, int64_t bytes, PutLock& lock, WaitContext& context);
  WaitResult put_many(const Element& rows, int64_t count, WaitContext& context);
  void put_rows(const Element& rows, int64_t first, int64_t end, PutLock& lock);
  bool take_rows(int64_t n, TakeLock& lock, WaitContext& context, Element& batch);
  void show_put(uint64_t first, int64_t count, WaitContext& context);
  void show_taken(int64_t count, WaitContext& context);
  void trace_taken(int64_t count, WaitContext& context);
  WaitResult collect(int64_t n, bool or_fewer, TakeLock& lock, WaitContext& context, PendingBatch& taken,
                     Element& batch);
  void take_run(TakeLock& lock, int64_t count, std::vector<std::byte>& taken);
  WaitResult take_many(int64_t n, TakeLock& lock, WaitContext& context, std::vector<std::byte>& taken);
  WaitResult take_at_once(int64_t n, bool or_fewer, TakeLock& lock, WaitContext& context,
                          std::vector<std::byte>& taken);
  Element batch_for(PendingBatch& taken) const;
  Result<Element> take_batch(int64_t n, bool or_fewer, const Wait& wait);
  void fill(Element& batch, const PendingBatch& taken) const;
  Error put_error(WaitResult waited, const Wait& wait) const;
  Error too_large(int64_t bytes) const;
  Error take_error(WaitResult waited, int64_t requested, const Wait& wait) const HEADPOND_EXCLUDES(mu_);
  Error abandoned_error() const;
  void check_fill() noexcept;
  std::string stall_report(const Stall& stall, Verb verb, int64_t missing, int64_t now) const;
  Error with_name(const Error& error) const;
  std::string label() const;
  uint64_t flow_id(uint64_t number) const { return (id_ << 40) | number; }

  const HomeProcess home_;
  const QueueOptions options_;
  const QueueType type_;
  const uint64_t id_;
  const Components components_;
  const Packing packing_;
  const int64_t capacity_;       // The option, or fewer if the memory limit allows fewer elements of one size.
  const int64_t element_bytes_;  // Payload; below 0: elements differ.
  const int64_t byte_limit_;     // The memory limit of elements that differ in size, or kUnbounded.
  SpanName put_span_;
  SpanName take_span_;
  ShownElements shown_;  // Read by each call, and written seldom.

  Gate gate_;
  // Written under the put lock.
  alignas(64) std::atomic<int64_t> bytes_in_ = 0;  // Payload that was put. Counted if there is a byte_limit_.
  std::atomic<int64_t> bytes_peak_ = 0;
  SizesSeen put_bytes_;       // Payload of elements that differ in size, without a byte_limit_.
  int64_t put_look_due_ = 0;  // How many elements must have been put until one of the next two is due.
  FillCheck fill_check_;
  SizesSeen put_sizes_;
  Slots slots_;  // Read under the take lock.
  // Written under the take lock.
  alignas(64) std::atomic<int64_t> bytes_out_ = 0;  // Payload that was taken.
  SizesSeen take_sizes_;
  std::unique_ptr<TakeOrder> order_;

  Producers producers_;
  mutable Mutex mu_;
  Error failure_ HEADPOND_GUARDED_BY(mu_);
  int64_t keepers_ HEADPOND_GUARDED_BY(mu_) = 0;               // Calls that have waited and have not ended.
  std::shared_ptr<QueueState> self_ HEADPOND_GUARDED_BY(mu_);  // Set while there are keepers.
};

/// Returns a handle to a new queue or, with a shared name, to the existing one. When the last handle is destroyed, the
/// queue is closed with cancel; calls that still wait keep it alive until they end. Throws Exception(InvalidArgument)
/// for options that contradict each other or the existing queue's; the message has the differing values.
std::shared_ptr<QueueState> make_queue(QueueOptions options, QueueType type);

}  // namespace headpond::internal
