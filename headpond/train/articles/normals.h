// SPDX-License-Identifier: Apache-2.0
// Batches of standard normal floats: the input of the BLSTM, whose cost a queue hides.
#pragma once

#include <cstdint>
#include <random>
#include <span>
#include <stop_token>

#include "headpond/base/normal.h"
#include "headpond/base/status.h"
#include "headpond/tensor/buffer.h"
#include "headpond/tensor/tensor.h"

namespace headpond {

enum class NormalSource : uint8_t {
  standard,  ///< std::mt19937 and std::normal_distribution<float>.
  headpond,  ///< fill_normal (base/normal.h): a function of seed and batch number.
};

/// A sequence of batches. Equal arguments give equal batches on any thread. One thread at a time.
class NormalBatches {
 public:
  /// Buffers come from `pool`, which must outlive this.
  NormalBatches(NormalSource source, Shape shape, uint64_t seed, BufferPool& pool)
      : source_(source), shape_(std::move(shape)), seed_(seed), pool_(pool), engine_(static_cast<uint32_t>(seed)) {}

  /// The next batch. Cancelled iff `stop` was requested, also in the middle of a batch; then it cannot be used again.
  Result<Tensor> next(const std::stop_token& stop = {});
  int64_t count() const { return count_; }  ///< Batches delivered.

  NormalSource source() const { return source_; }
  const Shape& shape() const { return shape_; }
  /// fill() may start at multiples of this.
  static constexpr int64_t kFillFrom = kNormalBlock;
  /// The values of batch `number` from `first` on. Any thread. REQUIRES: NormalSource::headpond.
  void fill(int64_t number, size_t first, std::span<float> values) const;
  /// Continues as if next() had been called `count` times. REQUIRES: NormalSource::headpond.
  void skip(int64_t count) { count_ += count; }

 private:
  const NormalSource source_;
  const Shape shape_;
  const uint64_t seed_;
  BufferPool& pool_;

  std::mt19937 engine_;
  std::normal_distribution<float> distribution_;
  int64_t count_ = 0;
};

}  // namespace headpond
