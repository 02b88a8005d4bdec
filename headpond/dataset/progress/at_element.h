// SPDX-License-Identifier: Apache-2.0
// Where a thread says which element an operator works on, for those who look at a thread that does not return.
// Not for users.
#pragma once

#include <atomic>
#include <cstdint>
#include <set>
#include <span>
#include <string>
#include <utility>

#include "headpond/dataset/node.h"

namespace headpond::internal {

/// The thread writes, others read; what they read is of one element only if the thread stays there.
struct ElementHere {
  std::atomic<const Node*> op = nullptr;  ///< Null: it is in none.
  std::atomic<uint64_t> key = 0;          ///< Of the element; of several, the first one's position.
  std::atomic<int64_t> last = -1;         ///< -1: it is one. Of several: see last_of().
  std::atomic<Provenance> provenance = Provenance();
};

/// The last position if they are consecutive, else -1 less their number. Looks only at the first, the middle and the
/// last one, as it is called for each batch: a shuffled list hardly ever passes for consecutive.
inline int64_t last_of(std::span<const int64_t> positions) {
  if (positions.empty()) return 0;
  const auto count = static_cast<int64_t>(positions.size());
  const int64_t first = positions.front(), last = positions.back(), middle = count / 2;
  const bool in_order = last - first == count - 1 && positions[static_cast<size_t>(middle)] == first + middle;
  return in_order ? last : -1 - count;
}

/// "map(decode, version=0), train.tfrecord, record 17"; "map(twice, version=0), positions 150 to 159"; "map(twice,
/// version=0), 10 positions that are not consecutive, the first is 17"; "": in no operator, or in one that is not among
/// `known`, which may be gone.
std::string to_string(const ElementHere& here, const std::set<const Node*>& known);

/// That of the calling thread. Null: nobody looks.
inline thread_local constinit ElementHere* element_here = nullptr;

/// As long as it lives, the thread says it there.
class ShownElement {
 public:
  explicit ShownElement(ElementHere& here) : before_(std::exchange(element_here, &here)) {}
  ~ShownElement() { element_here = before_; }
  ShownElement(const ShownElement&) = delete;
  ShownElement& operator=(const ShownElement&) = delete;

 private:
  ElementHere* const before_;
};

/// As long as it lives, the thread is in `op`, for one element or for several positions.
class AtElement {
 public:
  AtElement(const Node& op, uint64_t key, Provenance provenance) : AtElement(op, key, provenance, -1) {}
  AtElement(const Node& op, std::span<const int64_t> positions)
      : AtElement(op, positions.empty() ? 0 : static_cast<uint64_t>(positions.front()), {}, last_of(positions)) {}
  ~AtElement() {
    if (here_ == nullptr) return;
    here_->op.store(before_, kRelaxed);
    if (before_ != nullptr) set(key_, provenance_, last_);
  }
  AtElement(const AtElement&) = delete;
  AtElement& operator=(const AtElement&) = delete;

 private:
  static constexpr std::memory_order kRelaxed = std::memory_order_relaxed;
  AtElement(const Node& op, uint64_t key, Provenance provenance, int64_t last) : here_(element_here) {
    if (here_ == nullptr) return;
    before_ = here_->op.load(kRelaxed);
    if (before_ != nullptr) save();
    here_->op.store(&op, kRelaxed);
    set(key, provenance, last);
  }
  void set(uint64_t key, Provenance provenance, int64_t last) const {
    here_->key.store(key, kRelaxed);
    here_->provenance.store(provenance, kRelaxed);
    here_->last.store(last, kRelaxed);
  }
  void save() {
    key_ = here_->key.load(kRelaxed);
    provenance_ = here_->provenance.load(kRelaxed);
    last_ = here_->last.load(kRelaxed);
  }

  ElementHere* const here_;
  const Node* before_ = nullptr;
  uint64_t key_ = 0;  // These are of `before_`.
  Provenance provenance_ = {};
  int64_t last_ = -1;
};

}  // namespace headpond::internal
