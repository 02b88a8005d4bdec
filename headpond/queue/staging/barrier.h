// SPDX-License-Identifier: Apache-2.0
// Puts tuples together whose components come from different producers, at different times, under a common key.
#pragma once

#include <concepts>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "headpond/queue/queue.h"

namespace headpond {

struct BarrierOptions {
  std::vector<DType> dtypes;            ///< One per component; at least one.
  std::vector<Shape> shapes;            ///< One per component, each known and with at least one value.
  std::vector<std::string> names = {};  ///< None, or one per component; then batches are named.
  std::string name = "";                ///< For texts; "": the shared name, else "barrier", numbered.
  std::string shared_name = "";         ///< Barriers of one shared name are one barrier; all but the name must agree.
};

struct BarrierBatch {
  /// Of each tuple, which call first inserted its key: INT64_MIN for the first call that brought new keys, then one
  /// more for each. Rising.
  std::vector<int64_t> indices;
  std::vector<std::string> keys;
  Element values;  ///< The components, each stacked along a new first dimension.
};

namespace internal {
class BarrierState;
}

/// A handle: copies are the same barrier, and a const one serves as well. Thread-safe. A key is incomplete from its
/// first component to its last, then ready until it is taken; a ready key may begin anew. Takes are served in order of
/// arrival, as a queue's: one for many holds up those behind it. When the last handle goes, it is closed with cancel.
///
/// Errors, with the barrier's name in the text: InvalidArgument for wrong arguments, at once; Cancelled for an insert
/// after the close, and a take that Wait::stop ended or preceded; OutOfRange for a take after the close that can never
/// be served; DeadlineExceeded after Wait::timeout. A call that fails changes nothing.
class Barrier {
 public:
  using BarrierBatch = headpond::BarrierBatch;

  /// Throws Exception(InvalidArgument) for options that contradict themselves or, with a shared name, the barrier's.
  explicit Barrier(BarrierOptions options);
  /// As TensorFlow spells it: also throws for a capacity other than kUnbounded and for a memory limit, since inserts
  /// never wait. Ignores `watchdog` and `fill_patience`.
  template <std::same_as<QueueOptions> Options = QueueOptions>  // A braced list of either's members: the above.
  explicit Barrier(const Options& options) : Barrier(checked(options)) {}

  /// One component of several keys: row i of `values` belongs to keys[i]. Never waits. InvalidArgument for a key that
  /// has the component already, be it from this very call.
  Result<void> insert_many(int64_t component, const std::vector<std::string>& keys, const Tensor& values) const;
  /// The `n` ready tuples whose keys came first; waits until so many are ready. Once closed: OutOfRange unless the
  /// incomplete keys, which may still be completed, can make up for what is missing. `allow_small_batch`: once closed,
  /// also one that waits then, it takes the 1 to n that are ready, else it is OutOfRange, though incomplete keys may
  /// come to be taken later.
  Result<BarrierBatch> take_many(int64_t n, bool allow_small_batch = false, Wait wait = {}) const;
  /// false: no new keys, incomplete ones may be completed; Cancelled iff closed already. true: nothing comes in any
  /// more, and incomplete keys are dropped; never an error. Ready ones stay.
  Result<void> close(bool cancel_pending_enqueues = false) const;

  int64_t ready_size() const;       ///< Complete keys.
  int64_t incomplete_size() const;  ///< Keys of which components are yet to come.
  int64_t waiting_takes() const;    ///< Calls that wait at this moment.
  const std::string& name() const;

 private:
  static BarrierOptions checked(const QueueOptions& options);

  std::shared_ptr<internal::BarrierState> state_;
};

}  // namespace headpond
