// SPDX-License-Identifier: Apache-2.0
#include "headpond/base/trace.h"

#include <algorithm>
#include <memory>
#include <new>
#include <unordered_set>

#include "headpond/base/clock.h"
#include "headpond/base/mutex.h"
#include "headpond/base/thread.h"
#include "headpond/base/trace_tasks.h"

namespace headpond::trace {
namespace {

using internal::EndedTask;

// A span of tasks that may become longer. Its thread lengthens it without a lock, and collect() may see a moment in the
// middle of that: the end of the last task, and the number of all but that.
class OpenSpan {
 public:
  // begin(), clear() and event() need the buffer's lock.
  void begin(const Event& event, const EndedTask& task, const ArgNames& of_several, uint64_t session) {
    first_ = event;
    names_ = &of_several;
    sender_ = task.sender;
    group_ = task.group;
    session_ = session;
    end_ns_.store(task.end_ns, std::memory_order_relaxed);
    last_.store(task.last, std::memory_order_relaxed);
    sum_.store(task.adds, std::memory_order_relaxed);
    count_.store(1, std::memory_order_relaxed);
  }
  void clear() {
    count_.store(0, std::memory_order_relaxed);
    sender_ = nullptr;
  }
  bool is_empty() const { return count_.load(std::memory_order_relaxed) == 0; }
  Event event() const {
    Event whole = first_;
    const int64_t count = count_.load(std::memory_order_relaxed);
    if (count == 1) return whole;
    whole.length_ns = end_ns_.load(std::memory_order_relaxed) - whole.start_ns;
    whole.value = static_cast<uint64_t>(count);
    whole.args.names = names_;
    whole.args.values[2] = last_.load(std::memory_order_relaxed);
    whole.args.values[3] = sum_.load(std::memory_order_relaxed);
    return whole;
  }

  // Its thread calls these without the lock: what begin() and clear() wrote, no other thread changes.
  bool takes(const EndedTask& task, uint64_t session) const {
    const int64_t between = task.start_ns - end_ns_.load(std::memory_order_relaxed);
    return sender_ == task.sender && session_ == session && group_ == task.group && first_.name == task.name &&
           between >= 0 && between <= internal::kMostBetweenNs &&
           task.end_ns - task.start_ns <= internal::kShortTaskNs &&
           task.end_ns - first_.start_ns <= internal::kLongestJoinedNs;
  }
  void add(const EndedTask& task) {
    sum_.store(sum_.load(std::memory_order_relaxed) + task.adds, std::memory_order_relaxed);
    last_.store(task.last, std::memory_order_relaxed);
    count_.store(count_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
    end_ns_.store(task.end_ns, std::memory_order_relaxed);
  }

 private:
  Event first_ = {};
  const ArgNames* names_ = nullptr;
  const void* sender_ = nullptr;  // Null: there is none.
  int64_t group_ = 0;
  uint64_t session_ = 0;
  std::atomic<int64_t> end_ns_ = 0, last_ = 0, sum_ = 0, count_ = 0;  // Count 0: there is none.
};

struct ThreadBuffer {
  Mutex mu;       // Locked by its thread for each event, and by collect(): never contended while recording.
  OpenSpan open;  // Emptied and begun under the lock.
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
  // Discards what was recorded before the last start().
  void enter(uint64_t now) HEADPOND_REQUIRES(mu);
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

// Keeps the memory, whose pages are mapped already, unless it is for more events than there may be now.
void ThreadBuffer::enter(uint64_t now) {
  if (session == now) return;
  session = now;
  oldest = 0;
  open.clear();
  written.thread_id = this_thread_id();
  written.thread_name = this_thread_name();
  written.events.clear();
  if (written.events.capacity() > registry().limit.load(std::memory_order_relaxed)) written.events.shrink_to_fit();
  written.dropped = 0;
}

void add_to(ThreadBuffer& buffer, const Event& event) HEADPOND_REQUIRES(buffer.mu) {
  try {
    buffer.add(event, registry().limit.load(std::memory_order_relaxed),
               registry().keep.load(std::memory_order_relaxed));
  } catch (const std::bad_alloc&) {
    ++buffer.written.dropped;
  }
}

void close_span(ThreadBuffer& buffer) HEADPOND_REQUIRES(buffer.mu) {
  if (buffer.open.is_empty()) return;
  add_to(buffer, buffer.open.event());
  buffer.open.clear();
}

std::shared_ptr<ThreadBuffer> register_thread() {
  auto buffer = std::make_shared<ThreadBuffer>();
  Registry& all = registry();
  MutexLock lock(all.mu);
  all.buffers.push_back(buffer);
  return buffer;
}

// Its address once more in a variable that has no constructor: one that has is looked at by a call each time.
constinit thread_local ThreadBuffer* known_buffer = nullptr;

ThreadBuffer& own_buffer() {
  if (known_buffer == nullptr) {
    thread_local const std::shared_ptr<ThreadBuffer> buffer = register_thread();
    known_buffer = buffer.get();
  }
  return *known_buffer;
}

}  // namespace

namespace internal {

std::atomic<bool> recording = false;
std::atomic<uint64_t> recorded_session = 0;

// What begins now is no part of the tasks before it.
int64_t span_start() {
  ThreadBuffer& buffer = own_buffer();
  if (!buffer.open.is_empty()) {
    MutexLock lock(buffer.mu);
    buffer.enter(session());
    close_span(buffer);
  }
  return now_ns();
}

uint64_t session() { return registry().session.load(std::memory_order_acquire); }

void record(const Event& event) {
  ThreadBuffer& buffer = own_buffer();
  MutexLock lock(buffer.mu);
  buffer.enter(session());
  if (event.kind == Kind::span) close_span(buffer);
  add_to(buffer, event);
}

void record_spans(std::span<const Event> spans) {
  if (spans.empty()) return;
  ThreadBuffer& buffer = own_buffer();
  MutexLock lock(buffer.mu);
  buffer.enter(session());
  close_span(buffer);
  for (const Event& span : spans) add_to(buffer, span);
}

void record_flow(Kind begin_or_end, uint64_t id, int64_t at_ns) {
  record({"element", at_ns, 0, id, begin_or_end, Category::op});
}

bool lengthen(const EndedTask& task) {
  ThreadBuffer* const buffer = known_buffer;
  if (buffer == nullptr || !buffer->open.takes(task, recorded_session.load(std::memory_order_relaxed))) return false;
  buffer->open.add(task);
  return true;
}

void record_task(const Event& event, const EndedTask& task, const ArgNames& of_several) {
  ThreadBuffer& buffer = own_buffer();
  const uint64_t now = session();
  MutexLock lock(buffer.mu);
  buffer.enter(now);
  close_span(buffer);
  if (event.length_ns > kShortTaskNs) return add_to(buffer, event);
  buffer.open.begin(event, task, of_several, now);
}

}  // namespace internal

void start(size_t events_per_thread, Keep keep) {
  Registry& all = registry();
  MutexLock lock(all.mu);
  // A buffer that only the registry owns belongs to a thread that ended.
  std::erase_if(all.buffers, [](const auto& buffer) { return buffer.use_count() == 1; });
  all.limit = events_per_thread;
  all.keep = keep;
  const uint64_t session = all.session.fetch_add(1, std::memory_order_release) + 1;
  internal::recording = true;
  internal::recorded_session = session;
}

void stop() {
  internal::recording = false;
  internal::recorded_session = 0;
}

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
    if (buffer->session != session || (buffer->written.events.empty() && buffer->open.is_empty())) continue;
    threads.push_back(buffer->written);
    std::vector<Event>& events = threads.back().events;
    std::rotate(events.begin(), events.begin() + static_cast<std::ptrdiff_t>(buffer->oldest), events.end());
    if (!buffer->open.is_empty()) events.push_back(buffer->open.event());
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
  if (enabled()) internal::record_flow(Kind::flow_begin, id, now_ns());
}

void flow_end(uint64_t id) {
  if (enabled()) internal::record_flow(Kind::flow_end, id, now_ns());
}

}  // namespace headpond::trace
