// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <cmath>
#include <utility>

#include "headpond/dataset/ops/bucket.h"
#include "headpond/dataset/ops/bucket/planned_batches_internal.h"

namespace headpond {
namespace {

using internal::BucketLimits, internal::BucketPlanner, internal::RowStack;

constexpr const char* kDynamicBucket = "dynamic_bucket";
constexpr double kMostPadded = 9e15;

int64_t padded_of(const DynamicBucketOptions& options) {
  const bool by_seconds = options.max_padded_seconds != 0 || options.rate != 0;
  if (by_seconds == (options.max_padded != 0))
    refuse(kDynamicBucket, "max_padded, or max_padded_seconds and rate, is needed");
  if (!by_seconds && options.max_padded > 0) return options.max_padded;
  const double padded = options.max_padded_seconds * static_cast<double>(options.rate);
  const bool is_good = options.max_padded_seconds > 0 && options.rate > 0 && padded >= 1 && padded <= kMostPadded;
  if (!is_good)
    refuse(kDynamicBucket, "max_padded, or max_padded_seconds times rate, must be at least 1 and below 9e15");
  return static_cast<int64_t>(std::floor(padded));
}

BucketLimits limits_of(const DynamicBucketOptions& options) {
  if (options.max_elements < 0) refuse(kDynamicBucket, "max_elements must be at least 0");
  if (options.buckets < 1 || options.buckets > 10'000) refuse(kDynamicBucket, "buckets must be 1 to 10000");
  if (options.window < 1) refuse(kDynamicBucket, "window must be at least 1");
  return {.max_padded = padded_of(options),
          .max_elements = options.max_elements,
          .buckets = options.buckets,
          .window = options.window};
}

}  // namespace

Step dynamic_bucket(const Lengths& lengths, const DynamicBucketOptions& options) {
  const BucketLimits limits = limits_of(options);
  return [=](const Dataset& input) {
    RowStack stack = RowStack::padded(kDynamicBucket, input.spec(), options.padded_shapes, options.padding_values);
    const std::string args = fmt::format("max_padded={}, max_elements={}, buckets={}, window={}", limits.max_padded,
                                         limits.max_elements, limits.buckets, limits.window);
    return internal::planned_batches(kDynamicBucket, args, input,
                                     {.planner = std::make_shared<const BucketPlanner>(input.node(), lengths, limits),
                                      .by_bucket = {std::move(stack)},
                                      .too_long = "the element alone is longer than a batch may be"});
  };
}

}  // namespace headpond
