// SPDX-License-Identifier: Apache-2.0
// What comes next: the next epoch, and the next part of what gives one part after the other, are begun by a worker that
// has nothing else to do.
#include <algorithm>
#include <iterator>
#include <utility>

#include "headpond/base/trace.h"
#include "headpond/engine/core_internal.h"

namespace headpond::internal {
namespace {

constexpr size_t kMostEarly = 2;

int height_of(const Node& node) {
  int height = 0;
  for (const Node::Ref& input : node.facts().inputs) height = std::max(height, height_of(*input));
  return height + 1;
}

}  // namespace

void Core::expect(const Node& node, const Binding& binding) {
  std::vector<Early> dropped;  // Their windows take the lock when they close.
  MutexLock lock(mu);
  dropped = expect_in(epoch_here(), node, binding);
}

void Core::expect_epoch(const Node& node, const Binding& binding) {
  std::vector<Early> dropped;
  MutexLock lock(mu);
  dropped = expect_in(binding.epoch, node, binding);
}

// What was expected of the same node before did not come: a part that was not taken to its end has no next one.
std::vector<Core::Early> Core::expect_in(uint64_t epoch, const Node& node, const Binding& binding) {
  std::vector<Early> dropped =
      withdraw([&](const Expected& what) { return what.node == &node && what.epoch == epoch; });
  expected_.push_back({&node, binding, epoch, height_of(node)});
  wake();
  return dropped;
}

template <class IsStale>
std::vector<Core::Early> Core::withdraw(IsStale is_stale) {
  std::erase_if(expected_, is_stale);
  const auto stays = [&](const Early& early) { return !is_stale(early.what); };
  const auto rest = std::stable_partition(early_.begin(), early_.end(), stays);
  std::vector<Early> dropped(std::make_move_iterator(rest), std::make_move_iterator(early_.end()));
  early_.erase(rest, early_.end());
  return dropped;
}

void Core::begin_epoch(uint64_t epoch) {
  std::vector<Early> dropped;
  MutexLock lock(mu);
  epoch_ = epoch;
  dropped = withdraw([&](const Expected& what) { return what.epoch != epoch; });
}

bool Core::may_open_early() const {
  if (opening_early_ != nullptr || expected_.empty() || early_.size() >= kMostEarly || options_.run_ahead == 0) {
    return false;
  }
  // None: what comes now is just being opened.
  return !windows_.empty() &&
         std::all_of(windows_.begin(), windows_.end(), [](const auto& window) { return window->is_ended(); });
}

void Core::open_early(Worker& self) {
  const auto lower = [](const Expected& a, const Expected& b) { return a.height < b.height; };
  const auto next = std::min_element(expected_.begin(), expected_.end(), lower);
  Early early{.what = *next};
  expected_.erase(next);
  opening_early_ = &early;
  early_thread_ = this_thread_id();
  self.doing = trace::intern(early.what.node->facts().op);
  mu.unlock();
  try {
    early.iterator = open(*early.what.node, early.what.binding);
  } catch (...) {
    early.windows.clear();  // Who needs it opens it, and is told.
  }
  mu.lock();
  opening_early_ = nullptr;
  opened_early_.notify_all();
  if (early.iterator && early.what.epoch >= epoch_) {
    early_.push_back(std::move(early));
  } else {
    mu.unlock();  // Its windows take the lock when they go.
    early = {};
    mu.lock();
  }
  self.doing = nullptr;
}

std::unique_ptr<Iterator> Core::take_early(const Node& node, const Binding& binding) {
  Early early;  // Its windows may end with it, and take the lock then.
  MutexLock lock(mu);
  const auto is_this = [&](const Expected& what) { return what.node == &node && what.binding == binding; };
  std::erase_if(expected_, is_this);
  while (opening_early_ != nullptr && early_thread_ != this_thread_id() && is_this(opening_early_->what) && !stopped_) {
    opened_early_.wait(mu);
  }
  const auto found = std::find_if(early_.begin(), early_.end(), [&](const Early& e) { return is_this(e.what); });
  if (found == early_.end()) return nullptr;
  early = std::move(*found);
  early_.erase(found);
  for (const auto& window : early.windows) {
    if (window->is_closed()) continue;
    remove(window.get());
    window->early = false;
    windows_.insert(windows_.begin(), window);
  }
  made_progress();
  wake();
  return std::move(early.iterator);
}

uint64_t Core::epoch_here() const {
  if (is_opening_early()) return opening_early_->what.epoch;
  const Window* const opener = Opener::in(*this);
  return opener != nullptr ? opener->epoch : epoch_;
}

Core::Early* Core::early_of(const Window& window) {
  const auto holds = [&](const Early& early) {
    return std::any_of(early.windows.begin(), early.windows.end(), [&](const auto& w) { return w.get() == &window; });
  };
  if (opening_early_ != nullptr && holds(*opening_early_)) return opening_early_;
  const auto found = std::find_if(early_.begin(), early_.end(), holds);
  return found != early_.end() ? &*found : nullptr;
}

}  // namespace headpond::internal
