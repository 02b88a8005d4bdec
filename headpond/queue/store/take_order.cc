// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <utility>

#include "headpond/base/random.h"
#include "headpond/queue/store/take_order_internal.h"

namespace headpond::internal {
namespace {

// Room for `size` in all, so that nothing in between can throw.
template <class T>
void make_room(std::vector<T>& all, size_t size) {
  if (size > all.capacity()) all.reserve(std::max(size, 2 * all.capacity()));
}

// next_run() of an order that knows none better than next().
void one_by_one(auto& order, size_t bytes, int64_t inside, int64_t count, std::byte* to) {
  for (; count > 0; --count, --inside, to += bytes) std::memcpy(to, order.next(inside), bytes);
}

class FirstInFirstOut final : public TakeOrder {
 public:
  FirstInFirstOut(Slots& slots, const Packing& packing) : TakeOrder(slots, packing), last_(bytes_) {
    is_straight_ = true;
  }

  void reserve(int64_t, int64_t count, int64_t taken) override {
    make_room(returned_, returned_.size() + static_cast<size_t>(count + taken) * bytes_);
  }

  void next_run(int64_t inside, int64_t count, std::byte* to) override {
    while (count > 0) {
      if (!is_straight_) [[unlikely]] {
        one_by_one(*this, bytes_, inside--, 1, to);
        --count;
        to += bytes_;
        continue;
      }
      const std::span<const std::byte> run = next_slots(count);
      if (slots_.stride() == bytes_) {
        std::memcpy(to, run.data(), run.size());
        to += run.size();
      } else {
        for (size_t at = 0; at < run.size(); at += slots_.stride(), to += bytes_) {
          std::memcpy(to, run.data() + at, bytes_);
        }
      }
      const auto size = static_cast<int64_t>(run.size() / slots_.stride());
      inside -= size;
      count -= size;
    }
  }

  void give_back(std::span<const std::byte> packed) override {
    for (size_t end = packed.size(); end > 0; end -= bytes_) {
      returned_.insert(returned_.end(), packed.begin() + static_cast<std::ptrdiff_t>(end - bytes_),
                       packed.begin() + static_cast<std::ptrdiff_t>(end));
    }
    given_ -= packed.size() / bytes_;
    is_straight_ = returned_.empty();
  }

 private:
  const std::byte* choose(int64_t) override {
    last_number_ = given_++;
    std::memcpy(last_.data(), returned_.data() + returned_.size() - bytes_, bytes_);
    returned_.resize(returned_.size() - bytes_);
    is_straight_ = returned_.empty();
    return last_.data();
  }
  int64_t clear_own() override { return clear(returned_); }

  std::vector<std::byte> returned_;  // The next one to give is the last.
  std::vector<std::byte> last_;
};

class RandomOrder final : public TakeOrder {
 public:
  RandomOrder(Slots& slots, const Packing& packing, uint64_t seed)
      : TakeOrder(slots, packing), random_(random_key(seed, "RandomShuffleQueue", 0, 0), 0), last_(bytes_) {}

  void reserve(int64_t inside, int64_t, int64_t taken) override {
    make_room(numbers_, static_cast<size_t>(inside + taken));
    make_room(pool_, static_cast<size_t>(inside + taken) * bytes_);
  }

  const std::byte* choose(int64_t inside) override {
    while (numbers_.size() < static_cast<size_t>(inside)) {
      const std::byte* const slot = slots_.read_slot(1);
      pool_.insert(pool_.end(), slot, slot + bytes_);
      slots_.advance_read();
      numbers_.push_back(arrived_++);
    }
    const size_t index = random_.below(numbers_.size());
    std::byte* const chosen = pool_.data() + index * bytes_;
    std::memcpy(last_.data(), chosen, bytes_);
    last_number_ = numbers_[index];
    // The last one moves into the hole.
    std::memmove(chosen, pool_.data() + pool_.size() - bytes_, bytes_);
    pool_.resize(pool_.size() - bytes_);
    numbers_[index] = numbers_.back();
    numbers_.pop_back();
    return last_.data();
  }

  void next_run(int64_t inside, int64_t count, std::byte* to) override { one_by_one(*this, bytes_, inside, count, to); }

  void give_back(std::span<const std::byte> packed) override {
    const size_t count = packed.size() / bytes_;
    pool_.insert(pool_.end(), packed.begin(), packed.end());
    numbers_.insert(numbers_.end(), count, kNoNumber);
  }

 private:
  int64_t clear_own() override { return clear(pool_); }

  Random random_;
  // All that were read from the slots and not taken: packed, and their numbers.
  std::vector<std::byte> pool_;
  std::vector<uint64_t> numbers_;
  std::vector<std::byte> last_;
  uint64_t arrived_ = 0;
};

// A heap of whole elements: one order for all components, and a total one, since no two arrived at once.
class SmallestFirst final : public TakeOrder {
 public:
  using TakeOrder::TakeOrder;

  void reserve(int64_t inside, int64_t, int64_t taken) override {
    const auto most = static_cast<size_t>(inside + taken);
    make_room(heap_, most);
    make_room(free_, most);
    make_room(pool_, most * bytes_);
  }

  const std::byte* choose(int64_t inside) override {
    while (heap_.size() < static_cast<size_t>(inside)) {
      const size_t slot = free_slot();
      std::memcpy(at(slot), slots_.read_slot(1), bytes_);
      slots_.advance_read();
      push(slot, arrived_++);
    }
    std::pop_heap(heap_.begin(), heap_.end(), comes_later);
    const Entry chosen = heap_.back();
    heap_.pop_back();
    free_.push_back(chosen.slot);
    last_number_ = chosen.arrival >= 0 ? static_cast<uint64_t>(chosen.arrival) : kNoNumber;
    return at(chosen.slot);
  }

  void next_run(int64_t inside, int64_t count, std::byte* to) override { one_by_one(*this, bytes_, inside, count, to); }

  void give_back(std::span<const std::byte> packed) override {
    const size_t count = packed.size() / bytes_;
    // They were first among their equals, and are again.
    returned_ -= static_cast<int64_t>(count);
    int64_t arrival = returned_;
    for (size_t i = 0; i < packed.size(); i += bytes_) {
      const size_t slot = free_slot();
      std::memcpy(at(slot), packed.data() + i, bytes_);
      push(slot, arrival++);
    }
  }

 private:
  struct Entry {
    int64_t priority;
    int64_t arrival;  // Counted from 0; below 0 for what came back.
    size_t slot;      // In the pool.
  };
  static bool comes_later(const Entry& a, const Entry& b) {
    return a.priority != b.priority ? a.priority > b.priority : a.arrival > b.arrival;
  }

  int64_t clear_own() override {
    for (const Entry& entry : heap_) packing_.destroy(at(entry.slot));
    return static_cast<int64_t>(heap_.size());
  }
  std::byte* at(size_t slot) { return pool_.data() + slot * bytes_; }
  size_t free_slot() {
    if (free_.empty()) {
      pool_.resize(pool_.size() + bytes_);
      return pool_.size() / bytes_ - 1;
    }
    const size_t slot = free_.back();
    free_.pop_back();
    return slot;
  }
  void push(size_t slot, int64_t arrival) {
    heap_.push_back({.priority = packing_.first_value(at(slot)), .arrival = arrival, .slot = slot});
    std::push_heap(heap_.begin(), heap_.end(), comes_later);
  }

  std::vector<Entry> heap_;
  std::vector<std::byte> pool_;  // Packed elements; freed slots are used again.
  std::vector<size_t> free_;
  int64_t arrived_ = 0;
  int64_t returned_ = 0;
};

}  // namespace

void TakeOrder::clear(int64_t inside) {
  if (packing_.is_plain()) return;
  for (int64_t left = inside - clear_own(); left > 0; --left) {
    packing_.destroy(slots_.read_slot(left));
    slots_.advance_read();
  }
}

int64_t TakeOrder::clear(std::span<const std::byte> packed) const {
  for (size_t i = 0; i < packed.size(); i += bytes_) packing_.destroy(packed.data() + i);
  return static_cast<int64_t>(packed.size() / bytes_);
}

std::unique_ptr<TakeOrder> first_in_first_out(Slots& slots, const Packing& packing) {
  return std::make_unique<FirstInFirstOut>(slots, packing);
}

std::unique_ptr<TakeOrder> smallest_first(Slots& slots, const Packing& packing) {
  return std::make_unique<SmallestFirst>(slots, packing);
}

std::unique_ptr<TakeOrder> random_order(Slots& slots, const Packing& packing, uint64_t seed) {
  return std::make_unique<RandomOrder>(slots, packing, seed);
}

}  // namespace headpond::internal
