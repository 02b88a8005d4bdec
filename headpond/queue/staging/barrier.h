// SPDX-License-Identifier: Apache-2.0
// Assembles tuples by key: their components come from different producers, at different times.
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
  /// For each tuple, the number of the call that first inserted its key. Calls that insert new keys are numbered from
  /// INT64_MIN. The numbers rise.
  std::vector<int64_t> indices;
  std::vector<std::string> keys;
  Element values;  ///< The components, stacked along a new first dimension.
};

namespace internal {
class BarrierState;
}

/// A handle to a barrier: copies refer to the same one, and const handles allow the same calls. Thread-safe. A key is
/// incomplete from its first component to its last, then ready until its tuple is taken; a ready key may be inserted
/// anew. Takes are served in order of arrival: one for many tuples holds up later ones. When the last handle is
/// destroyed, the barrier is closed with cancel.
///
/// Errors; each names the barrier, and a call that fails changes nothing:
/// - InvalidArgument: wrong arguments. Returned at once.
/// - Cancelled: an insert after the close; or a take whose Wait::stop is requested.
/// - OutOfRange: a take after the close that can never be served.
/// - DeadlineExceeded: Wait::timeout passed.
/// - FailedPrecondition: the barrier was made before a fork(), and this is the child. There, make no other calls
///   either.
class Barrier {
 public:
  using BarrierBatch = headpond::BarrierBatch;

  /// Throws Exception(InvalidArgument) for options that contradict themselves or, with a shared name, the barrier's.
  explicit Barrier(BarrierOptions options);
  /// TensorFlow's spelling: also throws for a capacity other than kUnbounded and for a memory limit, since inserts
  /// never wait. Ignores `watchdog` and `fill_patience`.
  template <std::same_as<QueueOptions> Options = QueueOptions>  // A braced list of either's members: the above.
  explicit Barrier(const Options& options) : Barrier(checked(options)) {}

  /// Inserts one component of several keys: row i of `values` belongs to keys[i]. Never waits. InvalidArgument if a key
  /// has this component already, also from an earlier row of this call.
  Result<void> insert_many(int64_t component, const std::vector<std::string>& keys, const Tensor& values) const;
  /// Takes the `n` ready tuples whose keys came first; waits until `n` are ready. After the close it returns OutOfRange
  /// if there can never be `n`, counting incomplete keys that may still be completed. With `allow_small_batch` a take
  /// after the close, or one that waits then, returns the 1 to n tuples that are ready; if none is, OutOfRange, even
  /// though incomplete keys may be completed later.
  Result<BarrierBatch> take_many(int64_t n, bool allow_small_batch = false, Wait wait = {}) const;
  /// false: refuses new keys; incomplete ones may still be completed. Cancelled iff the barrier was closed already.
  /// true: refuses all inserts and drops incomplete keys; never an error. Ready tuples stay.
  Result<void> close(bool cancel_pending_enqueues = false) const;

  int64_t ready_size() const;       ///< Complete keys.
  int64_t incomplete_size() const;  ///< Keys that lack components.
  int64_t waiting_takes() const;    ///< Calls that wait now.
  const std::string& name() const;

 private:
  static BarrierOptions checked(const QueueOptions& options);

  std::shared_ptr<internal::BarrierState> state_;
};

}  // namespace headpond
