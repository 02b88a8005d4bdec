// SPDX-License-Identifier: Apache-2.0
// The frame of a saved state: what it was taken from, and the place in it. Sequence and engine write the same bytes.
// Not for users.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "headpond/base/status.h"
#include "headpond/dataset/dataset.h"

namespace headpond::internal {

/// A place in a run: before element `index` of `epoch`; `position` is the iterator's state, "" at the begin.
struct RunState {
  uint64_t epoch = 0;
  int64_t index = 0;
  std::string position;
};

/// Format: "hps" and the version of the format, "1"; then by StateVisitor: fingerprint, seed, epoch, index, position,
/// the plan's text up to 4 KiB, and the CRC-32C of all before it.
std::string save(const RunState& state, const Dataset& dataset, uint64_t seed);
/// DataLoss iff damaged; FailedPrecondition iff it is of another plan, seed or version of the format, with the first
/// difference.
Result<RunState> restore(std::string_view saved, const Dataset& dataset, uint64_t seed);

/// What is wrong with a position that `visitor` restored; no error if it is complete. What is left over was written by
/// a run that is not deterministic: it lists what came early.
Error position_error(const StateVisitor& visitor);
/// What the iterator saves of where it stands.
std::string position_of(Iterator& iterator);
/// The fields' names; null iff none has one.
Element::Names names_of(const Spec& spec);

/// Opens inputs with their plain meaning: one thread, nothing ahead.
class SequentialFeed final : public Feed {
 public:
  std::unique_ptr<Iterator> open(const Node& input, const Binding& binding) override {
    return headpond::open(input, binding, *this);
  }
};

/// Counts places without an element, in a row, of a pipeline that has no end: there might be no other for ever.
class Holes {
 public:
  static constexpr int64_t kMost = int64_t{1} << 22;
  explicit Holes(const Node& node) : node_(node) {}
  /// What asking the next place gave. A hole is an error where they are too many; the one after it counts anew.
  Got count(Got got, Context& context);

 private:
  const Node& node_;
  int64_t count_ = 0;
};

/// What next() returns after the last element: Error::is_end().
Error end_of_data(std::string_view who);
/// `error`, of an element; if it looks like end_of_data(), as the cause of one that does not.
Error not_the_end(const Error& error, std::string_view who);

/// Of a run without an end that met an epoch without an element: there might be no other for ever.
Error futile_epoch(const std::string& who, uint64_t epoch);

}  // namespace headpond::internal
