// SPDX-License-Identifier: Apache-2.0
// Where a thread says which element an operator works on, for those who look at a thread that does not return.
// Not for users.
#pragma once

#include <atomic>
#include <cstdint>
#include <set>
#include <string>
#include <utility>

#include "headpond/dataset/node.h"

namespace headpond::internal {

/// The thread writes, others read; what they read is of one element only if the thread stays there.
struct ElementHere {
  std::atomic<const Node*> op = nullptr;  ///< Null: it is in none.
  std::atomic<uint64_t> key = 0;          ///< Of the element; of several, the first one's position.
  std::atomic<int64_t> last = -1;         ///< Of several: the last one's position; below 0: it is one.
  std::atomic<Provenance> provenance = Provenance();
};

/// "map(decode, version=0), train.tfrecord, record 17"; "map(twice, version=0), positions 150 to 159"; "": in no
/// operator, or in one that is not among `known`, which may be gone.
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

/// As long as it lives, the thread is in `op`, for one element, or for the positions `key` to `last`.
class AtElement {
 public:
  AtElement(const Node& op, uint64_t key, Provenance provenance, int64_t last = -1) : here_(element_here) {
    if (here_ == nullptr) return;
    before_ = here_->op.load(kRelaxed);
    if (before_ != nullptr) save();
    here_->op.store(&op, kRelaxed);
    set(key, provenance, last);
  }
  ~AtElement() {
    if (here_ == nullptr) return;
    here_->op.store(before_, kRelaxed);
    if (before_ != nullptr) set(key_, provenance_, last_);
  }
  AtElement(const AtElement&) = delete;
  AtElement& operator=(const AtElement&) = delete;

 private:
  static constexpr std::memory_order kRelaxed = std::memory_order_relaxed;
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
