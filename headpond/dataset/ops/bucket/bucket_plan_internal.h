// SPDX-License-Identifier: Apache-2.0
// Which elements are a batch of those that go by lengths, and in which order they are read.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "headpond/base/mutex.h"
#include "headpond/dataset/node.h"
#include "headpond/dataset/ops/lengths.h"

namespace headpond::internal {

struct BucketLimits {
  int64_t max_padded = 0, max_elements = 0, buckets = 0, window = 0;
};

/// Batch after batch: positions of the input, and the number of elements of each batch. An element that is too long for
/// any batch has the count -1. Positions after those of all batches are not used.
struct BucketPlan {
  std::vector<int64_t> order;
  std::vector<int32_t> counts;
  std::vector<int32_t> buckets = {};  ///< The bucket of each batch; empty: it does not matter.
};

/// To whose elements lengths belong that are given for `node`: itself, or what is below it.
const Node& source_of_lengths(const Node& node);
/// Lengths from which on the next bucket begins: quantiles of `numbers`, ascending, fewer than `buckets`.
std::vector<int64_t> quantile_bounds(std::vector<int64_t> numbers, int64_t buckets);
/// Adds the batches of one window, `lengths` of the positions from `first` on. Elements go to the batch of their
/// bucket, which is given when the next one does not fit, and at the end of the window.
void plan_window(std::span<const int64_t> lengths, int64_t first, std::span<const int64_t> bounds,
                 const BucketLimits& limits, BucketPlan& plan);

/// Buckets with fixed bounds and numbers of elements.
struct BucketSizes {
  std::vector<int64_t> bounds;  ///< Bucket i has the lengths from bound i - 1 to below bound i.
  std::vector<int64_t> sizes;   ///< One more.
  bool drop_remainder = false;
  bool by_bucket = false;  ///< The plan says which bucket a batch is of, and an element of the last one is too long.
};

/// Chooses the batches of one epoch.
class BatchChooser {
 public:
  virtual ~BatchChooser() = default;
  /// Takes the lengths of the positions from `first` on, which follow those of the call before.
  virtual void add(std::span<const int64_t> lengths, int64_t first, BucketPlan& plan) = 0;
  /// All were taken.
  virtual void end(BucketPlan& plan) = 0;
};
std::unique_ptr<BatchChooser> choose_by_size(const BucketSizes& sizes);

/// Plans of the epochs of `input`. Thread-safe.
class BucketPlanner {
 public:
  /// Plans as dynamic_bucket does.
  BucketPlanner(Node::Ref input, Lengths lengths, const BucketLimits& limits);
  /// Plans as bucket_by_sequence_length does.
  BucketPlanner(Node::Ref input, Lengths lengths, const BucketSizes& sizes);
  /// The last plan is kept. May throw Exception, as dynamic_bucket() says.
  std::shared_ptr<const BucketPlan> plan(const Binding& binding) const;
  const Lengths& lengths() const { return lengths_; }

 private:
  BucketPlan make(const Binding& binding) const;
  void check() const;

  using NewChooser = std::function<std::unique_ptr<BatchChooser>(const std::vector<int64_t>& lengths)>;
  BucketPlanner(std::string op, Node::Ref input, Lengths lengths, int64_t window, NewChooser chooser);

  const std::string op_;
  const Node::Ref input_;
  const Node& source_;
  const Lengths lengths_;
  const int64_t window_;  // So many lengths are taken at once.
  const NewChooser chooser_;
  mutable Mutex mu_;
  mutable std::shared_ptr<const BucketPlan> last_ HEADPOND_GUARDED_BY(mu_);
  mutable Binding last_binding_ HEADPOND_GUARDED_BY(mu_);
};

}  // namespace headpond::internal
