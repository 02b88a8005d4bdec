// SPDX-License-Identifier: Apache-2.0
// Ctrl-C: the first SIGINT or SIGTERM asks the program to stop, the second one ends it at once.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <stop_token>

namespace headpond::cli {

/// At most one exists at a time. The first signal stops the token. If the program still runs after `grace`, its last
/// words are called and the process exits with code 130. A second signal ends the process with code 130 at once,
/// without last words: what is not written by then is lost. Thread-safe.
class Interrupt {
 public:
  explicit Interrupt(std::chrono::milliseconds grace = std::chrono::milliseconds(1700));
  /// Restores the former signal handlers. If last words are running, waits for the exit.
  ~Interrupt();
  Interrupt(const Interrupt&) = delete;
  Interrupt& operator=(const Interrupt&) = delete;

  std::stop_token token() const;
  bool requested() const { return token().stop_requested(); }
  /// `words` is called by another thread while the program hangs; it must be short. Replaces the earlier one.
  void set_last_words(std::function<void()> words);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace headpond::cli
