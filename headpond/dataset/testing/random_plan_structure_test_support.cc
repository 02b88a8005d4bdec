// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "headpond/dataset/ops/structure/sharing.h"
#include "headpond/dataset/testing/random_plan_parts_test_internal.h"

namespace headpond::internal::random_plans {
namespace {

Dataset rounds(Random& random, const Dataset& input, const PlanChoice& choice) {
  if (input.node()->slots() > kMostSlots / 3) return input;
  if (one_in(random, 3) && (choice.errors || input.kind() == Kind::indexed)) {
    return input | repeat() | take(among(random, 0, 30));
  }
  return input | repeat(among(random, 0, 3));
}

// Limits that some of the plans exceed.
Dataset guarded(Random& random, const Dataset& input) {
  OnErrorOptions options{.policy = static_cast<OnErrorPolicy>(among(random, 0, 2)),
                         .max_errors = one_in(random, 2) ? among(random, 0, 20) : -1,
                         .max_error_share = one_in(random, 2) ? 0.4 : 1,
                         .window = among(random, 1, 12),
                         .give_up_after = among(random, 1, 12)};
  const bool is_number = is_single(input, DType::i64) && is_scalar(input);
  if (options.policy == OnErrorPolicy::substitute && !is_number) options.policy = OnErrorPolicy::skip;
  if (options.policy == OnErrorPolicy::substitute) options.substitute = Element{Tensor::scalar(int64_t{-7})};
  const Dataset all = input | on_error(options);
  return decides_in_order(*all.node()) && one_in(random, 2) ? all | as_stream() : all;
}

bool can_be_padded(const Dataset& input) {
  const Spec& spec = input.spec();
  return input.kind() == Kind::indexed && input.node()->slots() <= kMostSlots &&
         std::all_of(spec.begin(), spec.end(),
                     [](const FieldSpec& field) { return field.shape.is_full() && field.name != "valid"; });
}

Dataset selected(Random& random, const Dataset& input) {
  const int64_t slots = input.node()->slots();
  if (one_in(random, 6) && can_be_padded(input)) return input | pad_to_cardinality(slots + among(random, 0, 5));
  if (one_in(random, 4)) return input | ignore_errors();
  if (one_in(random, 3)) return guarded(random, input);
  if (one_in(random, 3)) return input | with_options({.threads = static_cast<int>(among(random, 0, 3))});
  if (input.kind() != Kind::indexed || slots == 0) return input | prefetch(among(random, -1, 5));
  if (one_in(random, 2)) return input | assert_cardinality(slots);
  if (decides_in_order(*input.node())) return input | as_stream();  // It can't be read by position.
  std::vector<int64_t> indices(random.below(9));
  for (int64_t& index : indices) index = among(random, 0, slots - 1);
  return input | select(indices);
}

Dataset mixed(Random& random, const Dataset& input) {
  const int64_t slots = input.node()->slots();
  if (slots > kMostSlots / 3) return input;
  const std::vector<Dataset> both = {input, input | skip(1)};
  switch (random.below(4)) {
    case 0:
      return sample_from_datasets(both, {1, 2}, {.stop_on_empty_dataset = one_in(random, 2)});
    case 1:
      return choose_from_datasets(
          both, counter(0, 1) | take(30) | map([](int64_t x) { return x * x % 3 % 2; }, named("choice", 0)),
          {.stop_on_empty_dataset = one_in(random, 2)});
    case 2:
      if (input.kind() == Kind::indexed && slots > 0 && !decides_in_order(*input.node())) {
        const std::vector<double> weights(static_cast<size_t>(slots), 1.5);
        const bool replacement = one_in(random, 2);
        return input | sample_weighted(weights, among(random, 0, slots), {.replacement = replacement});
      }
      return mix(both);
    default:
      return mix(both, std::vector<MixPhase>{{0, {3, 1}}, {among(random, 1, 9), {1, 2}}});
  }
}

}  // namespace

Dataset structure_step(Random& random, const Dataset& input, const PlanChoice& choice) {
  switch (random.below(8)) {
    case 6:
      return mixed(random, input);
    case 5:
      return selected(random, input);
    case 0:
      return input | take(among(random, -1, 20));
    case 1:
      return input | skip(among(random, 0, 5));
    case 2: {
      const int64_t shards = among(random, 1, 3);
      const Dataset share = input | shard(shards, among(random, 0, shards - 1));
      return shortage_below(*share.node()) ? input : share;  // A Loader refuses that.
    }
    case 3:
      return rounds(random, input, choice);
    case 4:
      if (input.node()->slots() > kMostSlots / 3) return input;
      return input | concatenate(input | take(among(random, 0, 5)));
    default:
      return zip({input, range(among(random, 0, 40))});
  }
}

}  // namespace headpond::internal::random_plans
