// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>

#include "headpond/dataset/ops/bucket.h"
#include "headpond/dataset/ops/bucket/buckets_internal.h"
#include "headpond/dataset/ops/regroup/gathering_internal.h"

namespace headpond {
namespace {

using internal::Buckets, internal::Group, internal::IntegerFunction, internal::Member;

constexpr const char* kBatchBySize = "batch_by_size";

// What a batch may be.
struct Limits {
  int64_t max_size, max_elements;
  bool sum_of_sizes;
  int64_t size(int64_t count, int64_t longest, int64_t total) const {
    int64_t padded = 0;
    if (sum_of_sizes) return total;
    return __builtin_mul_overflow(count, longest, &padded) ? kEndless : padded;
  }
};

class SizeBatch final : public internal::Gathering {
 public:
  SizeBatch(Facts facts, internal::Function size, Buckets buckets, const Limits& limits, bool drop_remainder)
      : Gathering(std::move(facts), drop_remainder),
        size_(std::move(size)),
        buckets_(std::move(buckets)),
        limits_(limits) {}

  Result<Member> member(const Element& element) const override {
    const auto size = internal::call_integer(size_, element);
    if (!size) return fail(size.error());
    if (*size <= limits_.max_size) return buckets_.member(*size);
    return fail(ErrorKind::InvalidArgument,
                fmt::format("a size of {}, where a batch has at most {}", *size, limits_.max_size));
  }
  Error check(const Member& member, const Group& group, const Element& element) const override {
    return buckets_.check(member, group, element);
  }
  bool takes(const Member& member, const Group& group) const override {
    const auto count = static_cast<int64_t>(group.elements.size()) + 1;
    return limits_.size(count, std::max(group.longest, member.size), group.total + member.size) <= limits_.max_size;
  }
  // Another element would be at least as large as the largest one, or as nothing.
  bool is_full(int64_t, const Group& group) const override {
    const auto count = static_cast<int64_t>(group.elements.size());
    if (count >= limits_.max_elements) return true;
    if (limits_.sum_of_sizes) return group.total >= limits_.max_size;
    return limits_.size(count + 1, group.longest, 0) > limits_.max_size;
  }
  void stack(int64_t key, std::span<const Element> rows, Context& context, Element& out) const override {
    buckets_.stack(key, rows, context, out);
  }

 private:
  const internal::Function size_;
  const Buckets buckets_;
  const Limits limits_;
};

Dataset sized(const Dataset& input, int64_t max_size, const IntegerFunction& size, const BatchBySizeOptions& options) {
  if (max_size < 1 || options.max_elements < 0) {
    refuse(kBatchBySize,
           fmt::format("max_size={}, max_elements={}: a batch has at least 1", max_size, options.max_elements));
  }
  Buckets buckets(kBatchBySize, input.spec(), options.bucket_boundaries,
                  {.padded_shapes = options.padded_shapes,
                   .padding_values = options.padding_values,
                   .no_padding = options.no_padding});
  const Limits limits{max_size, options.max_elements == 0 ? kEndless : options.max_elements, options.sum_of_sizes};
  std::string args = fmt::format("max_size={}, {}, sum_of_sizes={}", max_size, size.label, options.sum_of_sizes);
  if (options.max_elements > 0) args += fmt::format(", max_elements={}", options.max_elements);
  if (!options.bucket_boundaries.empty()) {
    args += fmt::format(", bucket_boundaries={}", fmt::join(options.bucket_boundaries, " "));
  }
  Node::Facts facts{.op = kBatchBySize,
                    .args = args + buckets.to_string() + fmt::format(", drop_remainder={}", options.drop_remainder),
                    .spec = buckets.spec(kUnknown),
                    .inputs = {input.node()},
                    .holds = internal::kMostHeld,
                    .opaque = size.opaque};
  facts.is_of_library = true;
  return Dataset(
      std::make_shared<SizeBatch>(std::move(facts), size.function, std::move(buckets), limits, options.drop_remainder));
}

}  // namespace

Step internal::batch_by_size_step(int64_t max_size, const Function& size, const BatchBySizeOptions& options) {
  check_integer(kBatchBySize, "size", size);
  return [=](const Dataset& input) {
    size.check(kBatchBySize, input.spec());
    return sized(input, max_size, {size, label_of(options.name, options.version), options.name.empty()}, options);
  };
}

Step batch_by_size(int64_t max_size, const std::string& field, const BatchBySizeOptions& options) {
  return [=](const Dataset& input) {
    return sized(input, max_size, internal::length_of_field(kBatchBySize, input.spec(), field), options);
  };
}

}  // namespace headpond
