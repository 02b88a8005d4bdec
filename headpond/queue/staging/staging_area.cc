// SPDX-License-Identifier: Apache-2.0
#include "headpond/queue/staging/staging_area.h"

#include <deque>

#include "headpond/queue/staging/staging_internal.h"

namespace headpond {
namespace internal {

class StagingState : public std::enable_shared_from_this<StagingState> {
 public:
  using Options = StagingOptions;

  explicit StagingState(Options options)
      : options_(normal(std::move(options))), components_(staging_components(options_, "StagingArea")) {}

  Result<void> put(Element element, const Wait& wait);
  Result<Element> get(const Wait& wait);
  Result<Element> peek(int64_t index, const Wait& wait);
  void clear();
  int64_t size();
  int64_t bytes();
  int64_t waiting(CallKind kind) { return wait_queue_.waiting(kind); }
  StagingStats stats();
  void abandon() { wait_queue_.cancel(); }
  std::string label() const { return fmt::format("StagingArea '{}'", options_.name); }
  const std::string& name() const { return options_.name; }
  void must_agree(const Options& given) const {
    staging_must_agree({fmt::format("shared StagingArea '{}'", given.shared_name)}, options_, given);
  }

  const HomeProcess home;

 private:
  bool try_put(Element& element, int64_t bytes) HEADPOND_REQUIRES(wait_queue_.mu);
  bool try_get(Element& element) HEADPOND_REQUIRES(wait_queue_.mu);
  std::string text();

  const Options options_;
  const Components components_;
  WaitQueue wait_queue_;
  std::deque<Element> elements_ HEADPOND_GUARDED_BY(wait_queue_.mu);
  int64_t bytes_ HEADPOND_GUARDED_BY(wait_queue_.mu) = 0;
  StagingCounters counters_ HEADPOND_GUARDED_BY(wait_queue_.mu);
  StagingWaits waits_;
};

Result<void> StagingState::put(Element element, const Wait& wait) {
  if (auto fits = components_.check(element); !fits) {
    return fail(ErrorKind::InvalidArgument, fmt::format("{}: {}", label(), fits.error().message()));
  }
  const int64_t bytes = byte_size(element);
  const int64_t limit = options_.memory_limit;
  if (limit > 0 && bytes > limit) return fail(above_memory_limit(bytes, limit, label()));
  const WaitResult waited =
      waits_.run(wait_queue_, CallKind::put, wait,
                 [&](bool is_first) HEADPOND_REQUIRES(wait_queue_.mu) { return is_first && try_put(element, bytes); });
  if (waited != WaitResult::go) return fail(wait_error("Put", waited, wait, text()));
  return {};
}

bool StagingState::try_put(Element& element, int64_t bytes) {
  if (options_.capacity > 0 && std::cmp_greater_equal(elements_.size(), options_.capacity)) return false;
  if (options_.memory_limit > 0 && bytes > options_.memory_limit - bytes_) return false;
  elements_.push_back(std::move(element));
  bytes_ += bytes;
  counters_.has_put(std::ssize(elements_), bytes_);
  return true;
}

Result<Element> StagingState::get(const Wait& wait) {
  Element element;
  bool has_begun = false;
  const WaitResult waited = waits_.run(wait_queue_, CallKind::take, wait, [&](bool) HEADPOND_REQUIRES(wait_queue_.mu) {
    if (!std::exchange(has_begun, true)) counters_.begins_to_get(std::ssize(elements_));
    return try_get(element);
  });
  if (waited != WaitResult::go) return fail(wait_error("Get", waited, wait, text()));
  return element;
}

bool StagingState::try_get(Element& element) {
  if (elements_.empty()) return false;
  element = std::move(elements_.front());
  elements_.pop_front();
  bytes_ -= byte_size(element);
  counters_.has_taken();
  return true;
}

Result<Element> StagingState::peek(int64_t index, const Wait& wait) {
  if (index < 0) {
    return fail(ErrorKind::InvalidArgument,
                fmt::format("{}: expected an index of at least 0, received {}", label(), index));
  }
  Element element;
  const WaitResult waited = waits_.run(wait_queue_, CallKind::take, wait, [&](bool) HEADPOND_REQUIRES(wait_queue_.mu) {
    if (std::cmp_less_equal(elements_.size(), index)) return false;
    element = elements_[static_cast<size_t>(index)];
    return true;
  });
  if (waited != WaitResult::go) return fail(wait_error(fmt::format("Peek({})", index), waited, wait, text()));
  return element;
}

void StagingState::clear() {
  std::deque<Element> dropped;  // Their memory goes back without the lock.
  MutexLock lock(wait_queue_.mu);
  dropped.swap(elements_);
  bytes_ = 0;
  wait_queue_.serve();
}

int64_t StagingState::size() {
  MutexLock lock(wait_queue_.mu);
  return std::ssize(elements_);
}

int64_t StagingState::bytes() {
  MutexLock lock(wait_queue_.mu);
  return bytes_;
}

StagingStats StagingState::stats() {
  MutexLock lock(wait_queue_.mu);
  StagingStats all{.capacity = options_.capacity, .size = std::ssize(elements_), .bytes = bytes_};
  counters_.add_to(all);
  waits_.add_to(all);
  return all;
}

std::string StagingState::text() {
  return fmt::format("{} has {} elements of capacity {}, {} bytes of memory_limit {} (-1: unbounded)", label(), size(),
                     options_.capacity, bytes(), options_.memory_limit);
}

}  // namespace internal

using State = internal::StagingState;

StagingArea::StagingArea(StagingOptions options)
    : state_(internal::Stores<State>::instance().find_or_make(std::move(options), "StagingArea")) {}

Result<void> StagingArea::put(Element element, Wait wait) const {
  return internal::call_on(state_, [&](State& state) { return state.put(std::move(element), wait); });
}
Result<Element> StagingArea::get(Wait wait) const {
  return internal::call_on(state_, [&](State& state) { return state.get(wait); });
}
Result<Element> StagingArea::peek(int64_t index, Wait wait) const {
  return internal::call_on(state_, [&](State& state) { return state.peek(index, wait); });
}
void StagingArea::clear() const { state_->clear(); }
int64_t StagingArea::size() const { return state_->size(); }
int64_t StagingArea::bytes() const { return state_->bytes(); }
int64_t StagingArea::waiting_puts() const { return state_->waiting(internal::CallKind::put); }
int64_t StagingArea::waiting_gets() const { return state_->waiting(internal::CallKind::take); }
StagingStats StagingArea::stats() const { return internal::with_waiting(state_->stats(), *state_); }
const std::string& StagingArea::name() const { return state_->name(); }

}  // namespace headpond
