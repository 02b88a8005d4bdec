// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <iterator>

#include "headpond/engine/executor/shared_threads_internal.h"

namespace headpond::internal {
namespace {

// Whose permits this thread holds: several, if a function that it runs reads from another Loader.
thread_local std::vector<SharedThreads::Member*> held;

}  // namespace

void SharedThreads::add(Member* member) {
  MutexLock lock(mu_);
  members_.push_back(member);
}

void SharedThreads::remove(Member* member) {
  MutexLock lock(mu_);
  std::erase(members_, member);
  std::erase(held, member);  // Its thread may leave with a permit.
  const Member* last = member;
  if (last_.compare_exchange_strong(last, nullptr)) left_.store(0, std::memory_order_relaxed);
}

// More urgent work of another member takes the next permit.
bool SharedThreads::is_outranked(const Member& by, Urgency urgency) {
  return std::any_of(members_.begin(), members_.end(), [&](const Member* other) {
    return other != &by && other->wants_.load(std::memory_order_relaxed) > urgency;
  });
}

bool SharedThreads::Member::try_take(Urgency urgency) {
  MutexLock lock(all_->mu_);
  const int running = all_->running();
  if (running >= all_->permits() || all_->is_outranked(*this, urgency)) {
    wants_.store(urgency, std::memory_order_relaxed);
    return false;
  }
  all_->running_.store(running + 1, std::memory_order_relaxed);
  ++taken_;
  withdraw();
  held.push_back(this);
  return true;
}

void SharedThreads::Member::give_back() {
  const auto last = std::find(held.rbegin(), held.rend(), this);
  if (last != held.rend()) held.erase(std::next(last).base());
  free_one();
}

void SharedThreads::Member::take_again() {
  MutexLock lock(all_->mu_);
  if (is_abandoned_) return;
  ++taken_;
  all_->running_.store(all_->running() + 1, std::memory_order_relaxed);
}

void SharedThreads::Member::free_one() {
  MutexLock lock(all_->mu_);
  if (is_abandoned_) return;
  --taken_;
  all_->running_.store(all_->running() - 1, std::memory_order_relaxed);
  for (Member* const other : all_->members_) {
    if (other->wants_.load(std::memory_order_relaxed) != Urgency::none) other->permit_wake.notify_one();
  }
}

void SharedThreads::Member::abandon() {
  MutexLock lock(all_->mu_);
  is_abandoned_ = true;
  all_->running_.store(all_->running() - taken_, std::memory_order_relaxed);
}

SharedThreads::Lending::Lending(const SharedThreads* all) {
  for (Member* const member : held) {
    if (member->all_.get() == all) lent_.push_back(member);
  }
  for (Member* const member : lent_) member->free_one();
}

SharedThreads::Lending::~Lending() {
  for (Member* const member : lent_) member->take_again();
}

}  // namespace headpond::internal
