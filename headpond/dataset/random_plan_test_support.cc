// SPDX-License-Identifier: Apache-2.0
#include "headpond/dataset/dataset_test_internal.h"
#include "headpond/dataset/random_plan_test_internal.h"

namespace headpond::internal {
namespace {

constexpr int64_t kMostSlots = 120;

int64_t among(Random& random, int64_t low, int64_t high) {
  return low + static_cast<int64_t>(random.below(static_cast<uint64_t>(high - low + 1)));
}

Dataset counting_generator(int64_t count) {
  const auto make = [count](uint64_t epoch) -> Generator {
    return [count, next = static_cast<int64_t>(epoch)]() mutable -> Result<std::optional<Element>> {
      if (next >= count) return std::nullopt;
      return Element{Tensor::scalar(next++)};
    };
  };
  return from_generator(make, {{"", DType::i64, {}}}, {.name = "counting"});
}

Dataset floats(int64_t rows) {
  std::vector<float> values;
  for (int64_t i = 0; i < rows * 3; ++i) values.push_back(static_cast<float>(i));
  return from_tensor_slices(Tensor::from(std::span<const float>(values), {rows, 3}));
}

Dataset source(Random& random) {
  const int64_t size = among(random, 0, 3) == 0 ? among(random, 0, 2) : among(random, 3, 30);
  switch (random.below(4)) {
    case 0:
      return floats(size);
    case 1:
      return counting_generator(size);
    default:
      return range(size);
  }
}

// For elements that are one i64 scalar.
bool is_number(const Dataset& dataset) {
  return dataset.spec().size() == 1 && dataset.spec()[0].dtype == DType::i64 && dataset.spec()[0].shape.rank() == 0;
}
Dataset number_step(Random& random, const Dataset& input) {
  const int64_t divisor = among(random, 2, 4);
  switch (random.below(3)) {
    case 0:
      return input |
             map([divisor](int64_t x) { return x * divisor; }, {.name = "times", .version = static_cast<int>(divisor)});
    case 1:
      return input | filter([divisor](int64_t x) { return x % divisor != 0; });
    default:
      return concatenate({input, range(among(random, 0, 9))});
  }
}

Dataset fields_step(Random& random, const Dataset& input) {
  switch (random.below(4)) {
    case 0:
      return input.spec().size() == 1 && input.spec()[0].dtype == DType::f32 ? input | add_noise(1) : input;
    case 1:
      return input.spec().size() == 1 && input.spec()[0].shape.rank() > 0 && input.spec()[0].dtype != DType::bytes
                 ? input | random_flip(-1)
                 : input;
    case 2:
      return input |
             random_u32({.field = "u" + std::to_string(input.spec().size()) + "_" + std::to_string(random.u32())});
    default:
      return input.spec()[0].name == "index" ? input : input | enumerate(among(random, 0, 5));
  }
}

Dataset structure_step(Random& random, const Dataset& input) {
  switch (random.below(5)) {
    case 0:
      return input | take(among(random, -1, 20));
    case 1:
      return input | skip(among(random, 0, 5));
    case 2: {
      const int64_t shards = among(random, 1, 3);
      return input | shard(shards, among(random, 0, shards - 1));
    }
    case 3:
      return input.node()->slots() <= kMostSlots / 3 ? input | repeat(among(random, 0, 3)) : input;
    default:
      return zip({input, range(among(random, 0, 40))});
  }
}

Dataset order_step(Random& random, const Dataset& input) {
  switch (random.below(5)) {
    case 0:
      return input.kind() == Kind::stream ? input | shuffle(among(random, 1, 9)) : input | shuffle();
    case 1:
      return input | shuffle(among(random, 1, 9));
    case 2:
      return input | cache();
    case 3:
      return input | as_stream();
    default:
      return input | batch(among(random, 1, 5), {.drop_remainder = among(random, 0, 1) == 1});
  }
}

}  // namespace

Dataset random_plan(Random& random, int depth) {
  Dataset plan = source(random);
  for (int i = 0; i < depth; ++i) {
    const uint64_t kind = random.below(4);
    if (kind == 0 && is_number(plan)) {
      plan = number_step(random, plan);
    } else if (kind <= 1) {
      plan = fields_step(random, plan);
    } else {
      plan = kind == 2 ? structure_step(random, plan) : order_step(random, plan);
    }
  }
  return plan;
}

}  // namespace headpond::internal
