// SPDX-License-Identifier: Apache-2.0
// What a trace shows of a queue. A span takes longer than an element that passes, so only some are shown: calls that
// wait for 0.1 ms, and about one element and one shorter wait in each 0.1 ms.
#pragma once

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstdint>
#include <string>

#include "headpond/base/clock.h"
#include "headpond/base/trace.h"
#include "headpond/base/trace_tasks.h"
#include "headpond/queue/sync/signal_internal.h"

namespace headpond::internal {

/// Which waits of one side of a queue are shown: those of 0.1 ms, and of shorter ones, from 10 us on, one in 0.1 ms.
/// Any number of threads.
class ShownWaits {
 public:
  /// Whether a wait that took `ns` up to `now` is shown.
  bool shows(int64_t ns, int64_t now) {
    if (ns < kBetweenNs && now - last_ns_.load(std::memory_order_relaxed) < kBetweenNs) return false;
    last_ns_.store(now, std::memory_order_relaxed);
    return true;
  }
  /// A shorter one never is.
  static constexpr int64_t kShortestNs = 10'000;

 private:
  static constexpr int64_t kBetweenNs = 100'000;
  std::atomic<int64_t> last_ns_ = -kBetweenNs;  // When the last one ended that is shown.
};

/// The spans of one side of a queue.
/// An interned name is kept for ever, so it is interned only when a span is
/// recorded: a program that makes queues again and again does not grow.
class SpanName {
 public:
  SpanName(const char* verb, const std::string& queue) : verb_(verb), queue_(queue) {}
  ShownWaits waits;
  const char* get() {
    const char* name = name_.load(std::memory_order_acquire);
    if (name == nullptr) name_.store(name = trace::intern(verb_ + (" " + queue_)), std::memory_order_release);
    return name;
  }

 private:
  const char* const verb_;
  const std::string& queue_;
  std::atomic<const char*> name_ = nullptr;
};

/// Which elements have an arrow from where they were put to where they were taken. The number of an element decides
/// that, so both sides agree. The first 256 in a row are shown however fast they come.
///
/// Asked only while a trace is recorded. Any number of threads, but for shown().
class ShownElements {
 public:
  /// False: the element is not shown. True: it may be; see is_shown().
  bool may_show(uint64_t number) const { return (number & mask()) == 0 || !is_of_this_trace(); }
  /// The same of elements `first` to `end` - 1.
  bool may_show_any(uint64_t first, uint64_t end) const { return next(first) < end || !is_of_this_trace(); }

  /// Whether a trace is recorded. REQUIRES, for the functions below: it was true.
  bool is_recorded() {
    const uint64_t session = trace::internal::recorded_session.load(std::memory_order_relaxed);
    if (session_.load(std::memory_order_relaxed) != session) {
      mask_.store(session == 0 ? kNone : 0, std::memory_order_relaxed);
      session_.store(session, std::memory_order_relaxed);
    }
    return session != 0;
  }
  int64_t one_of() const { return static_cast<int64_t>(mask()) + 1; }
  /// The first one that is shown of number `from` and later.
  uint64_t next(uint64_t from) const { return (from + mask()) & ~mask(); }
  /// One that next() chose was put at `now`. One thread at a time.
  void shown(int64_t now) {
    const int64_t since_ns = now - last_ns_, one_of = this->one_of();
    last_ns_ = now;
    credit_ns_ = std::min(credit_ns_ + since_ns, kMostCreditNs) - kBetweenNs;
    if (credit_ns_ < 0) {
      credit_ns_ = 0;
      set(std::min(one_of * 2, kFewest));
    } else if (since_ns > 2 * kBetweenNs) {
      set(std::max(one_of * kBetweenNs / since_ns, int64_t{1}));
    }
  }
  /// A call waited: elements are seldom now, so the next ones are shown.
  void waited(int64_t ns) {
    if (ns >= kLongWaitNs) set(1);
  }

 private:
  static constexpr int64_t kBetweenNs = 100'000, kMostCreditNs = 256 * kBetweenNs, kLongWaitNs = 1'000'000;
  static constexpr int64_t kFewest = 4096;  // One of so many.
  static constexpr uint64_t kNone = (uint64_t{1} << 62) - 1;

  uint64_t mask() const { return mask_.load(std::memory_order_relaxed); }
  bool is_of_this_trace() const {
    return session_.load(std::memory_order_relaxed) ==
           trace::internal::recorded_session.load(std::memory_order_relaxed);
  }
  void set(int64_t one_of) {
    mask_.store(std::bit_floor(static_cast<uint64_t>(one_of)) - 1, std::memory_order_relaxed);
  }

  std::atomic<uint64_t> mask_ = kNone;  // Those are shown whose number has none of these bits.
  std::atomic<uint64_t> session_ = 0;   // The trace for which that is.
  int64_t last_ns_ = 0, credit_ns_ = kMostCreditNs;
};

inline constexpr trace::ArgNames kShownArgs{{"one_of"}};

/// The span of a call: from when it began to wait, or moved an element that is shown, until it ends. A call whose wait
/// and elements are not shown has none. It ends before `context`.
class CallSpan {
 public:
  CallSpan(SpanName& name, ShownElements& elements, const WaitContext& context)
      : name_(name), elements_(elements), context_(context) {}
  ~CallSpan() {
    if (context_.is_shown() || context_.has_waited()) [[unlikely]]
      end(name_, elements_, context_);
  }
  CallSpan(const CallSpan&) = delete;
  CallSpan& operator=(const CallSpan&) = delete;

 private:
  [[gnu::noinline]] static void end(SpanName& name, ShownElements& elements, const WaitContext& context) {
    const bool may_show_wait = context.has_waited() && context.waited_ns() >= ShownWaits::kShortestNs;
    if ((!may_show_wait && !context.is_shown()) || !trace::enabled() || !elements.is_recorded()) return;
    const int64_t one_of = elements.one_of() == 1 ? trace::kNoArg : elements.one_of(), now = now_ns();
    if (may_show_wait) elements.waited(context.waited_ns());
    const bool waited = may_show_wait && name.waits.shows(context.waited_ns(), now);
    if (!waited && !context.is_shown()) return;
    const int64_t start = waited ? context.waited_since() : context.shown_since();
    trace::internal::record({.name = name.get(),
                             .start_ns = start,
                             .length_ns = now - start,
                             .value = 0,
                             .kind = trace::Kind::span,
                             .category = trace::Category::wait,
                             .args = {&kShownArgs, {one_of, trace::kNoArg, trace::kNoArg, trace::kNoArg}}});
  }

  SpanName& name_;
  ShownElements& elements_;
  const WaitContext& context_;
};

}  // namespace headpond::internal
