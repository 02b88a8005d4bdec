// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <cstdlib>
#include <numeric>

#include "headpond/dataset/testing/random_plan_parts_test_internal.h"
#include "headpond/io/array/idx.h"
#include "headpond/io/example/example_writer.h"
#include "headpond/io/record/record_writer.h"
#include "tests/test_files.h"

namespace headpond::internal::random_plans {
namespace {

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

}  // namespace

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

}  // namespace headpond::internal::random_plans
