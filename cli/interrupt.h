// SPDX-License-Identifier: Apache-2.0
// Ctrl-C: the first SIGINT or SIGTERM asks the program to end, a second one ends it at once.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <stop_token>

namespace headpond::cli {

/// At most one at a time. After the first signal the token is stopped. A program that is still there when `patience`
/// has passed ends all the same: its last words are called, then the process exits with code 130, as a second signal
/// makes it do at once. Thread-safe.
class Interrupt {
 public:
  explicit Interrupt(std::chrono::milliseconds patience = std::chrono::milliseconds(1700));
  /// Gives the signals their former meaning back. Waits for last words that are being said, and then for the exit.
  ~Interrupt();
  Interrupt(const Interrupt&) = delete;
  Interrupt& operator=(const Interrupt&) = delete;

  std::stop_token token() const;
  bool requested() const { return token().stop_requested(); }
  /// Called by another thread while the program is stuck in its work; must be short. Replaces the one before.
  void set_last_words(std::function<void()> words);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace headpond::cli
