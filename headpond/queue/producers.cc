// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>

#include "headpond/queue/producers_internal.h"

namespace headpond::internal {
namespace {

constinit thread_local ProducerActivity* this_producer = nullptr;

}  // namespace

ProducerActivity::Scope::Scope(ProducerActivity& activity) : activity_(activity) { this_producer = &activity; }

ProducerActivity::Scope::~Scope() {
  this_producer = nullptr;
  activity_.end(std::move(error_));
}

void ProducerActivity::end(Error error) {
  MutexLock lock(mu_);
  ended_ = true;
  error_ = std::move(error);
}

void ProducerActivity::waits(Verb verb, const std::string& queue) {
  if (this_producer == nullptr) return;
  MutexLock lock(this_producer->mu_);
  this_producer->verb_ = verb;
  this_producer->waits_at_ = &queue;
}

void ProducerActivity::goes_on() {
  if (this_producer == nullptr) return;
  MutexLock lock(this_producer->mu_);
  this_producer->waits_at_ = nullptr;
}

bool ProducerActivity::has_ended() const {
  MutexLock lock(mu_);
  return ended_;
}

std::string ProducerActivity::to_string() const {
  MutexLock lock(mu_);
  if (ended_) return fmt::format("{}: ended, {}", name_, error_ ? error_.to_string() : "a stop was requested");
  if (waits_at_ != nullptr) {
    return fmt::format("{}: waits in {} of '{}'", name_, verb_ == Verb::enqueue ? "enqueue" : "dequeue", *waits_at_);
  }
  return calls_.get() == 0 ? name_ + ": about to begin"
                           : fmt::format("{}: in call {} of its function", name_, calls_.get());
}

void Producers::add(const Group& group) {
  MutexLock lock(mu_);
  std::erase_if(all_, [](const auto& each) { return each->has_ended(); });
  all_.insert(all_.end(), group.begin(), group.end());
}

bool Producers::all_ended() const {
  MutexLock lock(mu_);
  return !all_.empty() && std::ranges::all_of(all_, [](const auto& each) { return each->has_ended(); });
}

std::string Producers::to_string() const {
  MutexLock lock(mu_);
  std::string text;
  for (const auto& each : all_) text.append(text.empty() ? "" : "; ").append(each->to_string());
  return text;
}

}  // namespace headpond::internal
