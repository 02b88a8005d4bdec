// SPDX-License-Identifier: Apache-2.0
// In which order a queue gives its elements: what makes its type.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "headpond/queue/slots_internal.h"

namespace headpond::internal {

/// Reads the slots in its own order. All calls are made under the take side's turn.
class TakeOrder {
 public:
  TakeOrder(Slots& slots, size_t components)
      : slots_(slots), components_(components), bytes_(PackedElement::bytes(components)) {}
  virtual ~TakeOrder() = default;

  /// Takes one element out; the packed form lives until the next call. `inside`: for an order that chooses, how many
  /// there are; for another, at least how many. REQUIRES: at least one.
  virtual const std::byte* next(int64_t inside) = 0;
  /// Takes back what next() gave last, in the order in which it did.
  virtual void give_back(std::span<Element> elements) = 0;
  /// The number, counted from 0 in order of arrival, of what next() gave last; kNoNumber where an order that
  /// mixes gave it again after it had come back.
  uint64_t last_number() const { return last_number_; }
  static constexpr uint64_t kNoNumber = UINT64_MAX;

  /// Destroys all `inside` elements.
  void clear(int64_t inside);

 protected:
  Slots& slots_;
  const size_t components_;
  const size_t bytes_;  // Of one packed element.
  uint64_t last_number_ = kNoNumber;
};

std::unique_ptr<TakeOrder> first_in_first_out(Slots& slots, size_t components);
/// Each of those inside is as likely as any other; the choices are a function of `seed` and the calls.
std::unique_ptr<TakeOrder> random_order(Slots& slots, size_t components, uint64_t seed);
/// The smallest value of component 0 first, those of equal value in order of arrival. REQUIRES: it is an int64 scalar.
std::unique_ptr<TakeOrder> smallest_first(Slots& slots, size_t components);

}  // namespace headpond::internal
