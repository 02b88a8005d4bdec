// SPDX-License-Identifier: Apache-2.0
#include "headpond/base/trace.h"

#include <algorithm>
#include <memory>
#include <new>
#include <unordered_set>

#include "headpond/base/clock.h"
#include "headpond/base/mutex.h"
#include "headpond/base/thread.h"

namespace headpond::trace {
namespace {

struct ThreadBuffer {
  Mutex mu;  // Locked by its thread for each event, and by collect(): never contended while recording.
  ThreadEvents written HEADPOND_GUARDED_BY(mu);
  uint64_t session HEADPOND_GUARDED_BY(mu) = 0;
  size_t oldest HEADPOND_GUARDED_BY(mu) = 0;  // The oldest span of a full buffer that keeps the newest.

  void add(const Event& event, size_t limit, Keep keep) HEADPOND_REQUIRES(mu) {
    if (written.events.size() < limit) {
      written.events.push_back(event);
      return;
    }
    ++written.dropped;
    if (keep == Keep::first || written.events.empty()) return;
    written.events[oldest] = event;
    oldest = (oldest + 1) % written.events.size();
  }
};

// Copies of texts of which there may be many.
class Texts {
 public:
  const char* intern(std::string_view text) {
    constexpr size_t kMost = 10'000;
    MutexLock lock(mu_);
    if (const auto known = all_.find(std::string(text)); known != all_.end()) return known->c_str();
    return all_.size() < kMost ? all_.emplace(text).first->c_str() : "...";
  }

 private:
  Mutex mu_;
  std::unordered_set<std::string> all_ HEADPOND_GUARDED_BY(mu_);
};

struct Registry {
  Mutex mu;
  std::vector<std::shared_ptr<ThreadBuffer>> buffers HEADPOND_GUARDED_BY(mu);
  std::unordered_set<std::string> names HEADPOND_GUARDED_BY(mu);
  Texts messages, paths;              // Apart: many files must not cost the text of an error.
  std::atomic<uint64_t> session = 0;  // Counts start(): buffers of an earlier one are stale.
  std::atomic<size_t> limit = 0;
  std::atomic<Keep> keep = Keep::first;
};

// Never destroyed: threads may record while the program ends.
Registry& registry() {
  static Registry* const instance = new Registry;
  return *instance;
}

std::shared_ptr<ThreadBuffer> register_thread() {
  auto buffer = std::make_shared<ThreadBuffer>();
  Registry& all = registry();
  MutexLock lock(all.mu);
  all.buffers.push_back(buffer);
  return buffer;
}

}  // namespace

namespace internal {

std::atomic<bool> recording = false;

int64_t span_start() { return now_ns(); }

void record(const Event& event) {
  thread_local const std::shared_ptr<ThreadBuffer> buffer = register_thread();
  const uint64_t session = registry().session.load(std::memory_order_acquire);
  MutexLock lock(buffer->mu);
  ThreadEvents& written = buffer->written;
  if (buffer->session != session) {
    buffer->session = session;
    buffer->oldest = 0;
    written = {.thread_id = this_thread_id(), .thread_name = this_thread_name(), .events = {}, .dropped = 0};
  }
  try {
    buffer->add(event, registry().limit.load(std::memory_order_relaxed),
                registry().keep.load(std::memory_order_relaxed));
  } catch (const std::bad_alloc&) {
    ++written.dropped;
  }
}

}  // namespace internal

void start(size_t events_per_thread, Keep keep) {
  Registry& all = registry();
  MutexLock lock(all.mu);
  // A buffer that only the registry owns belongs to a thread that ended.
  std::erase_if(all.buffers, [](const auto& buffer) { return buffer.use_count() == 1; });
  all.limit = events_per_thread;
  all.keep = keep;
  all.session.fetch_add(1, std::memory_order_release);
  internal::recording = true;
}

void stop() { internal::recording = false; }

std::vector<ThreadEvents> collect() {
  Registry& all = registry();
  std::vector<std::shared_ptr<ThreadBuffer>> buffers;
  uint64_t session = 0;
  {
    MutexLock lock(all.mu);  // Not while events are copied: a thread that records its first one would wait.
    buffers = all.buffers;
    session = all.session;
  }
  std::vector<ThreadEvents> threads;
  for (const auto& buffer : buffers) {
    MutexLock buffer_lock(buffer->mu);
    if (buffer->session != session || buffer->written.events.empty()) continue;
    threads.push_back(buffer->written);
    std::vector<Event>& events = threads.back().events;
    std::rotate(events.begin(), events.begin() + static_cast<std::ptrdiff_t>(buffer->oldest), events.end());
  }
  return threads;
}

const char* intern(std::string_view name) {
  Registry& all = registry();
  MutexLock lock(all.mu);
  return all.names.emplace(name).first->c_str();
}

const char* intern_message(std::string_view text) { return registry().messages.intern(text); }
const char* intern_path(std::string_view path) { return registry().paths.intern(path); }

void Span::end() const {
  internal::record({.name = name_,
                    .start_ns = start_ns_,
                    .length_ns = now_ns() - start_ns_,
                    .value = 0,
                    .kind = Kind::span,
                    .category = category_});
}

void SpanWithArgs::end() const {
  internal::record({.name = name_,
                    .start_ns = start_ns_,
                    .length_ns = now_ns() - start_ns_,
                    .value = 0,
                    .kind = Kind::span,
                    .category = category_,
                    .args = args_});
}

void instant(const char* name, Category category, const Args& args) {
  if (!enabled()) return;
  internal::record({.name = name,
                    .start_ns = now_ns(),
                    .length_ns = 0,
                    .value = 0,
                    .kind = Kind::instant,
                    .category = category,
                    .args = args});
}

void counter(const char* name, int64_t value) {
  if (!enabled()) return;
  internal::record({name, now_ns(), 0, static_cast<uint64_t>(value), Kind::counter, Category::op});
}

void flow_begin(uint64_t id) {
  if (enabled()) internal::record({"element", now_ns(), 0, id, Kind::flow_begin, Category::op});
}

void flow_end(uint64_t id) {
  if (enabled()) internal::record({"element", now_ns(), 0, id, Kind::flow_end, Category::op});
}

}  // namespace headpond::trace
