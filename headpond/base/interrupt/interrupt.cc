// SPDX-License-Identifier: Apache-2.0
#include "headpond/base/interrupt/interrupt.h"

#include <utility>

namespace headpond {
namespace {

thread_local InterruptLook* innermost = nullptr;  // NOLINT(cppcoreguidelines-avoid-non-const-global-variables)

}  // namespace

InterruptLook::InterruptLook(std::function<bool()> look, bool between_elements)
    : look_(std::move(look)), before_(innermost), between_elements_(between_elements) {
  innermost = this;
}
InterruptLook::~InterruptLook() { innermost = before_; }

InterruptLook* interrupt_look() { return innermost; }

bool look_for_interrupt() {
  InterruptLook* const look = innermost;
  if (look == nullptr) return false;
  look->was_interrupted_ = look->was_interrupted_ || look->look_();
  return look->was_interrupted_;
}

bool look_between_elements() { return innermost != nullptr && innermost->between_elements_ && look_for_interrupt(); }

bool is_interrupted() { return innermost != nullptr && innermost->was_interrupted(); }

}  // namespace headpond
