// SPDX-License-Identifier: Apache-2.0
// Which elements are a batch of dynamic_bucket, and in which order they are read.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "headpond/base/mutex.h"
#include "headpond/dataset/node.h"
#include "headpond/dataset/ops/lengths.h"

namespace headpond::internal {

struct BucketLimits {
  int64_t max_padded = 0, max_elements = 0, buckets = 0, window = 0;
};

/// Batch after batch: positions of the input, and the number of elements of each batch. A batch whose only element is
/// longer than max_padded has the count -1.
struct BucketPlan {
  std::vector<int64_t> order;
  std::vector<int32_t> counts;
};

/// To whose elements lengths belong that are given for `node`: itself, or what is below it.
const Node& source_of_lengths(const Node& node);
/// Lengths from which on the next bucket begins: quantiles of `numbers`, ascending, fewer than `buckets`.
std::vector<int64_t> quantile_bounds(std::vector<int64_t> numbers, int64_t buckets);
/// Adds the batches of one window, `lengths` of the positions from `first` on. Elements go to the batch of their
/// bucket, which is given when the next one does not fit, and at the end of the window.
void plan_window(std::span<const int64_t> lengths, int64_t first, std::span<const int64_t> bounds,
                 const BucketLimits& limits, BucketPlan& plan);

/// Plans of the epochs of `input`. Thread-safe.
class BucketPlanner {
 public:
  BucketPlanner(Node::Ref input, Lengths lengths, const BucketLimits& limits);
  /// The last plan is kept. May throw Exception, as dynamic_bucket() says.
  std::shared_ptr<const BucketPlan> plan(const Binding& binding) const;
  const Lengths& lengths() const { return lengths_; }

 private:
  BucketPlan make(const Binding& binding) const;
  void check() const;

  const Node::Ref input_;
  const Node& source_;
  const Lengths lengths_;
  const BucketLimits limits_;
  mutable Mutex mu_;
  mutable std::shared_ptr<const BucketPlan> last_ HEADPOND_GUARDED_BY(mu_);
  mutable Binding last_binding_ HEADPOND_GUARDED_BY(mu_);
};

}  // namespace headpond::internal
