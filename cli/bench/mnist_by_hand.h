// SPDX-License-Identifier: Apache-2.0
// The digits of loader.mnist and record.mnist, and the loop that both are held against.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <numeric>
#include <vector>

#include "cli/bench/consume.h"
#include "headpond/base/permutation.h"
#include "headpond/base/random.h"
#include "headpond/tensor/tensor.h"

namespace headpond::cli {

inline constexpr int64_t kExamples = 60'000, kPixels = 784, kBatch = 32, kEpochs = 5;

// Digits' sizes without the digits: their values do not change how long anything takes.
class Digits {
 public:
  explicit Digits(uint64_t seed)
      : images(Tensor::empty(DType::u8, {kExamples, 28, 28})), labels(Tensor::empty(DType::i64, {kExamples})) {
    Random random(seed);
    for (uint8_t& pixel : images.mutable_as<uint8_t>()) pixel = static_cast<uint8_t>(random.below(256));
    for (int64_t& label : labels.mutable_as<int64_t>()) label = static_cast<int64_t>(random.below(10));
  }
  Tensor images, labels;
};

inline float scaled(uint8_t pixel) { return static_cast<float>(pixel) / 255; }

// What one would write by hand: the same order, rows fetched ahead, one block of memory that stays in the cache.
inline uint64_t run_by_hand(const Digits& digits, uint64_t seed) {
  const auto images = digits.images.as<uint8_t>();
  const auto labels = digits.labels.as<int64_t>();
  std::vector<float> rows(kBatch * kPixels);
  std::array<int64_t, kBatch> batch_labels{}, order{};
  uint64_t all = 0;
  for (uint64_t epoch = 0; epoch < kEpochs; ++epoch) {
    const Permutation permutation(random_key(seed, "shuffle", 0, epoch), kExamples);
    for (int64_t first = 0; first < kExamples; first += kBatch) {
      std::iota(order.begin(), order.end(), first);
      permutation.apply(order, order.data());
      for (const int64_t place : order) {
        const uint8_t* const row = images.data() + place * kPixels;
        for (int64_t line = 0; line < kPixels; line += 64) __builtin_prefetch(row + line);
      }
      for (size_t r = 0; r < kBatch; ++r) {
        const uint8_t* const row = images.data() + order[r] * kPixels;
        for (size_t i = 0; i < kPixels; ++i) rows[r * kPixels + i] = scaled(row[i]);
        batch_labels[r] = labels[static_cast<size_t>(order[r])];
      }
      all ^= xor_of(std::as_bytes(std::span(rows))) ^ xor_of(std::as_bytes(std::span(batch_labels)));
    }
  }
  return all;
}

// The limit of such a loop: each row is fetched while the rows before it are converted, across batches too.
inline uint64_t run_fetching_ahead(const Digits& digits, uint64_t seed) {
  constexpr size_t kRowsAhead = 6;  // About as many lines as a core can wait for.
  const auto images = digits.images.as<uint8_t>();
  const auto labels = digits.labels.as<int64_t>();
  std::vector<float> rows(kBatch * kPixels);
  std::array<int64_t, kBatch> batch_labels{};
  std::vector<int64_t> order(kExamples);
  uint64_t all = 0;
  for (uint64_t epoch = 0; epoch < kEpochs; ++epoch) {
    const Permutation permutation(random_key(seed, "shuffle", 0, epoch), kExamples);
    std::iota(order.begin(), order.end(), 0);
    permutation.apply(order, order.data());
    for (size_t i = 0; i < kExamples; ++i) {
      const uint8_t* const next = images.data() + order[std::min<size_t>(i + kRowsAhead, kExamples - 1)] * kPixels;
      for (int64_t at = 0; at < kPixels; at += 64) __builtin_prefetch(next + at);
      const uint8_t* const row = images.data() + order[i] * kPixels;
      const size_t r = i % kBatch;
      for (size_t x = 0; x < kPixels; ++x) rows[r * kPixels + x] = scaled(row[x]);
      batch_labels[r] = labels[static_cast<size_t>(order[i])];
      if (r + 1 < kBatch) continue;
      all ^= xor_of(std::as_bytes(std::span(rows))) ^ xor_of(std::as_bytes(std::span(batch_labels)));
    }
  }
  return all;
}

}  // namespace headpond::cli
