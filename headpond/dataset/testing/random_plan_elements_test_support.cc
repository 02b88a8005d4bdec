// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <chrono>
#include <thread>

#include "headpond/dataset/testing/random_plan_parts_test_internal.h"

namespace headpond::internal::random_plans {
namespace {

constexpr int64_t kPrime = 1000003;  // Numbers stay below it.

// A place where another thread may come first.
void pause(int64_t x) {
  if (x % 7 == 3) std::this_thread::sleep_for(std::chrono::microseconds(20));
  if (x % 3 == 1) std::this_thread::yield();
}

Dataset pausing(Random& random, const Dataset& input) {
  MapOptions options = named("pausing", 0);
  if (one_in(random, 2)) {
    options.blocking = true;
    options.name = "waiting";
  }
  return input | map(
                     [](int64_t x) {
                       pause(x);
                       return x;
                     },
                     options);
}

Dataset failing(Random& random, const Dataset& input) {
  const int64_t divisor = among(random, 2, 9);
  const auto fails = [divisor](int64_t x) -> Error {
    if (x % divisor != 1) return {};
    if (x % 2 == 0) throw std::out_of_range(fmt::format("{} is thrown away", x));
    return {ErrorKind::DataLoss, fmt::format("{} is damaged", x)};
  };
  if (one_in(random, 3)) {
    return input | filter(
                       [fails](int64_t x) -> Result<bool> {
                         if (Error error = fails(x)) return fail(std::move(error));
                         return x % 3 != 0;
                       },
                       named("doubting", divisor));
  }
  return input | map(
                     [fails](int64_t x) -> Result<int64_t> {
                       if (Error error = fails(x)) return fail(std::move(error));
                       return x + 1;
                     },
                     named("failing", divisor));
}

Tensor ragged(int64_t x) {
  const std::vector<int64_t> values(static_cast<size_t>(x < 0 ? 1 : x % 5), x);
  return Tensor::from(std::span<const int64_t>(values), {static_cast<int64_t>(values.size())});
}

// The sum so far, and an element that hides it from other steps.
Dataset scanned(const Dataset& input) {
  const auto sum = [](const Element& state, const Element& in) {
    const int64_t total = (state[size_t{0}].item<int64_t>() * 3 + in[size_t{0}].item<int64_t>()) % kPrime;
    return std::pair(Element{Tensor::scalar(total)}, Element{Tensor::scalar(total)});
  };
  return input | scan(Element{Tensor::scalar(int64_t{1})}, sum, named("sum", 0, {{"", i64, {}}}));
}

// True iff another seed may give other values, or other holes.
bool draws_values(const Node& node) {
  const auto& inputs = node.facts().inputs;
  return (node.draws() && node.facts().role != Role::order) ||
         std::any_of(inputs.begin(), inputs.end(), [](const Node::Ref& input) { return draws_values(*input); });
}

// With positions all epochs have equally many elements, also where the input is a random number.
Dataset nested(Random& random, const Dataset& input) {
  if (input.node()->slots() > kMostSlots / 3) return input;
  const int64_t most = among(random, 1, 4);
  const bool filters = one_in(random, 3);
  const bool has_other_holes = input.kind() == Kind::sparse && draws_values(*input.node());
  const bool is_stream = one_in(random, 2) || has_other_holes;
  const auto make = [most, filters, is_stream](int64_t x) {
    const Dataset all = range(x, x + (is_stream && x >= 0 ? x % most : most));
    return filters ? all | filter([](int64_t y) { return y % 2 == 0; }, named("even", 0)) : all | shuffle();
  };
  std::optional<Kind> kind;
  if (is_stream) kind = Kind::stream;
  const int version = static_cast<int>(most * 2 + (filters ? 1 : 0));
  if (one_in(random, 3)) return input | flat_map(make, {.kind = kind, .name = "some", .version = version});
  return input | interleave(make, {.cycle_length = among(random, 1, 4),
                                   .block_length = among(random, 1, 3),
                                   .kind = kind,
                                   .name = "some",
                                   .version = version});
}

}  // namespace

Dataset number_step(Random& random, const Dataset& input, const PlanChoice& choice) {
  const int64_t divisor = among(random, 2, 4);
  if (choice.errors && one_in(random, 3)) return failing(random, input);
  if (choice.pauses && one_in(random, 3)) return pausing(random, input);
  switch (random.below(13)) {
    case 8:
    case 11:
      return input | rejection_resample(
                         [](int64_t x) { return x < 0 ? 0 : x % 3; }, {1, 2, 1},
                         {.initial_dist = one_in(random, 2) ? std::vector<double>{1, 1, 1} : std::vector<double>(),
                          .name = "third"});
    case 7:
    case 9:
      return nested(random, input);
    case 6:
      return input |
             random_map([](int64_t x, Random& drawn) { return (x + static_cast<int64_t>(drawn.below(9))) % kPrime; },
                        named("drawn", divisor));
    case 5:
    case 10:
      return scanned(input);
    case 4:
      return input | take_while([divisor](int64_t x) { return x < 10 * divisor; }, named("below", divisor));
    case 0:
      return input | map([divisor](int64_t x) { return x * divisor % kPrime; }, named("times", divisor));
    case 1:
      return input | filter([divisor](int64_t x) { return x % divisor != 0; }, named("indivisible", divisor));
    case 2:
      return input | map([](int64_t x) { return std::string(static_cast<size_t>(x & 3), 'x') + std::to_string(x); },
                         named("text", 0));
    case 3:
      return input | map(ragged, named("ragged", 0, {{"", DType::i64, {kUnknown}}}));
    default:
      return concatenate({input, range(among(random, 0, 9))});
  }
}

Dataset numbers_again(Random& random, const Dataset& input, const PlanChoice& choice) {
  if (is_single(input, DType::bytes)) {
    if (!is_scalar(input)) return input;
    return input | map([](std::string_view x) { return static_cast<int64_t>(x.size()); }, named("length", 0));
  }
  if (one_in(random, 2)) return input | unique();
  if (one_in(random, 2)) return kernels_step(random, input, choice);
  if (one_in(random, 3)) return input | map([](int64_t x) { return static_cast<float>(x) / 2; }, named("halves", 0));
  if (one_in(random, 2)) return input | map([](int64_t x) { return 7 - x; }, named("each", 0));
  return input | map(
                     [](std::span<const int64_t> all) {
                       int64_t sum = 0;
                       for (const int64_t x : all) sum = (sum * 3 + x) % kPrime;
                       return sum;
                     },
                     named("sum", among(random, 0, 1)));
}

Dataset fields_step(Random& random, const Dataset& input) {
  const Spec& spec = input.spec();
  switch (random.below(5)) {
    case 0:
      if (!is_single(input, DType::f32)) return input;
      if (one_in(random, 2)) return input | add_noise(1);
      return input | map([](float x) { return x / 4; }, named("quarters", 0));
    case 1:
      return spec.size() == 1 && spec[0].shape.rank() > 0 && spec[0].dtype != DType::bytes ? input | random_flip(-1)
                                                                                           : input;
    case 2:
      return input | random_u32({.field = "u" + std::to_string(spec.size()) + "_" + std::to_string(random.u32())});
    case 3:
      if (spec[0].name != "number" || spec[0].shape.rank() > 0) return input;
      return input | map(
                         "number", [](int64_t x) { return x - 5; }, named("less", 5));
    default:
      return spec[0].name == "index" ? input : input | enumerate(among(random, 0, 5));
  }
}

}  // namespace headpond::internal::random_plans
