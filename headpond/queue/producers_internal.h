// SPDX-License-Identifier: Apache-2.0
// The producer threads that a queue knows of, and what each of them is doing.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "headpond/base/mutex.h"
#include "headpond/base/stats.h"
#include "headpond/base/status.h"
#include "headpond/queue/sync/wait_host_internal.h"

namespace headpond::internal {

/// What one producer is doing. Written by its own thread, read by any thread.
class ProducerActivity {
 public:
  explicit ProducerActivity(std::string name) : name_(std::move(name)) {}

  /// While a Scope lives, the calling thread is this producer. The producer ends with the Scope: by the error of
  /// ends_by(), or by a stop if there is none.
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

  /// Notes that the calling thread waits, if it is a producer. `queue` lives until goes_on().
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
  /// Adds producers, and forgets those that have ended.
  void add(const Group& group) HEADPOND_EXCLUDES(mu_);
  /// True iff producers are known and all of them have ended.
  bool all_ended() const HEADPOND_EXCLUDES(mu_);
  /// The to_string() of each producer.
  std::string to_string() const HEADPOND_EXCLUDES(mu_);

 private:
  mutable Mutex mu_;
  Group all_ HEADPOND_GUARDED_BY(mu_);
};

}  // namespace headpond::internal
