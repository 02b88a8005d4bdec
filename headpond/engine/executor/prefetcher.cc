// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <iterator>
#include <utility>

#include "headpond/engine/executor/prefetcher_internal.h"

namespace headpond::internal {
namespace {

constexpr size_t kMostOpened = 2;

bool has(const Prefetch& prefetch, const WorkSource& source) HEADPOND_REQUIRES(engine_state) {
  return std::any_of(prefetch.sources.begin(), prefetch.sources.end(),
                     [&](const auto& other) { return other.get() == &source; });
}

}  // namespace

Prefetcher::Dropped Prefetcher::expect(uint64_t epoch, const Node& node, const Binding& binding) {
  const auto is_of_node = [&](const Prefetch& one) { return one.node == &node && one.epoch == epoch; };
  if (opening_ && !is_withdrawn_ && is_of_node(*opening_) && opening_->binding == binding) return {};
  Dropped dropped = withdraw(is_of_node);
  expected_.push_back({.node = &node, .binding = binding, .epoch = epoch, .height = node.depth()});
  return dropped;
}

Prefetcher::Dropped Prefetcher::begin_epoch(uint64_t epoch) {
  epoch_ = epoch;
  return withdraw([&](const Prefetch& one) { return one.epoch != epoch; });
}

template <class IsStale>
Prefetcher::Dropped Prefetcher::withdraw(IsStale is_stale) {
  std::erase_if(expected_, is_stale);
  if (opening_ && is_stale(*opening_)) is_withdrawn_ = true;
  const auto stays = [&](const Prefetch& one) { return !is_stale(one); };
  const auto rest = std::stable_partition(opened_.begin(), opened_.end(), stays);
  Dropped dropped(std::make_move_iterator(rest), std::make_move_iterator(opened_.end()));
  opened_.erase(rest, opened_.end());
  return dropped;
}

bool Prefetcher::has_next() const {
  return !opening_ && !expected_.empty() && opened_.size() < kMostOpened && !stopped_;
}

Prefetch* Prefetcher::begin() {
  const auto lower = [](const Prefetch& a, const Prefetch& b) { return a.height < b.height; };
  const auto next = std::min_element(expected_.begin(), expected_.end(), lower);
  try {
    opened_.reserve(opened_.size() + 1);  // For finish(), and so is the other.
    dropped_.reserve(1);
    opening_ = std::make_unique<Prefetch>(std::move(*next));
  } catch (const std::bad_alloc&) {
    opening_.reset();
  }
  expected_.erase(next);
  is_withdrawn_ = false;
  return opening_.get();
}

Prefetcher::Dropped Prefetcher::finish(std::unique_ptr<Iterator> iterator) {
  opening_->iterator = std::move(iterator);
  const bool is_kept = opening_->iterator != nullptr && !is_withdrawn_;
  Dropped dropped;
  dropped.swap(dropped_);
  (is_kept ? opened_ : dropped).push_back(std::move(*opening_));
  opening_.reset();
  finished_.notify_all();
  return dropped;
}

Prefetch Prefetcher::take(const Node& node, const Binding& binding, bool is_opening, EngineLock& lock) {
  const auto is_this = [&](const Prefetch& one) { return one.node == &node && one.binding == binding; };
  std::erase_if(expected_, is_this);
  while (!is_opening && opening_ && !is_withdrawn_ && is_this(*opening_) && !stopped_) lock.wait(finished_);
  Prefetch taken;
  const auto found = std::find_if(opened_.begin(), opened_.end(), is_this);
  if (found == opened_.end()) return taken;
  taken = std::move(*found);
  opened_.erase(found);
  return taken;
}

void Prefetcher::stop() {
  stopped_ = true;
  finished_.notify_all();
}

Prefetcher::Dropped Prefetcher::take_all() { return std::exchange(opened_, {}); }

Prefetch* Prefetcher::owner_of(const WorkSource& source) {
  if (opening_ && has(*opening_, source)) return opening_.get();
  for (Prefetch& one : opened_) {
    if (has(one, source)) return &one;
  }
  return nullptr;
}

}  // namespace headpond::internal
