// SPDX-License-Identifier: Apache-2.0
// The input of an iterator that holds some elements, such as the last few, and must not write them into its state. For
// authors of operators.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <string>

#include "headpond/dataset/node.h"

namespace headpond {

/// An input that has only an order. A state holds no elements: it has the state that the input had at a multiple of 256
/// elements, before the oldest one that is needed. A restored run reads on from there, so it reads again at most 255
/// elements more than those it holds. One thread at a time.
class RereadInput {
 public:
  /// `most_held`: at least the number of elements from the oldest that is needed to the newest.
  RereadInput(std::unique_ptr<Iterator> input, int64_t most_held) : input_(std::move(input)), most_held_(most_held) {}

  /// Answers like Iterator::next; or hole: an error that was delivered before the state was saved; ask again.
  Got next(Context& context, Element& out);
  /// Elements read so far, since the beginning of the epoch: the number of the next one.
  int64_t read() const { return read_; }
  /// True until all is read again that was read when the state was saved.
  bool is_rereading() const { return read_ < reread_to_ || errors_ < reread_errors_to_; }
  /// Says that no element before number `first` will be needed again.
  void release_before(int64_t first);
  /// After restoring, read() is the number of the first element that is read again.
  void visit_state(StateVisitor& visitor);

 private:
  struct Snapshot {
    int64_t at = 0;      // Elements read before it.
    int64_t errors = 0;  // Errors read before it, since the snapshot that this was restored from.
    std::string state;
  };
  void take_snapshot();

  const std::unique_ptr<Iterator> input_;
  const int64_t most_held_;
  int64_t read_ = 0, errors_ = 0;
  int64_t reread_to_ = 0, reread_errors_to_ = 0;
  int64_t needed_ = 0;  // The oldest element that may still be needed.
  std::deque<Snapshot> snapshots_;
};

}  // namespace headpond
