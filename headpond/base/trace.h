// SPDX-License-Identifier: Apache-2.0
// Trace spans: what each thread did, and when. Written at the bottom of the program into one bounded buffer per thread,
// read near the top (monitor/timeline.h). While no trace is taken, a span costs one relaxed load.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace headpond::trace {

enum class Category : uint8_t { op, io, wait, step };

enum class Kind : uint8_t {
  span,        ///< Work of one thread from `start_ns` for `length_ns`; spans of one thread nest.
  counter,     ///< `value` of a counter at `start_ns`.
  flow_begin,  ///< An element `value` leaves its producer; inside the span that encloses `start_ns`.
  flow_end,    ///< The element `value` reaches its consumer; likewise.
};

struct Event {
  const char* name;  ///< Interned: lives for ever.
  int64_t start_ns;  ///< now_ns() terms.
  int64_t length_ns;
  uint64_t value;
  Kind kind;
  Category category;
};

/// What one thread wrote, in order of the events' ends. `dropped` events found the buffer full; the first ones are
/// kept.
struct ThreadEvents {
  int thread_id;
  std::string thread_name;
  std::vector<Event> events;
  uint64_t dropped;
};

/// Forgets earlier events and begins to record, at most `events_per_thread` each. Thread-safe.
void start(size_t events_per_thread = size_t{1} << 18);
/// Ends recording. What was recorded stays until the next start. Thread-safe.
void stop();
/// A copy of everything recorded so far, threads that ended included. Thread-safe, also while recording.
std::vector<ThreadEvents> collect();

/// A copy of `name` that lives for ever; equal names give equal pointers. Takes a lock: once per name, not per event.
const char* intern(std::string_view name);

namespace internal {
extern std::atomic<bool> recording;
void record(const Event& event);
int64_t span_start();
}  // namespace internal

inline bool enabled() { return internal::recording.load(std::memory_order_relaxed); }

/// Records `name` from construction to destruction. `name` must be a literal or interned; null: records nothing.
class Span {
 public:
  Span(const char* name, Category category)
      : name_(name), start_ns_(name != nullptr && enabled() ? internal::span_start() : -1), category_(category) {}
  ~Span() {
    if (start_ns_ >= 0) end();
  }
  Span(const Span&) = delete;
  Span& operator=(const Span&) = delete;

 private:
  void end() const;

  const char* name_;
  int64_t start_ns_;  // -1: no trace was being taken.
  Category category_;
};

/// The value of a counter now. `name` must be a literal or interned.
void counter(const char* name, int64_t value);

/// One end of an arrow from producer to consumer; both ends carry the same `id`. Call inside a Span.
void flow_begin(uint64_t id);
void flow_end(uint64_t id);

}  // namespace headpond::trace
