// SPDX-License-Identifier: Apache-2.0
// Scenario 11: each sample, epoch and operator has random numbers of its own, the same wherever they are made.
#include <algorithm>
#include <array>
#include <random>
#include <thread>

#include "scenario.h"

namespace headpond::scenarios {
namespace {

constexpr int64_t kSamples = 100'000, kEpochs = 3, kFields = 4;
constexpr uint64_t kSeed = 12;
using Parameters = std::array<uint32_t, kFields>;  // Of one operator.

// Two operators, each with four parameters.
Dataset drawn(const Dataset& source) {
  Dataset dataset = source;
  for (const char* const op : {"crop", "colour"}) {
    for (int i = 0; i < kFields; ++i) dataset = dataset | random_u32({.field = op + std::to_string(i), .name = op});
  }
  return dataset;
}

std::vector<Parameters> all_draws(const Dataset& dataset, size_t first_field) {
  std::vector<Parameters> all;
  Loader loader(dataset | batch(1000), {.epochs = kEpochs, .seed = kSeed, .threads = 8});
  for (const Batch& taken : loader) {
    for (size_t op = 0; op < 2; ++op) {
      for (size_t row = 0; row < static_cast<size_t>(taken[0].dim(0)); ++row) {
        Parameters& one = all.emplace_back();
        for (size_t f = 0; f < kFields; ++f) one[f] = taken[first_field + op * kFields + f].as<uint32_t>()[row];
      }
    }
  }
  return all;
}

// The control: each of eight workers begins each epoch with a generator seeded with its number.
std::vector<Parameters> per_thread_draws() {
  constexpr int64_t kWorkers = 8;
  std::vector<std::vector<Parameters>> made(kWorkers);
  for (int64_t epoch = 0; epoch < kEpochs; ++epoch) {
    std::vector<std::jthread> workers;
    for (size_t w = 0; w < kWorkers; ++w) {
      workers.emplace_back([&made, w] {
        std::mt19937 generator(static_cast<uint32_t>(w));
        for (int64_t i = 0; i < 2 * kSamples / kWorkers; ++i) {
          for (uint32_t& word : made[w].emplace_back()) word = static_cast<uint32_t>(generator());
        }
      });
    }
  }
  std::vector<Parameters> all;
  for (const auto& part : made) all.insert(all.end(), part.begin(), part.end());
  return all;
}

void distribution(std::vector<Parameters> all, JsonWriter& figures) {
  std::vector<int64_t> bins(256);
  for (const Parameters& one : all) {
    for (const uint32_t word : one) ++bins[word >> 24];
  }
  member(figures, "bins", bins);
  figures.member("vectors", static_cast<int64_t>(all.size()));
  std::sort(all.begin(), all.end());
  const auto distinct = std::unique(all.begin(), all.end()) - all.begin();
  figures.member("shared", static_cast<int64_t>(all.size()) - distinct);
}

// Images and masks, flipped by operators of the same name, each in its own branch: do the branches agree?
void pairs(JsonWriter& figures) {
  const auto numbers = [](int64_t x) {
    const std::vector<int64_t> row = {x, x + 1, x + 2};
    return Tensor::from(std::span<const int64_t>(row), {3});
  };
  const auto branch = [&](const char* field) {
    return range(kSamples) | map(numbers, {.output = {{field, i64, {3}}}}) | random_flip(0, {.name = "flip"});
  };
  int64_t disagree = 0, flipped = 0, count = 0;
  Loader loader(zip({branch("image"), branch("mask")}) | batch(1000), {.epochs = kEpochs, .seed = kSeed, .threads = 8});
  for (const Batch& taken : loader) {
    const auto image = taken["image"].as<int64_t>(), mask = taken["mask"].as<int64_t>();
    for (size_t i = 0; i < image.size(); i += 3, ++count) {
      flipped += image[i] > image[i + 2] ? 1 : 0;
      disagree += std::equal(&image[i], &image[i] + 3, &mask[i]) ? 0 : 1;
    }
  }
  figures.member("disagreeing_pairs", disagree).member("flipped_pairs", flipped).member("pairs", count);
}

// Validation: the draws of epoch 0 in every epoch.
bool fixed_on_request() {
  std::array<uint64_t, kEpochs> sums{};
  Loader loader(drawn(range(1000)) | cache() | batch(100), {.epochs = kEpochs, .seed = kSeed});
  for (const Batch& taken : loader) {
    uint64_t& sum = sums[static_cast<size_t>(taken.epoch())];
    sum = digest(sum, taken.element());
  }
  return sums[0] == sums[1] && sums[1] == sums[2];
}

}  // namespace

void random_streams(const Run& run, JsonWriter& figures) {
  if (run.control()) return distribution(per_thread_draws(), figures);
  const Dataset plain = drawn(range(kSamples));
  const auto draws = all_draws(plain, 1);
  figures.member("seed", kSeed).key("first").begin_array();
  for (size_t i = 0; i < 20; ++i) {
    figures.begin_array();
    for (const uint32_t word : draws[i]) figures.value(word);
    figures.end_array();
  }
  figures.end_array();
  distribution(draws, figures);
  const auto beside = all_draws(drawn(range(kSamples) | random_u32({.field = "other", .name = "other"})), 2);
  figures.member("unrelated_operator_changes_nothing", beside == draws);
  pairs(figures);
  figures.member("fixed_on_request", fixed_on_request());
}

}  // namespace headpond::scenarios
