// SPDX-License-Identifier: Apache-2.0
// The threads that are known to fill a queue, and what each of them is doing.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "headpond/base/mutex.h"
#include "headpond/base/stats.h"
#include "headpond/base/status.h"
#include "headpond/queue/sync/wait_host_internal.h"

namespace headpond::internal {

/// Written by its own thread, read by any.
class ProducerActivity {
 public:
  explicit ProducerActivity(std::string name) : name_(std::move(name)) {}

  /// The calling thread is this producer as long as a Scope lives; it ends as `error` says, none: by a stop.
  class Scope {
   public:
    explicit Scope(ProducerActivity& activity);
    ~Scope();
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;
    void begins_call() { activity_.calls_.add(1); }
    void ends_by(Error error) { error_ = std::move(error); }

   private:
    ProducerActivity& activity_;
    Error error_;
  };
  void end(Error error) HEADPOND_EXCLUDES(mu_);

  /// What the calling thread does, iff it is a producer. `queue` lives until goes_on().
  static void waits(Verb verb, const std::string& queue);
  static void goes_on();

  bool has_ended() const HEADPOND_EXCLUDES(mu_);
  /// "name: in call 3 of its function", "name: waits in dequeue of 'raw'", "name: ended, OutOfRange: end".
  std::string to_string() const HEADPOND_EXCLUDES(mu_);

 private:
  const std::string name_;
  StatsCell calls_;
  mutable Mutex mu_;
  Verb verb_ HEADPOND_GUARDED_BY(mu_) = Verb::enqueue;
  const std::string* waits_at_ HEADPOND_GUARDED_BY(mu_) = nullptr;  // A queue's name.
  bool ended_ HEADPOND_GUARDED_BY(mu_) = false;
  Error error_ HEADPOND_GUARDED_BY(mu_);
};

/// Thread-safe.
class Producers {
 public:
  using Group = std::vector<std::shared_ptr<ProducerActivity>>;
  /// Forgets those that ended before.
  void add(const Group& group) HEADPOND_EXCLUDES(mu_);
  /// True iff some are known, and all of them ended.
  bool all_ended() const HEADPOND_EXCLUDES(mu_);
  /// Each one's to_string().
  std::string to_string() const HEADPOND_EXCLUDES(mu_);

 private:
  mutable Mutex mu_;
  Group all_ HEADPOND_GUARDED_BY(mu_);
};

}  // namespace headpond::internal
