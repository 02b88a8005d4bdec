// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <utility>

#include "headpond/base/trace.h"
#include "headpond/queue/queue_state_internal.h"

namespace headpond::internal {
namespace {

uint64_t next_id() {
  static std::atomic<uint64_t> last = 0;
  return ++last;
}

double milliseconds(const Wait& wait) { return std::chrono::duration<double, std::milli>(wait.timeout).count(); }

}  // namespace

QueueState::QueueState(QueueOptions options, const QueueType& type)
    : options_(std::move(options)),
      type_(type),
      id_(next_id()),
      components_(options_),
      put_span_(trace::intern("enqueue " + options_.name)),
      take_span_(trace::intern("dequeue " + options_.name)),
      gate_(options_.capacity, type.min_after_dequeue),
      slots_(PackedElement::bytes(components_.count()), options_.capacity),
      order_(type.make_order(slots_, components_.count(), type.seed)) {}

QueueState::~QueueState() { order_->clear(gate_.put_count() - gate_.take_count()); }

void QueueState::put(Element&& element, int64_t number) {
  if (trace::enabled()) trace::flow_begin(flow_id(static_cast<uint64_t>(number)));
  PackedElement::pack(std::move(element), slots_.write_place());
  slots_.advance_write();
}

// Of a chunk that is committed as a whole, `already_taken` ones came before. Asking what is inside costs a look at the
// put side's memory: not for an order that does not need it.
void QueueState::take(int64_t already_taken, Element& element) {
  const int64_t inside = (type_.chooses ? gate_.inside() : gate_.known_inside()) - already_taken;
  PackedElement::unpack(order_->next(inside), components_.count(), element);
  if (trace::enabled() && order_->last_number() != TakeOrder::kNoNumber) {
    trace::flow_end(flow_id(order_->last_number()));
  }
}

Result<void> QueueState::enqueue(Element&& element, const Wait& wait) {
  const trace::Span span(put_span_, trace::Category::wait);
  if (auto fits = components_.check(element); !fits) return fail(with_name(fits.error()));
  Patience patience(wait);
  if (const Pass pass = gate_.begin_put(patience); pass != Pass::go) return fail(put_error(pass, wait));
  const Pass pass = gate_.await_room(patience);
  if (pass == Pass::go) {
    put(std::move(element), gate_.put_count());
    gate_.commit_put(1);
  }
  gate_.end_put();
  if (pass != Pass::go) return fail(put_error(pass, wait));
  return {};
}

Result<void> QueueState::enqueue_many(Element rows, const Wait& wait) {
  const trace::Span span(put_span_, trace::Category::wait);
  const Result<int64_t> count = components_.check_rows(rows);
  if (!count) return fail(with_name(count.error()));
  if (*count == 0) return {};
  Patience patience(wait);
  if (const Pass pass = gate_.begin_put(patience); pass != Pass::go) return fail(put_error(pass, wait));
  Pass pass = Pass::go;
  for (int64_t done = 0; done < *count && pass == Pass::go;) {
    pass = gate_.await_room(patience);
    if (pass != Pass::go) break;
    const int64_t chunk = std::min(gate_.room(), *count - done);
    const int64_t number = gate_.put_count();
    for (int64_t i = 0; i < chunk; ++i) put(components_.row(rows, done + i), number + i);
    gate_.commit_put(chunk);
    done += chunk;
  }
  gate_.end_put();
  if (pass != Pass::go) return fail(put_error(pass, wait));
  return {};
}

Result<Element> QueueState::dequeue(const Wait& wait) {
  const trace::Span span(take_span_, trace::Category::wait);
  Result<Element> result;
  Patience patience(wait);
  if (const Pass pass = gate_.begin_take(patience); pass != Pass::go) return fail(take_error(pass, 1, wait));
  const Pass pass = gate_.await_obtainable(1, patience);
  if (pass == Pass::go) {
    take(0, *result);
    gate_.commit_take(1);
  }
  gate_.end_take();
  if (pass != Pass::go) return fail(take_error(pass, 1, wait));
  if (components_.names()) result->set_names(components_.names());
  return result;
}

Result<Element> QueueState::dequeue_many(int64_t n, bool or_fewer, const Wait& wait) {
  const trace::Span span(take_span_, trace::Category::wait);
  if (n < 0)
    return fail(with_name({ErrorKind::InvalidArgument, fmt::format("expected a count of at least 0, received {}", n)}));
  if (auto can = components_.check_can_stack(); !can) return fail(with_name(can.error()));
  std::vector<Element> taken;
  if (n > 0) {
    Patience patience(wait);
    if (const Pass pass = gate_.begin_take(patience); pass != Pass::go) return fail(take_error(pass, n, wait));
    const Pass pass = take_many(n, patience, taken);
    const bool keep = pass == Pass::go || (or_fewer && pass == Pass::closed && !taken.empty());
    if (!keep) {
      order_->give_back(taken);
      gate_.give_back(static_cast<int64_t>(taken.size()));
    }
    gate_.end_take();
    if (!keep) return fail(take_error(pass, n, wait));
  }
  return components_.stack(taken);
}

Pass QueueState::take_many(int64_t n, Patience& patience, std::vector<Element>& taken) {
  while (std::cmp_less(taken.size(), n)) {
    if (const Pass pass = gate_.await_obtainable(1, patience); pass != Pass::go) return pass;
    const int64_t chunk = std::min(gate_.obtainable(), n - static_cast<int64_t>(taken.size()));
    for (int64_t i = 0; i < chunk; ++i) take(i, taken.emplace_back());
    gate_.commit_take(chunk);
  }
  return Pass::go;
}

Result<void> QueueState::close(bool cancel_pending_enqueues) {
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

QueueStats QueueState::stats() const {
  const int64_t dequeued = gate_.take_count();
  const int64_t enqueued = std::max(gate_.put_count(), dequeued);
  return {.enqueued = enqueued,
          .dequeued = dequeued,
          .waiting_enqueues = gate_.waiting_puts(),
          .waiting_dequeues = gate_.waiting_takes(),
          .enqueue_waits = gate_.put_waits().count(),
          .enqueue_wait_ns = gate_.put_waits().total_ns(),
          .dequeue_waits = gate_.take_waits().count(),
          .dequeue_wait_ns = gate_.take_waits().total_ns(),
          .capacity = options_.capacity,
          .min_after_dequeue = type_.min_after_dequeue,
          .size = enqueued - dequeued};
}

std::string QueueState::label() const { return fmt::format("{} '{}'", type_.type, options_.name); }

Error QueueState::with_name(const Error& error) const {
  return {error.kind(), fmt::format("{}: {}", label(), error.message())};
}

Error QueueState::put_error(Pass pass, const Wait& wait) const {
  switch (pass) {
    case Pass::closed:
      return {ErrorKind::Cancelled, label() + " is closed."};
    case Pass::timed_out:
      return {ErrorKind::DeadlineExceeded,
              fmt::format("Enqueue operation timed out after {} ms: {} has {} of {} elements", milliseconds(wait),
                          label(), stats().size, options_.capacity)};
    default:
      return {ErrorKind::Cancelled, fmt::format("Enqueue operation was cancelled: {}, {}", label(),
                                                pass == Pass::stopped ? "a stop was requested" : "it was closed")};
  }
}

Error QueueState::take_error(Pass pass, int64_t requested, const Wait& wait) const {
  const int64_t size = stats().size;
  switch (pass) {
    case Pass::closed: {
      MutexLock lock(mu_);
      return {ErrorKind::OutOfRange,
              fmt::format("{} is closed and has insufficient elements (requested {}, current size {})", label(),
                          requested, size),
              failure_};
    }
    case Pass::timed_out:
      return {
          ErrorKind::DeadlineExceeded,
          fmt::format(
              "Dequeue operation timed out after {} ms: {} has {} elements, requested {}{}", milliseconds(wait),
              label(), size, requested,
              type_.min_after_dequeue == 0 ? "" : fmt::format(" above its minimum of {}", type_.min_after_dequeue))};
    default:
      return {ErrorKind::Cancelled, fmt::format("Dequeue operation was cancelled: {}, a stop was requested", label())};
  }
}

}  // namespace headpond::internal
