// SPDX-License-Identifier: Apache-2.0
// The format of a saved state: what it was taken from, and the position in it. Sequence and engine write the same
// bytes. Not for users.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "headpond/base/status.h"
#include "headpond/dataset/dataset.h"

namespace headpond::internal {

/// The point in a run before element `index` of `epoch`; `position` is the iterator's state, "" at the beginning.
struct RunState {
  uint64_t epoch = 0;
  int64_t index = 0;
  std::string position;
  /// Operators that run in order until this epoch ends, since its plan changed (migrate/in_order.h).
  std::vector<int64_t> in_order = {};
};

/// All that a state holds. `plan`: the first 4 KiB of the text.
struct SavedRun {
  uint64_t fingerprint = 0, seed = 0;
  RunState state;
  std::string plan;
};

/// Format: "hps" and the version of the format; then by StateVisitor: fingerprint, seed, epoch, index, position, the
/// plan's text up to 4 KiB, in version 2 also the numbers of in_order after their count, and the CRC-32C of all before
/// it. Version 1 is written if there are none.
std::string save(const RunState& state, const Dataset& dataset, uint64_t seed);
/// The same, of a dataset whose identity_of() is `plan`.
std::string save(const RunState& state, const std::string& plan, uint64_t seed);
/// DataLoss iff the state is damaged; FailedPrecondition iff it is of another version of the format.
Result<SavedRun> read_state(std::string_view saved);
/// The same, and FailedPrecondition, with the first difference, iff the state is of another plan.
Result<SavedRun> read_state(std::string_view saved, const Dataset& dataset);
/// The same for a run with this seed. The log says which functions it could not compare, once for each pipeline.
Result<RunState> restore(std::string_view saved, const Dataset& dataset, uint64_t seed);

/// The fingerprint of a plan, as a number: equal for equal plans, wherever their data lies.
uint64_t fingerprint_of(const Dataset& dataset);

/// The error of a position that `visitor` restored; no error if it is complete. Bytes left over come from a run
/// that is not deterministic: they list the elements that came early.
Error position_error(const StateVisitor& visitor);
/// The iterator's state.
std::string position_of(Iterator& iterator);
/// The fields' names; null iff none has one.
Element::Names names_of(const Spec& spec);

/// Opens inputs sequentially: one thread, nothing made ahead.
class SequentialFeed final : public Feed {
 public:
  std::unique_ptr<Iterator> open(const Node& input, const Binding& binding) override {
    return headpond::open(input, binding, *this);
  }
};

/// Counts consecutive holes of a pipeline without an end, which might never give another element. A stream has no end
/// iff no input of it has one; a source of elements that only have an order may have one.
class Holes {
 public:
  inline static std::atomic<int64_t> most = int64_t{1} << 22;  ///< Tests lower it.
  explicit Holes(const Node& node) : node_(node) {}
  /// Returns `got`, the answer for the next position; hole: an iterator leaves an element out. After too many holes a
  /// hole is an error, and counting starts again.
  Got count(Got got, Context& context);

 private:
  const Node& node_;
  int64_t count_ = 0;
};

/// The answer of next() after the last element: Error::is_end().
Error end_of_data(std::string_view who);
/// `error`, of an element; if it looks like end_of_data(), as the cause of one that does not.
Error not_the_end(const Error& error, std::string_view who);

/// The error of a run without an end after an epoch without an element: there might never be another one.
Error futile_epoch(const std::string& who, uint64_t epoch);

}  // namespace headpond::internal
