// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <utility>

#include "headpond/base/random.h"
#include "headpond/queue/take_order_internal.h"

namespace headpond::internal {
namespace {

// Room for `size` in all, so that nothing in between can throw.
template <class T>
void make_room(std::vector<T>& all, size_t size) {
  if (size > all.capacity()) all.reserve(std::max(size, 2 * all.capacity()));
}

class FirstInFirstOut final : public TakeOrder {
 public:
  using TakeOrder::TakeOrder;

  const std::byte* next(int64_t inside) override {
    last_number_ = given_++;
    if (!returned_.empty()) [[unlikely]] {
      last_ = std::move(returned_.back());
      returned_.pop_back();
      return last_.data();
    }
    const std::byte* const place = slots_.read_place(inside);
    slots_.advance_read();
    return place;
  }

  void give_back(std::span<Element> elements) override {
    std::vector<std::vector<std::byte>> places(elements.size(), std::vector<std::byte>(bytes_));
    make_room(returned_, returned_.size() + elements.size());
    for (size_t i = elements.size(); i-- > 0;) {
      PackedElement::pack(std::move(elements[i]), places[i].data());
      returned_.push_back(std::move(places[i]));
    }
    given_ -= elements.size();
  }

 private:
  std::vector<std::vector<std::byte>> returned_;  // The next one to give is the last.
  std::vector<std::byte> last_;
  uint64_t given_ = 0;
};

class RandomOrder final : public TakeOrder {
 public:
  RandomOrder(Slots& slots, size_t components, uint64_t seed)
      : TakeOrder(slots, components), random_(random_key(seed, "RandomShuffleQueue", 0, 0), 0), last_(bytes_) {}

  const std::byte* next(int64_t inside) override {
    make_room(numbers_, static_cast<size_t>(inside));
    make_room(pool_, static_cast<size_t>(inside) * bytes_);
    while (numbers_.size() < static_cast<size_t>(inside)) {
      const std::byte* const place = slots_.read_place(1);
      pool_.insert(pool_.end(), place, place + bytes_);
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

  void give_back(std::span<Element> elements) override {
    make_room(numbers_, numbers_.size() + elements.size());
    make_room(pool_, pool_.size() + elements.size() * bytes_);
    for (Element& element : elements) {
      pool_.resize(pool_.size() + bytes_);
      PackedElement::pack(std::move(element), pool_.data() + pool_.size() - bytes_);
      numbers_.push_back(kNoNumber);
    }
  }

 private:
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

  const std::byte* next(int64_t inside) override {
    make_room_for(static_cast<size_t>(inside));
    while (heap_.size() < static_cast<size_t>(inside)) {
      const size_t place = free_place();
      std::memcpy(at(place), slots_.read_place(1), bytes_);
      slots_.advance_read();
      push(place, arrived_++);
    }
    std::pop_heap(heap_.begin(), heap_.end(), comes_later);
    const Entry chosen = heap_.back();
    heap_.pop_back();
    free_.push_back(chosen.place);
    last_number_ = chosen.arrival >= 0 ? static_cast<uint64_t>(chosen.arrival) : kNoNumber;
    return at(chosen.place);
  }

  void give_back(std::span<Element> elements) override {
    make_room_for(heap_.size() + elements.size());
    // They were first among their equals, and are again.
    returned_ -= static_cast<int64_t>(elements.size());
    int64_t arrival = returned_;
    for (Element& element : elements) {
      const size_t place = free_place();
      PackedElement::pack(std::move(element), at(place));
      push(place, arrival++);
    }
  }

 private:
  struct Entry {
    int64_t priority;
    int64_t arrival;  // Counted from 0; below 0 for what came back.
    size_t place;     // In the pool.
  };
  static bool comes_later(const Entry& a, const Entry& b) {
    return a.priority != b.priority ? a.priority > b.priority : a.arrival > b.arrival;
  }

  void make_room_for(size_t count) {
    make_room(heap_, count);
    make_room(free_, count);
    make_room(pool_, count * bytes_);
  }
  std::byte* at(size_t place) { return pool_.data() + place * bytes_; }
  size_t free_place() {
    if (free_.empty()) {
      pool_.resize(pool_.size() + bytes_);
      return pool_.size() / bytes_ - 1;
    }
    const size_t place = free_.back();
    free_.pop_back();
    return place;
  }
  void push(size_t place, int64_t arrival) {
    heap_.push_back({.priority = PackedElement::first_value(at(place)), .arrival = arrival, .place = place});
    std::push_heap(heap_.begin(), heap_.end(), comes_later);
  }

  std::vector<Entry> heap_;
  std::vector<std::byte> pool_;  // Packed elements; places are used again.
  std::vector<size_t> free_;
  int64_t arrived_ = 0;
  int64_t returned_ = 0;
};

}  // namespace

void TakeOrder::clear(int64_t inside) {
  for (; inside > 0; --inside) {
    Element element;
    PackedElement::unpack(next(inside), components_, element);
  }
}

std::unique_ptr<TakeOrder> first_in_first_out(Slots& slots, size_t components) {
  return std::make_unique<FirstInFirstOut>(slots, components);
}

std::unique_ptr<TakeOrder> smallest_first(Slots& slots, size_t components) {
  return std::make_unique<SmallestFirst>(slots, components);
}

std::unique_ptr<TakeOrder> random_order(Slots& slots, size_t components, uint64_t seed) {
  return std::make_unique<RandomOrder>(slots, components, seed);
}

}  // namespace headpond::internal
