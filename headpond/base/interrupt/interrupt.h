// SPDX-License-Identifier: Apache-2.0
// Lets a host, such as an interpreter, look for signals while one of its threads waits inside the library.
#pragma once

#include <chrono>
#include <functional>

namespace headpond {

/// While this lives, a call of this thread that waits in the library calls `look` about every 50 ms. It holds no lock
/// of the library meanwhile, and keeps its position among those that wait. Loader::next() also calls it after a wait,
/// before it takes its batch. Once `look` returned true, was_interrupted() is true: Loader::next(), Coordinator::join()
/// and Coordinator::wait_for_stop() then end as soon as they would wait, the first two as Cancelled, and nothing is
/// lost. Calls of queues end by their Wait::stop, which `look` may request. These nest: only the innermost is asked.
/// Lives on one thread. `look` must not throw.
class InterruptLook {
 public:
  /// `between_elements`: Sequence::next() looks too, also where it does not wait: between elements that it leaves out.
  explicit InterruptLook(std::function<bool()> look, bool between_elements = false);
  ~InterruptLook();
  InterruptLook(const InterruptLook&) = delete;
  InterruptLook& operator=(const InterruptLook&) = delete;

  bool was_interrupted() const { return was_interrupted_; }

 private:
  friend bool look_for_interrupt();
  friend bool look_between_elements();
  const std::function<bool()> look_;
  InterruptLook* const before_;
  const bool between_elements_;
  bool was_interrupted_ = false;
};

inline constexpr std::chrono::milliseconds kLookInterval{50};

/// The innermost look of the calling thread; null: none.
InterruptLook* interrupt_look();
/// Asks it. Returns true iff the thread has one that was interrupted, now or before.
bool look_for_interrupt();
/// The same if that one looks between elements, else false.
bool look_between_elements();
/// Returns the same without asking.
bool is_interrupted();

}  // namespace headpond
