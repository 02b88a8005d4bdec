// SPDX-License-Identifier: Apache-2.0
// CPU permits that the executors of several Loaders share, so that together they compute with no more threads than one
// would. An executor that finds none free says how urgent its work is, sleeps for at most a moment, and asks again: so
// no executor ever takes another one's lock, and a wake-up that is lost costs a millisecond.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "headpond/base/mutex.h"

namespace headpond::internal {

/// Whose work comes first.
enum class Urgency : uint8_t {
  none,
  idle,    ///< The program has called another Loader since.
  ahead,   ///< The program took its last batch from this one.
  awaited  ///< next() waits.
};

/// Thread-safe.
class SharedThreads {
 public:
  static constexpr std::chrono::milliseconds kRetry{1};
  explicit SharedThreads(int threads) : threads_(threads) {}

  /// An executor.
  class Member {
   public:
    explicit Member(std::shared_ptr<SharedThreads> all) : all_(std::move(all)) { all_->add(this); }
    ~Member() { all_->remove(this); }
    Member(const Member&) = delete;
    Member& operator=(const Member&) = delete;

    /// Its next() was called; whether one processor is to be left to the program until then.
    void arrive() { all_->last_.store(this, std::memory_order_relaxed); }
    void leave_one(bool leave) {
      if (is_last()) all_->left_.store(leave ? 1 : 0, std::memory_order_relaxed);
    }
    Urgency urgency(bool is_awaited) const {
      return is_awaited ? Urgency::awaited : is_last() ? Urgency::ahead : Urgency::idle;
    }
    /// True: compute, then give_back(). False: none is free, or another member's work is more urgent; sleep on
    /// `permit_wake` for at most kRetry, and ask again, or withdraw().
    bool try_take(Urgency urgency);
    void withdraw() { wants_.store(Urgency::none, std::memory_order_relaxed); }
    void give_back();
    /// Threads that do not return no longer count.
    void abandon();

    const SharedThreads* all() const { return all_.get(); }

    CondVar permit_wake;  ///< With the lock of its executor.

   private:
    friend class SharedThreads;
    void free_one();
    void take_again();
    bool is_last() const { return all_->last_.load(std::memory_order_relaxed) == this; }
    const std::shared_ptr<SharedThreads> all_;
    std::atomic<Urgency> wants_ = Urgency::none;
    int taken_ = 0;  // Guarded by all_->mu_, as the next one.
    bool is_abandoned_ = false;
  };

  /// While it lives, the permits that this thread holds are free: it waits for another member's work, which may need
  /// them. Afterwards the thread has them again, if need be beyond their number. `all` may be null.
  class Lending {
   public:
    explicit Lending(const SharedThreads* all);
    ~Lending();
    Lending(const Lending&) = delete;
    Lending& operator=(const Lending&) = delete;

   private:
    std::vector<Member*> lent_;
  };

  int running() const { return running_.load(std::memory_order_relaxed); }

 private:
  int permits() const { return std::max(1, threads_ - left_.load(std::memory_order_relaxed)); }
  void add(Member* member);
  void remove(Member* member);
  bool is_outranked(const Member& by, Urgency urgency) HEADPOND_REQUIRES(mu_);

  const int threads_;
  std::atomic<int> left_ = 0;
  std::atomic<const Member*> last_ = nullptr;  // Only compared.
  Mutex mu_;
  std::atomic<int> running_ = 0;  // Changed under mu_.
  std::vector<Member*> members_ HEADPOND_GUARDED_BY(mu_);
};

}  // namespace headpond::internal
