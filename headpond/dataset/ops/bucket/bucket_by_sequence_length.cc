// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>

#include "headpond/dataset/ops/bucket/buckets_internal.h"
#include "headpond/dataset/ops/regroup.h"
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

// How many elements the buckets hold at most; the last one of each completes it.
int64_t check_sizes(const std::vector<int64_t>& boundaries, const std::vector<int64_t>& sizes) {
  if (sizes.size() != boundaries.size() + 1) {
    refuse(kOp, fmt::format("{} bucket_batch_sizes for {} bucket_boundaries: one more is needed", sizes.size(),
                            boundaries.size()));
  }
  int64_t held = 0;
  for (const int64_t size : sizes) {
    if (size < 1) refuse(kOp, fmt::format("a bucket_batch_size of {}: it must be at least 1", size));
    held = std::min(size - 1, internal::kMostHeld + 1) + held;
  }
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
  const bool one_size = std::all_of(sizes.begin(), sizes.end(), [&](int64_t size) { return size == sizes[0]; });
  Node::Facts facts{.op = kOp,
                    .args = fmt::format("{}, bucket_boundaries={}, bucket_batch_sizes={}{}, drop_remainder={}",
                                        length.label, fmt::join(boundaries, " "), fmt::join(sizes, " "),
                                        buckets.to_string(), options.drop_remainder),
                    .spec = buckets.spec(one_size && options.drop_remainder ? sizes[0] : kUnknown),
                    .inputs = {input.node()},
                    .holds = check_sizes(boundaries, sizes),
                    .opaque = length.opaque};
  return Dataset(std::make_shared<BucketBatch>(std::move(facts), length.function, std::move(buckets), sizes,
                                               options.drop_remainder));
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

}  // namespace headpond
