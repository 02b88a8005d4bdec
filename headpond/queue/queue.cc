// SPDX-License-Identifier: Apache-2.0
#include "headpond/queue/queue.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "headpond/queue/queue_state_internal.h"
#include "headpond/queue/shared_internal.h"

namespace headpond {
namespace internal {
namespace {

constexpr int64_t kMostElements = int64_t{1} << 48, kMostCapacity = (int64_t{1} << 40) - 1;

[[noreturn]] void refuse(std::string why) { throw Exception(Error(ErrorKind::InvalidArgument, std::move(why))); }

void check(const QueueOptions& options, const QueueType& type) {
  const Components components(options, type.layout);
  const int64_t minimum = type.min_after_dequeue;
  if (options.capacity == 0) refuse(fmt::format("{}: capacity must not be 0", type.type));
  if (options.capacity > kMostCapacity) {
    refuse(fmt::format("{}: capacity {} is more than any queue can hold, which is {}", type.type, options.capacity,
                       kMostCapacity));
  }
  if (minimum < 0) refuse(fmt::format("{}: min_after_dequeue {} is below 0", type.type, minimum));
  if (minimum >= kMostElements) {
    refuse(fmt::format("{}: min_after_dequeue {} is more than any queue can hold", type.type, minimum));
  }
  if (options.capacity > 0 && minimum >= options.capacity) {
    refuse(fmt::format("{}: min_after_dequeue {} must be below capacity {}, else no element could ever be taken",
                       type.type, minimum, options.capacity));
  }
  if (options.watchdog && options.watchdog->count() <= 0) {
    refuse(fmt::format("{}: watchdog must be positive, got {} ns; {{}} switches it off", type.type,
                       options.watchdog->count()));
  }
  const int64_t bytes = components.element_bytes();
  if (options.memory_limit >= 0 && bytes < 0 && type.takes_at_once) {
    refuse(
        fmt::format("{}: a memory limit needs elements of one size: it takes those of a batch at once, and they might "
                    "never fit together",
                    type.type));
  }
  int64_t fill = 0;
  if (options.memory_limit >= 0 && bytes > 0 &&
      (__builtin_mul_overflow(minimum + 1, bytes, &fill) || fill > options.memory_limit)) {
    refuse(fmt::format("{}: the minimum fill of {} elements of {} bytes needs more than the memory limit of {} bytes",
                       type.type, minimum + 1, bytes, options.memory_limit));
  }
}

// Names of queues that nobody named, and the queues that have a shared name.
struct Registry {
  Mutex mu;
  std::map<std::string, int64_t, std::less<>> unnamed HEADPOND_GUARDED_BY(mu);
  std::map<std::string, std::weak_ptr<QueueState>> shared HEADPOND_GUARDED_BY(mu);
};

Registry& registry() {
  static Registry* const instance = new Registry;
  return *instance;
}

std::string seconds(const std::optional<std::chrono::nanoseconds>& time) {
  return time ? fmt::to_string(std::chrono::duration<double>(*time).count()) : "none";
}

void must_agree(const QueueState& old, const QueueOptions& options, const QueueType& type) {
  const Agreement agreement{fmt::format("shared queue '{}'", options.shared_name)};
  agreement.on("type", old.type().type, type.type);
  agreement.on("capacity", old.options().capacity, options.capacity);
  agreement.on("min_after_dequeue", old.type().min_after_dequeue, type.min_after_dequeue);
  agreement.on("memory_limit", old.options().memory_limit, options.memory_limit);
  agreement.on("watchdog (s)", seconds(old.options().watchdog), seconds(options.watchdog));
  agreement.on("fill_patience (s)", seconds(old.options().fill_patience), seconds(options.fill_patience));
  agreement.on("seed", old.type().seed, type.seed);
  agreement.on_components(old.options(), options);
}

// What all handles of a queue share; goes with the last of them.
struct Handles {
  explicit Handles(std::shared_ptr<QueueState> given) : state(std::move(given)) {}
  ~Handles() {
    if (state->home().is_here()) (void)state->close(true);
  }
  Handles(const Handles&) = delete;
  Handles& operator=(const Handles&) = delete;
  const std::shared_ptr<QueueState> state;
};

// The pointer owns the Handles but points at the state, so that calls need no further indirection.
std::shared_ptr<QueueState> first_handle(QueueOptions options, const QueueType& type) {
  const auto handles = std::make_shared<Handles>(std::make_shared<QueueState>(std::move(options), type));
  return {handles, handles->state.get()};
}

}  // namespace

std::shared_ptr<QueueState> make_queue(QueueOptions options, QueueType type) {
  options.capacity = std::max(options.capacity, kUnbounded);
  options.memory_limit = std::max(options.memory_limit, kUnbounded);
  check(options, type);
  Registry& all = registry();
  MutexLock lock(all.mu);
  if (options.name.empty() && options.default_name.empty()) options.name = options.shared_name;
  if (options.name.empty()) {
    options.name = options.default_name.empty() ? std::string(type.default_name) : options.default_name;
    if (const int64_t number = all.unnamed[options.name]++; number > 0) options.name += fmt::format("_{}", number);
  }
  if (options.shared_name.empty()) return first_handle(std::move(options), type);
  std::erase_if(all.shared, [](const auto& entry) { return entry.second.expired(); });
  std::weak_ptr<QueueState>& place = all.shared[options.shared_name];
  if (auto existing = place.lock()) {
    must_agree(*existing, options, type);
    return existing;
  }
  auto fresh = first_handle(std::move(options), type);
  place = fresh;
  return fresh;
}

namespace {

// All that puts, takes or closes.
template <class Call>
auto on_queue(const std::shared_ptr<QueueState>& state, Call call) -> decltype(call(*state)) {
  if (!state->home().is_here()) [[unlikely]]
    return fail(state->away_error());
  return or_error([&] { return call(*state); });
}

}  // namespace
}  // namespace internal

Result<void> Queue::enqueue(Element element, Wait wait) const {
  return internal::on_queue(state_, [&](auto& state) { return state.enqueue(std::move(element), wait); });
}
Result<void> Queue::enqueue_many(Element rows, Wait wait) const {
  return internal::on_queue(state_, [&](auto& state) { return state.enqueue_many(std::move(rows), wait); });
}
Result<Element> Queue::dequeue(Wait wait) const {
  return internal::on_queue(state_, [&](auto& state) { return state.dequeue(wait); });
}
Result<Element> Queue::dequeue_many(int64_t n, Wait wait) const {
  return internal::on_queue(state_, [&](auto& state) { return state.dequeue_many(n, false, wait); });
}
Result<Element> Queue::dequeue_up_to(int64_t n, Wait wait) const {
  return internal::on_queue(state_, [&](auto& state) { return state.dequeue_many(n, true, wait); });
}
Result<void> Queue::close(bool cancel_pending_enqueues) const {
  return internal::on_queue(state_, [&](auto& state) { return state.close(cancel_pending_enqueues); });
}

void Queue::close_with_error(Error cause) const {
  set_failure(std::move(cause));
  (void)close(true);
}

void Queue::set_failure(Error cause) const {
  if (state_->home().is_here()) state_->set_failure(std::move(cause));
}
bool Queue::is_closed() const { return state_->gate().refuses_puts(); }
int64_t Queue::size() const { return state_->counts().size; }
QueueStats Queue::stats() const { return state_->stats(); }
const std::string& Queue::name() const { return state_->options().name; }
int64_t Queue::capacity() const { return state_->options().capacity; }
const std::vector<DType>& Queue::dtypes() const { return state_->options().dtypes; }
const std::vector<Shape>& Queue::shapes() const { return state_->options().shapes; }
const std::vector<std::string>& Queue::names() const { return state_->options().names; }

Queue::Iterator Queue::begin() const { return Iterator(*this); }

Queue::Iterator& Queue::Iterator::operator++() {
  element_.reset();
  Result<Element> next = queue_.dequeue();
  if (next) {
    element_ = std::move(*next);
  } else if (!next.error().is_end()) {
    throw Exception(next.error());
  }
  return *this;
}

size_t Queue::checked_index(int64_t index, const std::vector<Queue>& queues) {
  if (index < 0 || std::cmp_greater_equal(index, queues.size())) {
    internal::refuse(fmt::format("from_list: index {} into {} queues", index, queues.size()));
  }
  for (const Queue& queue : queues) {
    if (queue.dtypes() == queues[0].dtypes() && queue.names() == queues[0].names()) continue;
    internal::refuse(
        fmt::format("from_list: queues '{}' and '{}' have different dtypes or names", queues[0].name(), queue.name()));
  }
  return static_cast<size_t>(index);
}

FIFOQueue::FIFOQueue(QueueOptions options)
    : Queue(internal::make_queue(std::move(options),
                                 {.type = "FIFOQueue",
                                  .default_name = "fifo_queue",
                                  .make_order = [](internal::Slots& slots, const internal::Packing& packing, uint64_t) {
                                    return internal::first_in_first_out(slots, packing);
                                  }})) {}

FIFOQueue FIFOQueue::from_list(int64_t index, std::vector<FIFOQueue> queues) {
  return queues[checked_index(index, {queues.begin(), queues.end()})];
}

RandomShuffleQueue::RandomShuffleQueue(QueueOptions options, int64_t min_after_dequeue, uint64_t seed)
    : Queue(internal::make_queue(std::move(options), {.type = "RandomShuffleQueue",
                                                      .default_name = "random_shuffle_queue",
                                                      .min_after_dequeue = min_after_dequeue,
                                                      .seed = seed,
                                                      .chooses = true,
                                                      .make_order = internal::random_order})) {}

RandomShuffleQueue RandomShuffleQueue::from_list(int64_t index, std::vector<RandomShuffleQueue> queues) {
  return queues[checked_index(index, {queues.begin(), queues.end()})];
}

}  // namespace headpond
