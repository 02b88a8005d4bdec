// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <atomic>

#include "headpond/dataset/ops/structure/sharing.h"
#include "headpond/dataset/testing/random_plan_parts_test_internal.h"
#include "tests/test_files.h"

namespace headpond::internal::random_plans {
namespace {

// Of the only field.
std::string name_or_number(const Dataset& input) { return input.spec()[0].name.empty() ? "0" : input.spec()[0].name; }

// Rows of different shapes fit only where they are padded.
Dataset batch_step(Random& random, const Dataset& input, const PlanChoice& choice) {
  const int64_t size = among(random, 1, 5);
  const bool drop_remainder = one_in(random, 2);
  bool fits = true;
  for (const FieldSpec& field : input.spec()) fits = fits && field.shape.is_full();
  const bool pads = choice.errors ? one_in(random, 3) : !fits || one_in(random, 4);
  if (!pads) return input | batch(size, {.drop_remainder = drop_remainder});
  PaddedBatchOptions options{.drop_remainder = drop_remainder};
  if (choice.errors && is_single(input, DType::i64) && input.spec()[0].shape.rank() == 1) {
    options.padded_shapes["0"] = {3};
  }
  if (is_single(input, DType::bytes) && one_in(random, 2)) options.padding_values[name_or_number(input)] = "<pad>";
  return input | padded_batch(size, options);
}

// A number below 0 is an error as a cost.
Dataset not_below_0(const Dataset& input, const PlanChoice& choice) {
  return choice.errors ? input : input | map([](int64_t x) { return x < 0 ? ~x : x; }, named("cost", 0));
}

// For one field of whatever rows.
Dataset share_step(Random& random, const Dataset& input, const PlanChoice& choice) {
  if (input.spec().size() != 1 || input.spec()[0].shape.rank() == 0) return input;
  const int64_t world_size = among(random, 1, 3);
  DistributeOptions options{.uneven = static_cast<UnevenBatch>(among(random, 0, 2))};
  const bool is_number = input.spec()[0].shape.rank() == 1 && input.spec()[0].dtype == DType::i64;
  const int64_t rank = among(random, 0, world_size - 1);
  if (input.spec()[0].name != "mask" && one_in(random, 3)) options.mask_key = "mask";
  Dataset share = input;
  if (is_number && one_in(random, 2)) {
    options.cost_field = "0";
    share = not_below_0(input, choice) | distribute(world_size, rank, options);
  } else if (one_in(random, 2)) {
    share = input | distribute(world_size, rank, options);
  } else {
    options.name = "size";
    share = input | distribute(
                        world_size, rank, [](const Element& row) { return row[size_t{0}].size(); }, options);
  }
  return shortage_below(*share.node()) ? input : share;  // A Loader refuses that.
}

bool has_unnamed_function(const Node& node) {
  const auto& inputs = node.facts().inputs;
  return node.facts().opaque ||
         std::any_of(inputs.begin(), inputs.end(), [](const Node::Ref& below) { return has_unnamed_function(*below); });
}

// Functions of these pipelines have equal names though they capture other values, so each pipeline has its own folder.
Dataset cached(Random& random, const Dataset& input) {
  static const test::TempFolder folder;
  static std::atomic<int> number = 0;
  const uint64_t draw = random.below(6);
  if (draw > 2 || has_unnamed_function(*input.node())) return input | cache();
  const std::string own = folder.file(std::to_string(number++));
  if (draw == 0) return input | snapshot(own);
  if (draw == 1) return input | cache({.folder = own, .spill = true, .memory = 100});
  return input | cache(own);
}

Dataset shuffled(Random& random, const Dataset& input) {
  const bool by_position = input.kind() != Kind::stream && !decides_in_order(*input.node());
  if (by_position && one_in(random, 2)) return input | shuffle();
  return (by_position ? input : input | as_stream()) | shuffle(among(random, 1, 9));
}

}  // namespace

Dataset order_step(Random& random, const Dataset& input, const PlanChoice& choice) {
  switch (random.below(7)) {
    case 0:
    case 1:
      return shuffled(random, input);
    case 2:
      return cached(random, input);
    case 3:
      return input | as_stream();
    case 4:
      return share_step(random, input, choice);
    default:
      return batch_step(random, input, choice);
  }
}

}  // namespace headpond::internal::random_plans
