// SPDX-License-Identifier: Apache-2.0
// Trace spans: what each thread did, and when. The lower layers write them into one bounded buffer per thread;
// monitor/timeline.h reads them. While no trace is recorded, a span costs one relaxed load.
#pragma once

#include <array>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

namespace headpond::trace {

enum class Category : uint8_t { op, io, wait, step };

enum class Kind : uint8_t {
  span,        ///< Work of one thread from `start_ns` for `length_ns`; the spans of a thread nest.
  counter,     ///< `value` of a counter at `start_ns`.
  flow_begin,  ///< The element `value` leaves its producer, inside the span around `start_ns`.
  flow_end,    ///< The element `value` reaches its consumer, inside the span around `start_ns`.
  instant,     ///< Something that happened at `start_ns`.
};

/// The names of what a span or an instant says besides its own name. They live as long as the process.
struct ArgNames {
  std::array<const char*, 4> names = {};  ///< Null: no more.
  bool has_text = false;                  ///< The first value is that of text_arg(); all others are numbers.
};

struct Args {
  const ArgNames* names = nullptr;  ///< Null: none.
  std::array<int64_t, 4> values = {};
};
/// A value that is not known: its name is left out.
inline constexpr int64_t kNoArg = std::numeric_limits<int64_t>::min();

struct Event {
  const char* name;  ///< Interned: valid for ever.
  int64_t start_ns;  ///< In now_ns() terms.
  int64_t length_ns;
  uint64_t value;
  Kind kind;
  Category category;
  Args args = {};
};

/// Which events a full buffer keeps.
enum class Keep : uint8_t { first, newest };

/// The events of one thread, in the order of their ends. `dropped`: those that a full buffer did not keep.
struct ThreadEvents {
  int thread_id;
  std::string thread_name;
  std::vector<Event> events;
  uint64_t dropped;
};

/// Discards earlier events and starts recording, at most `events_per_thread` for each thread. Thread-safe.
void start(size_t events_per_thread = size_t{1} << 18, Keep keep = Keep::first);
/// Stops recording. Recorded events stay until the next start(). Thread-safe.
void stop();
/// A copy of all recorded events, those of ended threads included. Thread-safe, also while recording.
std::vector<ThreadEvents> collect();

/// A copy of `name` that is valid for ever; equal names give equal pointers. Takes a lock: call it once per name, not
/// per event.
const char* intern(std::string_view name);

/// The same for texts of errors and for paths, of which there may be many: each new one after 10,000 of its sort is
/// "...".
const char* intern_message(std::string_view text);
const char* intern_path(std::string_view path);
/// The first value of Args whose names have a text. `text` is a literal or interned. Null: kNoArg.
inline int64_t text_arg(const char* text) { return text != nullptr ? std::bit_cast<int64_t>(text) : kNoArg; }

namespace internal {
extern std::atomic<bool> recording;
void record(const Event& event);
int64_t span_start();
}  // namespace internal

inline bool enabled() { return __builtin_expect(internal::recording.load(std::memory_order_relaxed), false); }

/// Records `name` from construction to destruction. `name` must be a literal or interned; with nullptr nothing is
/// recorded.
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

/// The same with what it says.
class SpanWithArgs {
 public:
  SpanWithArgs(const char* name, Category category, const Args& args)
      : name_(name), start_ns_(enabled() ? internal::span_start() : -1), category_(category), args_(args) {}
  ~SpanWithArgs() {
    if (start_ns_ >= 0) end();
  }
  SpanWithArgs(const SpanWithArgs&) = delete;
  SpanWithArgs& operator=(const SpanWithArgs&) = delete;
  /// A value that is known later.
  void set(size_t i, int64_t value) { args_.values[i] = value; }

 private:
  void end() const;

  const char* name_;
  int64_t start_ns_;  // -1: no trace was being taken.
  Category category_;
  Args args_;
};

/// Records that something happened now, on the calling thread. `name` must be a literal or interned.
void instant(const char* name, Category category, const Args& args = {});

/// Records the value of a counter now. `name` must be a literal or interned.
void counter(const char* name, int64_t value);

/// Records one end of an arrow from producer to consumer; both ends have the same `id`. Call it inside a Span.
void flow_begin(uint64_t id);
void flow_end(uint64_t id);

}  // namespace headpond::trace
