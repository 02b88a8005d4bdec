// SPDX-License-Identifier: Apache-2.0
// The input of an operator that holds elements from one of its answers to the next: buckets, groups, windows, packing.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>

#include "headpond/dataset/node.h"

namespace headpond::internal {

/// Elements that an operator may hold. Its state has a few bytes for each, and is at most 64 KiB.
inline constexpr int64_t kMostHeld = 16'384;

/// True iff elements of `node` are found by their positions, so that each can be read again by itself.
bool is_read_by_position(const Node& node);

/// Reads elements, and remembers those that are not released yet. A state holds none of them: where the input has
/// positions, it lists theirs, and a restored run reads exactly those; else it has the input's state before the oldest
/// one, and a restored run reads from there on. Either way next() gives the held elements again, in their order, before
/// new ones: an operator that treats them as it did before is where it was. So it must do nothing but hold them while
/// it has only elements that it held.
class HeldInput {
 public:
  /// `input` and `feed` outlive this.
  HeldInput(const Node& input, const Binding& binding, Feed& feed);

  /// Like Iterator::next. value: the element is held under `ticket`, which is higher than those before it. The error of
  /// an element that cannot be read again comes again with each call.
  Got next(Context& context, Element& out, int64_t& ticket);
  /// REQUIRES: an element is held under `ticket`, and came since a restore.
  void release(int64_t ticket);
  /// Restoring refuses more than `most` held elements.
  void visit_state(StateVisitor& visitor, int64_t most = kMostHeld);

 private:
  // The input's state before a ticket: after so many answers. Only without positions.
  struct Before {
    int64_t ticket = -1;
    std::string state;
  };
  Got next_by_position(Context& context, Element& out, int64_t& ticket);
  Got next_in_order(Context& context, Element& out, int64_t& ticket);
  void visit_tickets(StateVisitor& visitor, int64_t first, int64_t end, int64_t most);
  int64_t position() const;

  const Node& node_;
  const Binding binding_;
  const bool by_position_;
  const std::unique_ptr<Iterator> input_;
  std::map<int64_t, Before> held_;  // By ticket: the position, or the number of the answer.
  int64_t again_ = -1;              // Held elements after this ticket are still to be read again; -1: all.
  int64_t again_until_ = -1;        // The last of them; -1: none.
  int64_t answers_ = 0;             // Elements and errors that the input gave. Without positions.
  int64_t known_until_ = 0;         // Answers before this one came before the restore.
  bool asked_ = false;              // The input gave pending or an error since before_.
  Before before_;                   // Where it was after its last element.
  Error lost_;                      // An element that was held cannot be read again.
};

}  // namespace headpond::internal
