// SPDX-License-Identifier: Apache-2.0
// What each operator of a stage costs: sampled, because asking a clock at every operator and element would cost more
// than many of them do.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "headpond/dataset/node.h"
#include "headpond/engine/executor/moving_average_internal.h"
#include "headpond/engine/loader_stats.h"

namespace headpond::internal {

/// The operators below `top` that have one input each and positions, down to the source. Each of them makes the
/// element, from the source on, twice. What an operator takes the first time, less what the one below takes the second
/// time, is its own: so it pays for what it reads or computes first, as when the row is made. One thread at a time.
class OperatorCosts {
 public:
  /// Binds nothing yet. `top` outlives this.
  OperatorCosts(const Node& top, const Binding& binding) : top_(top), binding_(binding) {}

  /// Measures the element at `position` of each operator, or at its last position. To be asked before the row is made:
  /// afterwards caches are warm.
  void sample(int64_t position, Context& context);
  /// In the order of the plan, in ns an element; empty before the first sample.
  std::vector<OperatorCost> costs() const;

 private:
  struct Operator {
    const Node* node;
    std::shared_ptr<const View> view;
    MovingAverage ns{0.1, 0.3};  // Near the low end: what a thread lost to others is not the operator's.
  };
  void begin();

  const Node& top_;
  const Binding binding_;
  std::vector<Operator> operators_;  // From the source on.
};

}  // namespace headpond::internal
