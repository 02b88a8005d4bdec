// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <functional>
#include <queue>
#include <utility>

#include "headpond/dataset/bases/interleave_order_internal.h"
#include "headpond/dataset/bases/joined_internal.h"
#include "headpond/dataset/node.h"

namespace headpond::internal {
namespace {

__extension__ using Wide = __int128;

// What changes at the begin of a round: datasets that give whole blocks, those that end in it, and what these give.
struct Change {
  int64_t round;
  int64_t whole;
  int64_t ending;
  int64_t rest;
};

}  // namespace

InterleaveOrder::InterleaveOrder(std::vector<int64_t> lengths, int64_t cycle, int64_t block)
    : lengths_(std::move(lengths)), block_(block) {
  for (const int64_t length : lengths_) size_ = sum_of_slots(size_, length);
  assign(cycle);
  sum_up();
}

int64_t InterleaveOrder::end_of(const Turns& turns) const {
  return sum_of_slots(turns.first, sum_of_slots(lengths_[turns.dataset] / block_, 1));
}

// Each dataset takes the slot that is first free: in the earliest round, there the first slot.
void InterleaveOrder::assign(int64_t cycle) {
  slots_.resize(std::min(static_cast<size_t>(cycle), lengths_.size()));
  using Free = std::pair<int64_t, size_t>;  // Round and slot.
  std::priority_queue<Free, std::vector<Free>, std::greater<>> free;
  for (size_t slot = 0; slot < slots_.size(); ++slot) free.emplace(0, slot);
  for (size_t k = 0; k < lengths_.size(); ++k) {
    const Free first = free.top();
    const auto [round, slot] = first;
    if (round == kEndless) break;
    slots_[slot].push_back({round, k});
    const Free next = {end_of(slots_[slot].back()), slot};
    free.pop();
    free.push(next);
  }
  all_until_ = free.empty() ? 0 : free.top().first;
}

void InterleaveOrder::sum_up() {
  std::vector<Change> changes;
  for (const auto& slot : slots_) {
    for (const Turns& turns : slot) {
      const int64_t end = end_of(turns), rest = lengths_[turns.dataset] % block_;
      changes.push_back({turns.first, 1, 0, 0});
      changes.push_back({end - 1, -1, 1, rest});
      changes.push_back({end, 0, -1, -rest});
    }
  }
  std::sort(changes.begin(), changes.end(), [](const Change& a, const Change& b) { return a.round < b.round; });
  Wide position = 0, rest = 0;
  int64_t whole = 0, ending = 0;
  for (size_t i = 0; i < changes.size() && position < kEndless;) {
    const int64_t round = changes[i].round;
    for (; i < changes.size() && changes[i].round == round; ++i) {
      whole += changes[i].whole;
      ending += changes[i].ending;
      rest += changes[i].rest;
    }
    const Wide elements = Wide{block_} * whole + rest;
    if (elements == 0) continue;
    const auto most = static_cast<int64_t>(std::min(elements, Wide{kEndless}));
    rounds_.push_back({round, static_cast<int64_t>(position), most, ending > 0});
    position += elements * (changes[i].round - round);
  }
}

const InterleaveOrder::Turns* InterleaveOrder::turns_in(size_t slot, int64_t round) const {
  const std::vector<Turns>& all = slots_[slot];
  const auto after =
      std::upper_bound(all.begin(), all.end(), round, [](int64_t r, const Turns& turns) { return r < turns.first; });
  if (after == all.begin() || round >= end_of(after[-1])) return nullptr;
  return &after[-1];
}

InterleaveOrder::Pick InterleaveOrder::at(int64_t i) const {
  const auto after = std::upper_bound(rounds_.begin(), rounds_.end(), i, [](int64_t position, const Rounds& rounds) {
    return position < rounds.position;
  });
  const Rounds& rounds = after[-1];
  const int64_t round = rounds.first + (i - rounds.position) / rounds.elements;
  int64_t left = (i - rounds.position) % rounds.elements;
  size_t slot = 0;
  if (!rounds.any_ends && round < all_until_) {
    slot = static_cast<size_t>(left / block_);
    left %= block_;
  }
  for (;; ++slot) {
    const Turns* const turns = turns_in(slot, round);
    if (turns == nullptr) continue;
    const bool is_last = round + 1 == end_of(*turns);
    const int64_t gives = is_last ? lengths_[turns->dataset] % block_ : block_;
    if (left < gives) return {turns->dataset, (round - turns->first) * block_ + left};
    left -= gives;
  }
}

}  // namespace headpond::internal
