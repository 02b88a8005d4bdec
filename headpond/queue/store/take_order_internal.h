// SPDX-License-Identifier: Apache-2.0
// The order in which a queue returns its elements; each type of queue has one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "headpond/queue/store/packing_internal.h"
#include "headpond/queue/store/slots_internal.h"

namespace headpond::internal {

/// Takes elements out of the slots in its own order. Only the holder of the take side's lock calls it.
class TakeOrder {
 public:
  TakeOrder(Slots& slots, const Packing& packing) : slots_(slots), packing_(packing), bytes_(packing.bytes()) {}
  virtual ~TakeOrder() = default;

  /// Allocates memory, so that later calls cannot fail: for `count` calls of next(), with `inside` elements inside, and
  /// for a give_back() of these and of the `taken` elements that were taken before. Throws std::bad_alloc.
  virtual void reserve(int64_t inside, int64_t count, int64_t taken) = 0;
  /// Takes one element out; its packed form stays valid until the next call. `inside`: how many elements there are,
  /// which may be too low unless the type is one that chooses (QueueType). REQUIRES: at least one is inside, and was
  /// reserved.
  const std::byte* next(int64_t inside) {
    if (!is_straight_) return choose(inside);
    last_number_ = given_++;
    const std::byte* const slot = slots_.read_slot(inside);
    slots_.advance_read();
    return slot;
  }
  /// Takes `count` elements out, in the order of next(), and copies them to `to`, side by side.
  virtual void next_run(int64_t inside, int64_t count, std::byte* to) = 0;
  /// True iff the next elements are those that come next in the slots.
  bool is_straight() const { return is_straight_; }
  /// Takes the next elements without copying them: at most `most`, all known to be inside, stride() apart. They stay
  /// valid until the take is committed. REQUIRES: is_straight().
  std::span<const std::byte> next_slots(int64_t most) {
    const std::span<const std::byte> run = slots_.read_run(most);
    const size_t size = run.size() / slots_.stride();
    slots_.advance_read(static_cast<int64_t>(size));
    given_ += size;
    last_number_ = given_ - 1;
    return run;
  }
  /// Takes back the elements that were returned last, packed side by side in the same order. REQUIRES: reserved.
  virtual void give_back(std::span<const std::byte> packed) = 0;
  /// The number, in order of arrival from 0, of the element that next() returned last; kNoNumber if an order that mixes
  /// returned an element for the second time.
  uint64_t last_number() const { return last_number_; }
  static constexpr uint64_t kNoNumber = UINT64_MAX;

  /// Destroys all `inside` elements; does not allocate.
  void clear(int64_t inside);

 protected:
  /// next() where is_straight_ is false.
  virtual const std::byte* choose(int64_t inside) = 0;
  /// Destroys the elements that this order has outside of the slots; returns how many.
  virtual int64_t clear_own() = 0;
  int64_t clear(std::span<const std::byte> packed) const;

  Slots& slots_;
  const Packing& packing_;
  const size_t bytes_;  // Size of a packed element.
  // Written by every take, so on a cache line that the put side does not read.
  alignas(64) uint64_t last_number_ = kNoNumber;
  bool is_straight_ = false;
  uint64_t given_ = 0;  // Elements taken from the slots in order, without those that were given back.
};

std::unique_ptr<TakeOrder> first_in_first_out(Slots& slots, const Packing& packing);
/// Takes each element inside with the same probability; the choices are a function of `seed` and of the calls.
std::unique_ptr<TakeOrder> random_order(Slots& slots, const Packing& packing, uint64_t seed);
/// Takes the smallest value of component 0 first, equal ones in order of arrival. REQUIRES: it is an int64 scalar.
std::unique_ptr<TakeOrder> smallest_first(Slots& slots, const Packing& packing);

}  // namespace headpond::internal
