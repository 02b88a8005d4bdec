// SPDX-License-Identifier: Apache-2.0
// The dataset of batches whose elements lengths alone have chosen: its input is read in the order of the batches, so
// each element has its row before it is read, and a state has positions only.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "headpond/dataset/ops/bucket/bucket_plan_internal.h"
#include "headpond/dataset/ops/bucket/buckets_internal.h"

namespace headpond::internal {

/// What becomes of the elements of a batch.
struct PlannedStacks {
  std::shared_ptr<const BucketPlanner> planner;
  std::vector<RowStack> by_bucket;  ///< One is for all buckets.
  std::string too_long;             ///< The error of an element that is too long for any batch.
};

/// Throws Exception(InvalidArgument), naming `op`, unless the input has positions without holes, and an end.
Dataset planned_batches(const std::string& op, const std::string& args, const Dataset& input, PlannedStacks stacks);

}  // namespace headpond::internal
