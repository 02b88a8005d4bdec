// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstring>
#include <utility>

#include "headpond/base/thread.h"
#include "headpond/base/trace.h"
#include "headpond/queue/queue_state_internal.h"

namespace headpond::internal {
namespace {

uint64_t next_id() {
  static std::atomic<uint64_t> last = 0;
  return ++last;
}

// `bytes`: of each element; below 0 if they differ.
int64_t capacity_of(const QueueOptions& options, int64_t bytes) {
  if (options.memory_limit < 0 || bytes <= 0) return options.capacity;
  const int64_t most = options.memory_limit / bytes;
  return options.capacity < 0 ? most : std::min(options.capacity, most);
}

}  // namespace

QueueState::QueueState(QueueOptions options, const QueueType& type)
    : options_(std::move(options)),
      type_(type),
      id_(next_id()),
      components_(options_, type.layout),
      packing_(components_.dtypes(), components_.shapes()),
      capacity_(capacity_of(options_, components_.element_bytes())),
      element_bytes_(components_.element_bytes()),
      byte_limit_(element_bytes_ < 0 ? options_.memory_limit : kUnbounded),
      put_span_("enqueue", options_.name),
      take_span_("dequeue", options_.name),
      gate_(capacity_, type.min_after_dequeue),
      fill_check_(type.min_after_dequeue, options_.fill_patience),
      slots_(packing_.bytes(), packing_.is_plain(), capacity_),
      order_(type.make_order(slots_, packing_, type.seed)) {}

// In a forked child, elements that a thread of the parent was taking stay half taken.
QueueState::~QueueState() {
  if (home_.is_here()) order_->clear(gate_.put_count() - gate_.take_count());
}

// What is stored, or taken, becomes visible to the other side when the scope ends, also by an exception: counts and
// storage never disagree.
struct QueueState::PutLock {
  QueueState& queue;
  WaitContext& context;
  int64_t stored = 0;
  void commit() {
    if (stored == 0) return;
    const int64_t count = std::exchange(stored, 0);
    queue.gate_.commit_put(count);
    if (queue.gate_.own_put_count() >= queue.put_look_due_) [[unlikely]]
      queue.look_after_put(count);  // Not before: the other side waits for these elements.
  }
  ~PutLock() {
    commit();
    queue.gate_.end_put();
  }
};

struct QueueState::TakeLock {
  QueueState& queue;
  WaitContext& context;
  int64_t taken = 0;
  int64_t bytes = 0;        // Bytes of those taken.
  bool has_looked = false;  // How full it was is looked at once a call.
  void commit() {
    if (bytes > 0) queue.bytes_out_.store(queue.bytes_out_ + std::exchange(bytes, 0), std::memory_order_release);
    if (taken == 0) return;
    const int64_t count = std::exchange(taken, 0);
    queue.gate_.commit_take(count);
    if (!has_looked) queue.look_after_take(count);
  }
  ~TakeLock() {
    commit();
    queue.gate_.end_take();
  }
};

inline int64_t QueueState::bytes_inside() const {
  const int64_t out = bytes_out_.load(std::memory_order_acquire);  // First: what was taken had been put.
  return bytes_in_.load(std::memory_order_relaxed) - out;
}

// A sample, because adding up what an element has takes longer than its way through the queue.
inline void QueueState::look_at_bytes(const Element& element, int64_t put) {
  if (put_bytes_.is_due(put)) put_bytes_.add(put, byte_size(element));
}

[[gnu::noinline]] void QueueState::look_after_put(int64_t count) {
  const int64_t put = gate_.own_put_count();
  // Somebody may have taken some of them since.
  if (put_sizes_.is_due(put)) put_sizes_.add(put, std::max(put - gate_.take_count(), count));
  if (fill_check_.is_due(put)) check_fill();
  put_look_due_ = std::min(put_sizes_.due(), fill_check_.due());
}

[[gnu::noinline]] void QueueState::count_size_of_take(int64_t count) {
  take_sizes_.add(gate_.own_take_count() - count, gate_.found_by_take(count));
}

// Elements first, first + 1, ... go in.
[[gnu::noinline]] void QueueState::show_put(uint64_t first, int64_t count, WaitContext& context) {
  if (!shown_.is_recorded()) return;
  const int64_t now = now_ns();
  const uint64_t end = first + static_cast<uint64_t>(count);
  for (uint64_t next = shown_.next(first); next < end; next = shown_.next(next + 1)) {
    context.show(now);
    trace::internal::record_flow(trace::Kind::flow_begin, flow_id(next), now);
    shown_.shown(now);
  }
}

// The last `count` elements that were taken.
[[gnu::noinline]] void QueueState::show_taken(int64_t count, WaitContext& context) {
  if (order_->last_number() == TakeOrder::kNoNumber || !shown_.is_recorded()) return;
  const int64_t now = now_ns();
  const uint64_t end = order_->last_number() + 1;
  for (uint64_t next = shown_.next(end - static_cast<uint64_t>(count)); next < end; next = shown_.next(next + 1)) {
    context.show(now);
    trace::internal::record_flow(trace::Kind::flow_end, flow_id(next), now);
  }
}

[[gnu::always_inline]] inline void QueueState::put(Element&& element, PutLock& lock) {
  std::byte* const slot = slots_.write_slot(gate_.known_room() - lock.stored);
  if (trace::enabled()) {
    const auto number = static_cast<uint64_t>(gate_.own_put_count() + lock.stored);
    if (shown_.may_show(number)) show_put(number, 1, lock.context);
  }
  if (element_bytes_ < 0 && byte_limit_ < 0) [[unlikely]]
    look_at_bytes(element, gate_.own_put_count() + lock.stored + 1);
  packing_.pack(std::move(element), slot);
  slots_.advance_write();
  ++lock.stored;
}

// Asking what is inside costs a look at the put side's memory: not for an order that does not need it.
inline int64_t QueueState::inside(const TakeLock& lock) {
  return (type_.chooses ? gate_.inside() : gate_.known_inside()) - lock.taken;
}

[[gnu::always_inline]] inline void QueueState::take(TakeLock& lock, Element& element) {
  const int64_t inside = this->inside(lock);
  if (type_.chooses) order_->reserve(inside, 1, 0);
  element.reserve(packing_.components());
  const std::byte* const slot = order_->next(inside);
  ++lock.taken;
  if (byte_limit_ >= 0) [[unlikely]]
    lock.bytes += packing_.payload_bytes({slot, packing_.bytes()});
  packing_.unpack(slot, element);
  if (trace::enabled() && shown_.may_show(order_->last_number())) show_taken(1, lock.context);
}

void QueueState::put_rows(const Element& rows, int64_t first, int64_t end, PutLock& lock) {
  if (!packing_.is_plain()) {
    for (; first < end; ++first) put(components_.row(rows, first), lock);
    return;
  }
  while (first < end) {
    const std::span<std::byte> run = slots_.write_run(end - first);
    const auto count = static_cast<int64_t>(run.size() / slots_.stride());
    packing_.pack_rows(rows, first, count, run.data(), slots_.stride());
    const auto number = static_cast<uint64_t>(gate_.own_put_count() + lock.stored);
    if (trace::enabled() && shown_.may_show_any(number, number + static_cast<uint64_t>(count)))
      show_put(number, count, lock.context);
    slots_.advance_write(count);
    lock.stored += count;
    first += count;
  }
}

Result<void> QueueState::enqueue(Element&& element, const Wait& wait) {
  if (auto fits = components_.check(element); !fits) return fail(with_name(fits.error()));
  if (byte_limit_ >= 0) [[unlikely]]
    return enqueue_sized(std::move(element), wait);
  WaitContext context(wait, this, Verb::enqueue);
  const CallSpan span(put_span_, shown_, context);
  WaitResult waited = gate_.begin_put(context);
  if (waited == WaitResult::go) {
    PutLock lock{*this, context};
    waited = gate_.await_room(context);
    if (waited == WaitResult::go) put(std::move(element), lock);
  }
  if (waited != WaitResult::go) return fail(put_error(waited, wait));
  return {};
}

Result<void> QueueState::enqueue_sized(Element&& element, const Wait& wait) {
  const int64_t bytes = byte_size(element);
  if (bytes > byte_limit_) return fail(too_large(bytes));
  WaitContext context(wait, this, Verb::enqueue);
  const CallSpan span(put_span_, shown_, context);
  WaitResult waited = gate_.begin_put(context);
  if (waited == WaitResult::go) {
    PutLock lock{*this, context};
    waited = gate_.await_room(context);
    if (waited == WaitResult::go) waited = put_sized(std::move(element), bytes, lock, context);
  }
  if (waited != WaitResult::go) return fail(put_error(waited, wait));
  return {};
}

Result<void> QueueState::enqueue_many(Element&& rows, const Wait& wait) {
  const Result<int64_t> count = components_.check_rows(rows);
  if (!count) return fail(with_name(count.error()));
  if (*count == 0) return {};
  for (int64_t i = 0; byte_limit_ >= 0 && i < *count; ++i) {
    if (const int64_t bytes = components_.row_bytes(rows, i); bytes > byte_limit_) return fail(too_large(bytes));
  }
  WaitContext context(wait, this, Verb::enqueue);
  const CallSpan span(put_span_, shown_, context);
  WaitResult waited = gate_.begin_put(context);
  if (waited == WaitResult::go) waited = put_many(rows, *count, context);
  if (waited != WaitResult::go) return fail(put_error(waited, wait));
  return {};
}

// Waits until `bytes` fit. An element that consumers need to reach the minimum always fits: else
// nobody could go on.
WaitResult QueueState::await_bytes(int64_t bytes, WaitContext& context) {
  const auto fits = [this, bytes] {
    return bytes_inside() <= byte_limit_ - bytes || gate_.put_count() - gate_.take_count() <= type_.min_after_dequeue;
  };
  return fits() ? WaitResult::go : gate_.await_takes(fits, context);
}

WaitResult QueueState::put_sized(Element&& element, int64_t bytes, PutLock& lock, WaitContext& context) {
  const WaitResult waited = await_bytes(bytes, context);
  if (waited != WaitResult::go) return waited;
  put(std::move(element), lock);
  bytes_in_.store(bytes_in_ + bytes, std::memory_order_relaxed);
  const int64_t inside = bytes_inside();
  if (inside > bytes_peak_) bytes_peak_.store(inside, std::memory_order_relaxed);
  return waited;
}

WaitResult QueueState::put_many(const Element& rows, int64_t count, WaitContext& context) {
  PutLock lock{*this, context};
  for (int64_t done = 0; done < count;) {
    // While there is room, nobody else would notice.
    const bool is_over = context.is_over();
    if (done > 0 && context.stop_requested()) return WaitResult::stopped;
    if (done > 0 && is_over) return WaitResult::timed_out;
    if (done > 0 && gate_.refuses_puts()) return WaitResult::cancelled;
    if (const WaitResult waited = gate_.await_room(context); waited != WaitResult::go) return waited;
    const int64_t room = gate_.room();  // A batch that fails may have given elements back meanwhile: none, or less.
    if (room <= 0) continue;
    const int64_t end = done + (byte_limit_ < 0 ? std::min(room, count - done) : 1);
    if (byte_limit_ < 0) {
      put_rows(rows, done, end, lock);
    } else {
      Element row = components_.row(rows, done);
      const int64_t bytes = byte_size(row);
      if (const WaitResult waited = put_sized(std::move(row), bytes, lock, context); waited != WaitResult::go)
        return waited;
    }
    done = end;
    lock.commit();
  }
  return WaitResult::go;
}

Result<Element> QueueState::dequeue(const Wait& wait) {
  Result<Element> result;  // Returned on all paths, so that the element is never moved.
  WaitContext context(wait, this, Verb::dequeue);
  const CallSpan span(take_span_, shown_, context);
  if (WaitResult waited = gate_.begin_take(context); waited == WaitResult::go) [[likely]] {
    TakeLock lock{*this, context};
    waited = gate_.await_obtainable(1, context);
    if (waited == WaitResult::go) [[likely]] {
      take(lock, *result);
    } else {
      look_after_take(0);
      result = fail(take_error(waited, 1, wait));  // While it is true: under the lock.
    }
  } else {
    result = fail(take_error(waited, 1, wait));
  }
  if (components_.names() && result) [[unlikely]]
    result->set_names(components_.names());
  return result;
}

Result<Element> QueueState::dequeue_many(int64_t n, bool or_fewer, const Wait& wait) {
  if (n < 0)
    return fail(with_name({ErrorKind::InvalidArgument, fmt::format("expected a count of at least 0, received {}", n)}));
  if (auto can = components_.check_can_stack(); !can) return fail(with_name(can.error()));
  if (type_.takes_at_once && capacity_ >= 0 && n > capacity_ && !or_fewer) {
    return fail(with_name({ErrorKind::InvalidArgument,
                           fmt::format("dequeue_many({}) needs that many elements inside at the same moment, but the "
                                       "capacity is {}",
                                       n, capacity_)}));
  }
  return n == 0 ? components_.batch_for({}) : take_batch(n, or_fewer, wait);
}

Result<Element> QueueState::take_batch(int64_t n, bool or_fewer, const Wait& wait) {
  PendingBatch taken;
  Result<Element> batch;  // Whatever is returned is this one.
  WaitContext context(wait, this, Verb::dequeue);
  const CallSpan span(take_span_, shown_, context);
  if (WaitResult waited = gate_.begin_take(context); waited == WaitResult::go) {
    TakeLock lock{*this, context};
    if (take_rows(n, lock, context, *batch)) return batch;
    waited = collect(n, or_fewer, lock, context, taken, *batch);
    if (waited != WaitResult::go) batch = fail(take_error(waited, n, wait));  // While it is true: under the lock.
  } else {
    batch = fail(take_error(waited, n, wait));
  }
  if (batch) fill(*batch, taken);
  return batch;
}

// Takes what the batch needs, as it comes, and makes the batch but for its values; or leaves all as it was.
WaitResult QueueState::collect(int64_t n, bool or_fewer, TakeLock& lock, WaitContext& context, PendingBatch& taken,
                               Element& batch) {
  look_after_take(0);
  lock.has_looked = true;
  const auto give_back = [&] {
    lock.commit();
    order_->give_back(taken.packed);
    if (byte_limit_ >= 0)
      bytes_out_.store(bytes_out_ - packing_.payload_bytes(taken.packed), std::memory_order_release);
    gate_.give_back(static_cast<int64_t>(taken.packed.size() / packing_.bytes()));
  };
  try {
    WaitResult waited = type_.takes_at_once ? take_at_once(n, or_fewer, lock, context, taken.packed)
                                            : take_many(n, lock, context, taken.packed);
    if (or_fewer && waited == WaitResult::closed && !taken.packed.empty()) waited = WaitResult::go;
    if (waited == WaitResult::go) batch = batch_for(taken);
    if (waited != WaitResult::go) give_back();
    return waited;
  } catch (...) {
    for (size_t i = 0; i < taken.elements.size() && taken.elements[i].size() != 0;
         ++i) {  // The last may be packed yet.
      packing_.pack(std::move(taken.elements[i]), taken.packed.data() + i * packing_.bytes());
    }
    give_back();
    throw;
  }
}

void QueueState::fill(Element& batch, const PendingBatch& taken) const {
  const size_t bytes = packing_.bytes();
  if (packing_.is_plain()) {
    packing_.unpack_rows(taken.packed.data(), bytes, 0, static_cast<int64_t>(taken.packed.size() / bytes), batch);
  } else {
    components_.fill(batch, taken.elements);
  }
}

// `count` elements whose numbers follow each other, the last one that of the last element taken.
inline void QueueState::trace_taken(int64_t count, WaitContext& context) {
  if (!trace::enabled()) return;
  const uint64_t end = order_->last_number() + 1;
  if (shown_.may_show_any(end - static_cast<uint64_t>(count), end)) show_taken(count, context);
}

// The common case: all are there, and their values go from where they lie into the batch. False: nothing was done.
bool QueueState::take_rows(int64_t n, TakeLock& lock, WaitContext& context, Element& batch) {
  if (!packing_.is_plain() || !order_->is_straight()) return false;
  if (gate_.await_obtainable(1, context) != WaitResult::go) return false;
  if (gate_.known_inside() < n && gate_.obtainable() < n) return false;
  components_.append_rows(n, batch);
  for (int64_t done = 0; done < n;) {
    const std::span<const std::byte> run = order_->next_slots(n - done);
    if (done == 0) Packing::read_identity(run.data(), batch);
    const auto count = static_cast<int64_t>(run.size() / slots_.stride());
    packing_.unpack_rows(run.data(), slots_.stride(), done, count, batch);
    lock.taken += count;
    done += count;
    trace_taken(count, lock.context);
  }
  return true;
}

// All that can fail on the way to a batch of what was taken, which is not empty.
Element QueueState::batch_for(PendingBatch& taken) const {
  const size_t count = taken.packed.size() / packing_.bytes();
  if (packing_.is_plain()) {
    Element batch;
    components_.append_rows(static_cast<int64_t>(count), batch);
    Packing::read_identity(taken.packed.data(), batch);
    return batch;
  }
  taken.elements.reserve(count);
  for (size_t i = 0; i < count; ++i) {
    Element& element = taken.elements.emplace_back();
    element.reserve(packing_.components());
    packing_.unpack(taken.packed.data() + i * packing_.bytes(), element);
  }
  return components_.batch_for(taken.elements);
}

void QueueState::take_run(TakeLock& lock, int64_t count, std::vector<std::byte>& taken) {
  const size_t before = taken.size(), bytes = packing_.bytes();
  const int64_t inside = this->inside(lock);
  order_->reserve(inside, count, static_cast<int64_t>(before / bytes));
  taken.resize(before + static_cast<size_t>(count) * bytes);
  std::byte* to = taken.data() + before;
  lock.taken += count;
  const bool is_straight = order_->is_straight();
  // An order that mixes gives numbers that do not follow each other.
  const bool one_by_one = !is_straight && trace::enabled();
  for (int64_t i = 0; i < count;) {
    const int64_t run = one_by_one ? 1 : count - i;
    order_->next_run(inside - i, run, to + static_cast<size_t>(i) * bytes);
    trace_taken(is_straight ? run : 1, lock.context);
    i += run;
  }
  if (byte_limit_ >= 0) lock.bytes += packing_.payload_bytes({to, static_cast<size_t>(count) * bytes});
}

WaitResult QueueState::take_many(int64_t n, TakeLock& lock, WaitContext& context, std::vector<std::byte>& taken) {
  const auto bytes = static_cast<int64_t>(packing_.bytes());
  for (int64_t missing = n; missing > 0; missing = n - static_cast<int64_t>(taken.size()) / bytes) {
    const bool is_over = context.is_over();
    if (!taken.empty() && context.stop_requested()) return WaitResult::stopped;
    if (!taken.empty() && is_over) return WaitResult::timed_out;
    if (const WaitResult waited = gate_.await_obtainable(1, context); waited != WaitResult::go) return waited;
    take_run(lock, std::min(gate_.obtainable(), missing), taken);
    lock.commit();
  }
  return WaitResult::go;
}

// A batch of at most `n` is complete when the queue is full: more will never be inside.
WaitResult QueueState::take_at_once(int64_t n, bool or_fewer, TakeLock& lock, WaitContext& context,
                                    std::vector<std::byte>& taken) {
  if (capacity_ >= 0) n = std::min(n, capacity_);
  const WaitResult waited = gate_.await_obtainable(n, context);
  const int64_t count = waited == WaitResult::go                   ? n
                        : waited == WaitResult::closed && or_fewer ? gate_.obtainable()
                                                                   : 0;
  if (count > 0) take_run(lock, count, taken);
  return waited;
}

Result<void> QueueState::close(bool cancel_pending_enqueues) {
  const auto keep = shared_from_this();
  if (cancel_pending_enqueues) {
    gate_.close_and_cancel();
    return {};
  }
  if (gate_.close()) return {};
  return fail(ErrorKind::Cancelled, fmt::format("Queue '{}' is already closed.", options_.name));
}

void QueueState::set_failure(Error cause) {
  MutexLock lock(mu_);
  if (!failure_) failure_ = std::move(cause);
}

QueueStats QueueState::counts() const {
  // Elements go on moving: the counts are of one moment if none was put between two looks. Of a stream without a pause
  // some count between the last two looks was true when the other one was read: one that the capacity allows.
  constexpr int kMostLooks = 16;
  int64_t before = 0, enqueued = 0, dequeued = 0;
  for (int look = 0; look == 0 || (enqueued != before && look < kMostLooks); ++look) {
    before = gate_.put_count();
    dequeued = gate_.take_count();
    hand_over_point();
    enqueued = gate_.put_count();
  }
  if (capacity_ >= 0) enqueued = std::min(enqueued, std::max(before, dequeued + capacity_));
  return {.enqueued = enqueued,
          .dequeued = dequeued,
          .waiting_enqueues = gate_.waiting_puts(),
          .waiting_dequeues = gate_.waiting_takes(),
          .enqueue_waits = gate_.put_waits().count(),
          .enqueue_wait_ns = gate_.put_waits().total_ns(),
          .dequeue_waits = gate_.take_waits().count(),
          .dequeue_wait_ns = gate_.take_waits().total_ns(),
          .capacity = capacity_,
          .min_after_dequeue = type_.min_after_dequeue,
          .size = enqueued - dequeued};
}

QueueStats QueueState::stats() const {
  QueueStats all = counts();
  all.enqueue_wait_p50_ns = gate_.put_waits().quantile_ns(0.5);
  all.enqueue_wait_p99_ns = gate_.put_waits().quantile_ns(0.99);
  all.dequeue_wait_p50_ns = gate_.take_waits().quantile_ns(0.5);
  all.dequeue_wait_p99_ns = gate_.take_waits().quantile_ns(0.99);
  all.enqueue_size_mean = put_sizes_.mean();
  all.dequeue_size_mean = take_sizes_.mean();
  all.size_peak = std::max(put_sizes_.peak(), all.size);
  if (byte_limit_ >= 0) {
    all.bytes = bytes_inside();
    all.bytes_peak = std::max(bytes_peak_.load(std::memory_order_relaxed), all.bytes);
  } else {
    const double each = element_bytes_ < 0 ? put_bytes_.mean() : static_cast<double>(element_bytes_);
    all.bytes = std::llround(static_cast<double>(all.size) * each);
    all.bytes_peak = std::llround(static_cast<double>(all.size_peak) * each);
  }
  return all;
}

}  // namespace headpond::internal
