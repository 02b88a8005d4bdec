// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "headpond/dataset/ops/bucket/bucket_plan_internal.h"
#include "headpond/dataset/testing/random_plan_parts_test_internal.h"

namespace headpond::internal::random_plans {
namespace {

bool is_number(const Spec& spec) {
  return spec.size() == 1 && spec[0].dtype == DType::i64 && spec[0].shape.rank() == 0;
}
bool is_full(const Spec& spec) {
  return std::all_of(spec.begin(), spec.end(), [](const FieldSpec& field) { return field.shape.is_full(); });
}
// Every element is a batch whose fields have the same number of rows.
bool has_rows(const Spec& spec) {
  for (const FieldSpec& field : spec) {
    if (field.shape.rank() == 0) return false;
    if (spec.size() > 1 && (field.shape[0] == kUnknown || field.shape[0] != spec[0].shape[0])) return false;
  }
  return true;
}

Dataset rows_step(Random& random, const Dataset& input, const PlanChoice& choice) {
  const Spec& spec = input.spec();
  const bool fit = choice.errors || std::all_of(spec.begin(), spec.end(), [](const FieldSpec& field) {
                     return field.shape.rank() > 0 && field.shape.row().is_full();
                   });
  if (!has_rows(spec)) return input;
  if (!fit || one_in(random, 2))
    return input.kind() == Kind::stream || input.node()->slots() <= kMostSlots / 3 ? input | unbatch() : input;
  std::vector<int64_t> sizes(1 + random.below(3));
  for (int64_t& size : sizes) size = among(random, 1, 5);
  return input | rebatch(sizes, {.drop_remainder = one_in(random, 2)});
}

Dataset window_step(Random& random, const Dataset& input, const PlanChoice& choice) {
  const int64_t size = among(random, 1, 4);
  WindowOptions options{.stride = among(random, 1, 3), .drop_remainder = one_in(random, 2)};
  if (one_in(random, 2)) options.shift = among(random, 1, 5);
  if (is_full(input.spec()) || choice.errors) {
    if (one_in(random, 2)) return input | window(size, options);
    if (input.kind() == Kind::stream || input.node()->slots() > kMostSlots / 3) return input;
    return input | window(size, one_in(random, 2) ? shuffle() : skip(1), options);
  }
  return input | window(size, padded_batch(2), options);
}

Dataset bucket_step(Random& random, const Dataset& input, const PlanChoice& choice) {
  const Spec& spec = input.spec();
  BucketOptions options{.drop_remainder = one_in(random, 2), .name = "seventh"};
  const std::vector<int64_t> boundaries = {2, 4},
                             sizes = {among(random, 1, 4), among(random, 1, 3), among(random, 1, 9)};
  if (is_number(spec)) {
    if (is_full(spec)) options.no_padding = one_in(random, 2);
    return input | bucket_by_sequence_length([](int64_t x) { return x < 0 ? 0 : x % 7; }, boundaries, sizes, options);
  }
  if (spec.size() != 1 || spec[0].shape.rank() == 0) return input;
  options.pad_to_bucket_boundary = choice.errors && one_in(random, 3);
  if (spec[0].dtype == DType::bytes) options.padding_values[spec[0].name.empty() ? "0" : spec[0].name] = "<pad>";
  return input | bucket_by_sequence_length("", boundaries, sizes, options);
}

Dataset size_step(Random& random, const Dataset& input, const PlanChoice& choice) {
  const int64_t most = among(random, 6, 12), divisor = choice.errors ? most + 2 : 5;
  BatchBySizeOptions options{.sum_of_sizes = one_in(random, 2),
                             .max_elements = among(random, 0, 4),
                             .drop_remainder = one_in(random, 2),
                             .name = "size",
                             .version = static_cast<int>(divisor)};
  if (one_in(random, 2)) options.bucket_boundaries = {3, 5};
  if (!is_number(input.spec())) return input;
  return input | batch_by_size(
                     most, [divisor](int64_t x) { return x < 0 ? 1 : x % divisor; }, options);
}

Dataset lengths_step(Random& random, const Dataset& input) {
  const DynamicBucketOptions options{.max_padded = among(random, 4, 12),
                                     .max_elements = among(random, 0, 4),
                                     .buckets = among(random, 1, 4),
                                     .window = among(random, 1, 20)};
  if (input.kind() != Kind::indexed || decides_in_order(*input.node())) return input;
  const int64_t slots = source_of_lengths(*input.node()).slots();
  if (slots > 1'000 || input.node()->slots() > kMostSlots / 3) return input;
  std::vector<int64_t> numbers;
  for (int64_t i = 0; i < slots; ++i) numbers.push_back(i * 3 % 5);
  return input | dynamic_bucket(Lengths(numbers), options);
}

Dataset group_step(Random& random, const Dataset& input, const PlanChoice& choice) {
  if (!is_number(input.spec())) return input;
  const int64_t kind = among(random, 0, 2);
  const auto reduce = [kind](int64_t key, const Dataset& window) {
    if (kind == 0) return window | batch(2);
    return kind == 1 ? window | shuffle() : window | take(key + 1);
  };
  const bool fails = choice.errors && one_in(random, 3);
  const auto key = [fails](int64_t x) -> Result<int64_t> {
    if (fails && x % 5 == 2) return fail(ErrorKind::DataLoss, "no key");
    return x % 3;
  };
  GroupByWindowOptions options{
      .max_held = among(random, 1, 12), .name = "third", .version = static_cast<int>(kind * 2 + (fails ? 1 : 0))};
  if (one_in(random, 2)) {
    options.window_size = among(random, 1, 5);
  } else {
    options.window_size_func = [](int64_t x) { return x + 3; };
  }
  return input | group_by_window(key, reduce, options);
}

// A row shape that all elements fit, unless errors are welcome.
Dataset sparse_step(Random& random, const Dataset& input, const PlanChoice& choice) {
  if (input.spec().size() != 1) return input;
  std::vector<int64_t> dims;
  for (const int64_t dim : input.spec()[0].shape.dims()) {
    const bool is_open = !choice.errors && (dim == kUnknown || one_in(random, 2));
    dims.push_back(is_open ? kUnknown : std::max(dim, int64_t{0}) + among(random, 0, 3));
  }
  return input | sparse_batch(among(random, 1, 5), Shape(dims));
}

Dataset pack_step(Random& random, const Dataset& input, const PlanChoice& choice) {
  const Spec& spec = input.spec();
  const bool fit = std::all_of(spec.begin(), spec.end(), [](const FieldSpec& field) {
    return field.shape.rank() > 0 && field.dtype != DType::bytes && field.shape.row().is_full();
  });
  PackOptions options{.fit = one_in(random, 2) ? PackFit::first_fit : PackFit::best_fit,
                      .num_packing_bins = among(random, 1, 3),
                      .max_sequences_per_bin = among(random, 0, 3)};
  const bool is_packed = std::any_of(spec.begin(), spec.end(), [](const FieldSpec& field) {
    return field.name.find("segment_ids") != std::string::npos;
  });
  const int64_t length = among(random, 5, 9);
  if (fit && choice.errors && !is_packed) return input | pack(length, options);
  if (!is_number(spec)) return input;
  const auto sequence = [](int64_t x) {
    const std::vector<int64_t> values(static_cast<size_t>(x < 0 ? 5 : 1 + x % 5), x);
    return Tensor::from(values, {static_cast<int64_t>(values.size())});
  };
  return input | map(sequence, {.output = {{"tokens", DType::i64, {kUnknown}}}, .name = "tokens"}) |
         pack(length, options);
}

}  // namespace

Dataset regroup_step(Random& random, const Dataset& input, const PlanChoice& choice) {
  switch (random.below(10)) {
    case 7:
      return sparse_step(random, input, choice);
    case 0:
      return window_step(random, input, choice);
    case 1:
      return bucket_step(random, input, choice);
    case 2:
      return size_step(random, input, choice);
    case 3:
      return group_step(random, input, choice);
    case 4:
      return pack_step(random, input, choice);
    case 5:
      return input.spec().size() == 1 ? input | ragged_batch(among(random, 1, 5), {.drop_remainder = one_in(random, 2)})
                                      : input;
    case 6:
      return lengths_step(random, input);
    default:
      return rows_step(random, input, choice);
  }
}

}  // namespace headpond::internal::random_plans
