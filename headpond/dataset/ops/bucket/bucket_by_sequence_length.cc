// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>

#include "headpond/dataset/ops/bucket.h"
#include "headpond/dataset/ops/bucket/planned_batches_internal.h"
#include "headpond/dataset/ops/regroup/gathering_internal.h"

namespace headpond {
namespace {

using internal::Buckets, internal::Group, internal::IntegerFunction, internal::Member;

constexpr const char* kOp = "bucket_by_sequence_length";

class BucketBatch final : public internal::Gathering {
 public:
  BucketBatch(Facts facts, internal::Function length, Buckets buckets, std::vector<int64_t> sizes, bool drop_remainder)
      : Gathering(std::move(facts), drop_remainder),
        length_(std::move(length)),
        buckets_(std::move(buckets)),
        sizes_(std::move(sizes)) {}

  Result<Member> member(const Element& element) const override {
    const auto length = internal::call_integer(length_, element);
    if (!length) return fail(length.error());
    return buckets_.member(*length);
  }
  Error check(const Member& member, const Group& group, const Element& element) const override {
    return buckets_.check(member, group, element);
  }
  bool takes(const Member&, const Group&) const override { return true; }
  bool is_full(int64_t key, const Group& group) const override {
    return std::cmp_equal(group.elements.size(), sizes_[static_cast<size_t>(key)]);
  }
  void stack(int64_t key, std::span<const Element> rows, Context& context, Element& out) const override {
    buckets_.stack(key, rows, context, out);
  }

 private:
  const internal::Function length_;
  const Buckets buckets_;
  const std::vector<int64_t> sizes_;
};

void check_sizes(const std::vector<int64_t>& boundaries, const std::vector<int64_t>& sizes) {
  if (sizes.size() != boundaries.size() + 1) {
    refuse(kOp, fmt::format("{} bucket_batch_sizes for {} bucket_boundaries: one more is needed", sizes.size(),
                            boundaries.size()));
  }
  for (const int64_t size : sizes) {
    if (size < 1) refuse(kOp, fmt::format("a bucket_batch_size of {}: it must be at least 1", size));
  }
}

// How many elements the buckets hold at most; the last one of each completes it.
int64_t held_by(const std::vector<int64_t>& sizes) {
  int64_t held = 0;
  for (const int64_t size : sizes) held = std::min(size - 1, internal::kMostHeld + 1) + held;
  if (held > internal::kMostHeld) {
    refuse(kOp, fmt::format("bucket_batch_sizes {}: the buckets would hold more than {} elements, whose "
                            "positions are a part of each state",
                            fmt::join(sizes, " "), internal::kMostHeld));
  }
  return held;
}

Dataset bucketed(const Dataset& input, const IntegerFunction& length, const std::vector<int64_t>& boundaries,
                 const std::vector<int64_t>& sizes, const BucketOptions& options) {
  Buckets buckets(kOp, input.spec(), boundaries, options);
  check_sizes(boundaries, sizes);
  const bool one_size = std::all_of(sizes.begin(), sizes.end(), [&](int64_t size) { return size == sizes[0]; });
  Node::Facts facts{.op = kOp,
                    .args = fmt::format("{}, bucket_boundaries={}, bucket_batch_sizes={}{}, drop_remainder={}",
                                        length.label, fmt::join(boundaries, " "), fmt::join(sizes, " "),
                                        buckets.to_string(), options.drop_remainder),
                    .spec = buckets.spec(one_size && options.drop_remainder ? sizes[0] : kUnknown),
                    .inputs = {input.node()},
                    .holds = held_by(sizes),
                    .opaque = length.opaque};
  facts.is_of_library = true;
  return Dataset(std::make_shared<BucketBatch>(std::move(facts), length.function, std::move(buckets), sizes,
                                               options.drop_remainder));
}

Dataset bucketed_by_lengths(const Dataset& input, const Lengths& lengths, const std::vector<int64_t>& boundaries,
                            const std::vector<int64_t>& sizes, const BucketOptions& options) {
  if (!options.name.empty() || options.version != 0) refuse(kOp, "lengths have no function that has a name");
  const Buckets buckets(kOp, input.spec(), boundaries, options);
  check_sizes(boundaries, sizes);
  std::vector<internal::RowStack> stacks;
  for (size_t i = 0; i < (options.pad_to_bucket_boundary ? boundaries.size() : 1); ++i) {
    stacks.push_back(buckets.stack_of(static_cast<int64_t>(i)));
  }
  const auto planner = std::make_shared<const internal::BucketPlanner>(
      input.node(), lengths,
      internal::BucketSizes{.bounds = boundaries,
                            .sizes = sizes,
                            .drop_remainder = options.drop_remainder,
                            .by_bucket = options.pad_to_bucket_boundary});
  const std::string args = fmt::format(
      "bucket_boundaries={}, bucket_batch_sizes={}{}, drop_remainder={}", fmt::join(boundaries, " "),
      fmt::join(sizes, " "), options.pad_to_bucket_boundary ? ", pad_to_bucket_boundary" : "", options.drop_remainder);
  return internal::planned_batches(
      kOp, args, input,
      {.planner = planner,
       .by_bucket = std::move(stacks),
       .too_long = fmt::format("its length is {} or more, where pad_to_bucket_boundary pads to less",
                               boundaries.empty() ? 0 : boundaries.back())});
}

}  // namespace

namespace internal {

Step bucket_step(const Function& length, const std::vector<int64_t>& boundaries, const std::vector<int64_t>& sizes,
                 const BucketOptions& options) {
  check_integer(kOp, "length", length);
  return [=](const Dataset& input) {
    length.check(kOp, input.spec());
    return bucketed(input, {length, label_of(options.name, options.version), options.name.empty()}, boundaries, sizes,
                    options);
  };
}

}  // namespace internal

Step bucket_by_sequence_length(const std::string& field, const std::vector<int64_t>& bucket_boundaries,
                               const std::vector<int64_t>& bucket_batch_sizes, const BucketOptions& options) {
  return [=](const Dataset& input) {
    return bucketed(input, internal::length_of_field(kOp, input.spec(), field), bucket_boundaries, bucket_batch_sizes,
                    options);
  };
}

Step bucket_by_sequence_length(const Lengths& element_length, const std::vector<int64_t>& bucket_boundaries,
                               const std::vector<int64_t>& bucket_batch_sizes, const BucketOptions& options) {
  return [=](const Dataset& input) {
    return bucketed_by_lengths(input, element_length, bucket_boundaries, bucket_batch_sizes, options);
  };
}

}  // namespace headpond
