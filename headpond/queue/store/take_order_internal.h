// SPDX-License-Identifier: Apache-2.0
// In which order a queue gives its elements: what makes its type.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "headpond/queue/store/packing_internal.h"
#include "headpond/queue/store/slots_internal.h"

namespace headpond::internal {

/// Reads the slots in its own order. All calls are made under the take side's lock.
class TakeOrder {
 public:
  TakeOrder(Slots& slots, const Packing& packing) : slots_(slots), packing_(packing), bytes_(packing.bytes()) {}
  virtual ~TakeOrder() = default;

  /// Makes next() of `count` elements, of `inside` ones, and give_back() of those and of the `taken` ones before them
  /// calls that cannot fail. Throws std::bad_alloc.
  virtual void reserve(int64_t inside, int64_t count, int64_t taken) = 0;
  /// Takes one element out; the packed form lives until the next call. `inside`: for an order that chooses, how many
  /// there are; for another, at least how many. REQUIRES: at least one, reserved.
  const std::byte* next(int64_t inside) {
    if (!is_straight_) return choose(inside);
    last_number_ = given_++;
    const std::byte* const place = slots_.read_place(inside);
    slots_.advance_read();
    return place;
  }
  /// Takes `count` elements out, as next() does one by one, and lays them side by side.
  virtual void next_run(int64_t inside, int64_t count, std::byte* to) = 0;
  /// The next elements are those that lie next in the slots.
  bool is_straight() const { return is_straight_; }
  /// Takes the next ones where they lie, stride() apart, at most `most` of those known to be inside; they live until
  /// the put side hears of it. REQUIRES: is_straight().
  std::span<const std::byte> next_places(int64_t most) {
    const std::span<const std::byte> run = slots_.read_run(most);
    const size_t size = run.size() / slots_.stride();
    slots_.advance_read(static_cast<int64_t>(size));
    given_ += size;
    last_number_ = given_ - 1;
    return run;
  }
  /// Takes back what was given last, packed side by side, in the order in which it was given. REQUIRES: reserved.
  virtual void give_back(std::span<const std::byte> packed) = 0;
  /// The number, counted from 0 in order of arrival, of what next() gave last; kNoNumber where an order that
  /// mixes gave it again after it had come back.
  uint64_t last_number() const { return last_number_; }
  static constexpr uint64_t kNoNumber = UINT64_MAX;

  /// Destroys all `inside` elements; allocates nothing.
  void clear(int64_t inside);

 protected:
  /// next() where is_straight_ is false.
  virtual const std::byte* choose(int64_t inside) = 0;
  /// Destroys what is not in the slots any more; says how many.
  virtual int64_t clear_held() = 0;
  int64_t clear(std::span<const std::byte> packed) const;

  Slots& slots_;
  const Packing& packing_;
  const size_t bytes_;  // Of one packed element.
  // Written at every take: beside nothing that the put side reads.
  alignas(64) uint64_t last_number_ = kNoNumber;
  bool is_straight_ = false;
  uint64_t given_ = 0;  // Of the slots in order, less those that came back.
};

std::unique_ptr<TakeOrder> first_in_first_out(Slots& slots, const Packing& packing);
/// Each of those inside is as likely as any other; the choices are a function of `seed` and the calls.
std::unique_ptr<TakeOrder> random_order(Slots& slots, const Packing& packing, uint64_t seed);
/// The smallest value of component 0 first, those of equal value in order of arrival. REQUIRES: it is an int64 scalar.
std::unique_ptr<TakeOrder> smallest_first(Slots& slots, const Packing& packing);

}  // namespace headpond::internal
