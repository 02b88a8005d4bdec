// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <numeric>
#include <thread>

#include "headpond/dataset/testing/dataset_test_internal.h"
#include "headpond/dataset/testing/random_plan_test_internal.h"
#include "headpond/io/array/idx.h"
#include "headpond/io/example/example_writer.h"
#include "headpond/io/record/record_writer.h"
#include "tests/test_files.h"

namespace headpond::internal {
namespace {

constexpr int64_t kMostSlots = 120;
constexpr int64_t kPrime = 1000003;  // Numbers stay below it.

int64_t among(Random& random, int64_t low, int64_t high) {
  return low + static_cast<int64_t>(random.below(static_cast<uint64_t>(high - low + 1)));
}
bool one_in(Random& random, uint64_t n) { return random.below(n) == 0; }

MapOptions named(const char* name, int64_t version, Spec output = {}) {
  return {.output = std::move(output), .name = name, .version = static_cast<int>(version)};
}

// What a generator does at one place, if it fails at all.
enum class Failure : uint8_t { none, error, exception, other_dtype };

Generator counting_from(int64_t next, int64_t count, Failure failure) {
  return [count, failure, next]() mutable -> Result<std::optional<Element>> {
    if (next >= count) return std::nullopt;
    const int64_t value = next++;
    if (failure != Failure::none && value == count / 2) {
      if (failure == Failure::error) return fail(ErrorKind::DataLoss, "half of it is lost");
      if (failure == Failure::exception) throw std::runtime_error("no more");
      return Element{Tensor::scalar(1.5F)};
    }
    return Element{Tensor::scalar(value)};
  };
}

Dataset counting_generator(Random& random, int64_t count, const PlanChoice& choice) {
  const bool fails = choice.errors && one_in(random, 3);
  const auto failure = fails ? static_cast<Failure>(among(random, 1, 3)) : Failure::none;
  GeneratorOptions options{.name = "counting"};
  if (one_in(random, 2)) {
    options.name = "seeking";
    options.seek = [count, failure](uint64_t epoch, int64_t position) -> Result<Generator> {
      return counting_from(static_cast<int64_t>(epoch % 8) + position, count, failure);
    };
  }
  return from_generator(
      [count, failure](uint64_t epoch) { return counting_from(static_cast<int64_t>(epoch % 8), count, failure); },
      {{"", DType::i64, {}}}, options);
}

Dataset floats(int64_t rows) {
  std::vector<float> values;
  for (int64_t i = 0; i < rows * 3; ++i) values.push_back(static_cast<float>(i));
  return from_tensor_slices(Tensor::from(std::span<const float>(values), {rows, 3}));
}

Dataset pairs(int64_t rows) {
  std::vector<int64_t> numbers;
  std::vector<std::string> texts;
  for (int64_t i = 0; i < rows; ++i) {
    numbers.push_back(i * i);
    texts.emplace_back(static_cast<size_t>(i % 4), static_cast<char>('a' + i % 26));
  }
  const std::vector<std::string_view> views(texts.begin(), texts.end());
  return from_tensor_slices({{"number", Tensor::from(std::span<const int64_t>(numbers), {rows})},
                             {"text", Tensor::from(std::span<const std::string_view>(views), {rows})}});
}

constexpr int64_t kMostRows = 30;

// Files with that many images and labels, "images" and "labels", and records. A process that this one starts finds the
// same ones: their path is part of the plan.
std::string files_folder() {
  static const char* const kGiven = "HEADPOND_PLANS_IDX";
  if (const char* const folder = std::getenv(kGiven); folder != nullptr) return folder;
  static const test::TempFolder made;
  std::vector<uint8_t> bytes(kMostRows * 6);
  std::iota(bytes.begin(), bytes.end(), uint8_t{0});
  const std::span<const uint8_t> pixels = bytes, labels = pixels.first(kMostRows);
  EXPECT_TRUE(write_idx(made.file("images"), Tensor::from(pixels, {kMostRows, 2, 3})));
  EXPECT_TRUE(write_idx(made.file("labels"), Tensor::from(labels, {kMostRows})));
  for (const Compression compression : {Compression::none, Compression::gzip}) {
    const std::string path = made.file(std::string("records-") + std::string(to_string(compression)));
    const auto writer = RecordWriter::open(path, {.compression = compression}).value();
    for (int64_t i = 0; i < kMostRows; ++i) {
      EXPECT_TRUE(writer->append(make_example({{{"number", Tensor::scalar(i * i)}}}).value()));
    }
    EXPECT_TRUE(writer->close());
  }
  setenv(kGiven, made.path().c_str(), 1);
  return made.path();
}

Dataset records(Random& random, int64_t rows, const PlanChoice& choice) {
  TFRecordOptions options = {.on_damage = choice.errors && one_in(random, 2) ? OnDamage::skip : OnDamage::fail,
                             .keep_index = false};
  std::string name = one_in(random, 3) ? "gzip" : "none";
  if (one_in(random, 3)) {
    options.num_parallel_reads = among(random, 1, 3);
    name = "*";
  }
  const Dataset all = tfrecord(files_folder() + "/records-" + name, options);
  if (one_in(random, 3)) return all | take(rows);
  const auto bare = map([](int64_t x) { return x; }, named("bare", 0));  // Other steps look for a field without a name.
  return all | take(rows) | map(parse_example({{"number", i64}})) | bare;
}

Dataset from_files(Random& random, int64_t rows, const PlanChoice& choice) {
  if (one_in(random, 2)) return records(random, rows, choice);
  const std::string folder = files_folder();
  const Dataset all = one_in(random, 2) ? idx(folder + "/images") : idx(folder + "/images", folder + "/labels");
  return all | take(rows);
}

DType number_dtype(Random& random) {
  constexpr std::array kDTypes = {i64, i64, i64, f32, u8, i8, i32, u64, f16, bf16, f64};
  return kDTypes.at(random.below(kDTypes.size()));
}

Dataset endless_or_single(Random& random, int64_t size) {
  switch (random.below(5)) {
    case 4:
      return range(-3, size - 3, 1, number_dtype(random));
    case 0:
      return counter(among(random, -5, 5), among(random, -3, 3), number_dtype(random)) | take(size);
    case 1:
      return headpond::random({.rerandomize_each_iteration = one_in(random, 2)}) | take(size);
    case 2:
      return list_files(files_folder() + "/records-*", {.shuffle = one_in(random, 2)});
    default:
      return from_tensors(Tensor::scalar(size));
  }
}

Dataset source(Random& random, const PlanChoice& choice) {
  const int64_t size = one_in(random, 4) ? among(random, 0, 2) : among(random, 3, kMostRows);
  switch (random.below(7)) {
    case 0:
      return floats(size);
    case 1:
      return counting_generator(random, size, choice);
    case 2:
      return pairs(size);
    case 3:
      return from_files(random, size, choice);
    case 4:
      return endless_or_single(random, size);
    default:
      return range(size);
  }
}

bool is_single(const Dataset& dataset, DType dtype) {
  return dataset.spec().size() == 1 && dataset.spec()[0].dtype == dtype;
}
bool is_scalar(const Dataset& dataset) { return dataset.spec()[0].shape.rank() == 0; }

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

// For elements that are one i64 scalar.
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

// For elements that are one field of numbers or bytes: each value by itself, or back to one number.
Dataset numbers_again(Random& random, const Dataset& input, const PlanChoice& choice) {
  if (is_single(input, DType::bytes)) {
    if (!is_scalar(input)) return input;
    return input | map([](std::string_view x) { return static_cast<int64_t>(x.size()); }, named("length", 0));
  }
  if (one_in(random, 2)) return input | unique();
  if (one_in(random, 2)) return random_kernels(random, input, choice);
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
      return input | shard(shards, among(random, 0, shards - 1));
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

// For one field of whatever rows.
Dataset share_step(Random& random, const Dataset& input) {
  if (input.spec().size() != 1 || input.spec()[0].shape.rank() == 0) return input;
  const int64_t world_size = among(random, 1, 3);
  DistributeOptions options{.uneven = static_cast<UnevenBatch>(among(random, 0, 2))};
  const bool is_number = input.spec()[0].shape.rank() == 1 && input.spec()[0].dtype == DType::i64;
  if (is_number && one_in(random, 2)) options.cost_field = "0";
  const int64_t rank = among(random, 0, world_size - 1);
  if (!options.cost_field.empty() || one_in(random, 2)) return input | distribute(world_size, rank, options);
  options.name = "size";
  return input | distribute(
                     world_size, rank, [](const Element& row) { return row[size_t{0}].size(); }, options);
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
      return share_step(random, input);
    default:
      return batch_step(random, input, choice);
  }
}

Dataset without_end(Random& random, const Dataset& input) {
  Dataset plan = input | repeat();
  if (one_in(random, 2)) return plan;
  return plan | batch(among(random, 1, 4));
}

Dataset next_step(Random& random, const Dataset& plan, const PlanChoice& choice) {
  const uint64_t kind = random.below(5);
  if (kind == 4) return random_regroup(random, plan, choice);
  if (kind == 0 && is_single(plan, DType::i64) && is_scalar(plan)) return number_step(random, plan, choice);
  if (kind == 0 && (is_single(plan, DType::i64) || is_single(plan, DType::bytes)))
    return numbers_again(random, plan, choice);
  if (kind <= 1) return fields_step(random, plan);
  return kind == 2 ? structure_step(random, plan, choice) : order_step(random, plan, choice);
}

}  // namespace

Dataset random_plan(Random& random, int depth, const PlanChoice& choice) {
  Dataset plan = source(random, choice);
  for (int i = 0; i < depth; ++i) {
    if (i == choice.hint_after) plan = plan | (choice.hint ? choice.hint : prefetch());
    plan = next_step(random, plan, choice);
  }
  return choice.endless ? without_end(random, plan) : plan;
}

}  // namespace headpond::internal
