// SPDX-License-Identifier: Apache-2.0
// A value that is known, or computed when it is first asked for.
#pragma once

#include <atomic>
#include <concepts>
#include <functional>
#include <memory>
#include <type_traits>
#include <utility>

#include "headpond/base/mutex.h"

namespace headpond {

/// Copies share the value and its computation. Thread-safe: the first thread that asks computes it, others wait for
/// that. If the computation throws, the exception goes to the caller, and the next call computes again.
template <class T>
class Lazy {
 public:
  Lazy(T known = {}) : state_(std::make_shared<State>(std::move(known))) {}
  template <std::invocable Compute>
    requires std::convertible_to<std::invoke_result_t<Compute>, T>
  explicit Lazy(Compute compute) : state_(std::make_shared<State>(std::function<T()>(std::move(compute)))) {}

  bool is_known() const { return state_->known.load(std::memory_order_acquire); }
  /// Throws what the computation throws.
  const T& get() const {
    if (!is_known()) state_->find();
    return state_->value;
  }
  /// f(get()): at once if this is known, so that f may refuse it by an exception, else when asked for.
  template <class F, class Result = std::invoke_result_t<const F&, const T&>>
  Lazy<Result> then(F f) const {
    if (is_known()) return Lazy<Result>(f(get()));
    return Lazy<Result>([self = *this, f = std::move(f)] { return f(self.get()); });
  }

 private:
  struct State {
    explicit State(T v) : known(true), value(std::move(v)) {}
    explicit State(std::function<T()> c) : compute(std::move(c)) {}
    void find() {
      const MutexLock lock(mu);
      if (known.load(std::memory_order_relaxed)) return;
      value = compute();
      compute = nullptr;
      known.store(true, std::memory_order_release);
    }

    Mutex mu;
    std::function<T()> compute HEADPOND_GUARDED_BY(mu);
    std::atomic<bool> known = false;
    T value{};  // Written once, under mu, before `known`.
  };
  std::shared_ptr<State> state_;
};

}  // namespace headpond
