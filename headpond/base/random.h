// SPDX-License-Identifier: Apache-2.0
// Counter-based random numbers: Philox4x32-10 (Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", SC 2011;
// the Random123 library). A draw is a pure function of (key, element, block): there is no state to share, save or
// restore, and values do not depend on threads, order or machine. In a pipeline, Node::random_key() makes the key of an
// operator, and `element` is the element's key (docs/concepts.md), which no shuffle changes; a kernel gets its Random
// from KernelCall::random() (tensor/kernel.h). Not for cryptography.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace headpond {

/// Names a stream of numbers: one key for each (seed, operator, epoch). A plain value.
struct RandomKey {
  uint64_t value = 0;
  bool operator==(const RandomKey&) const = default;
};

/// Mixes `a` and `b`; not symmetric; for one fixed argument a bijection of the other. With f(x) = the splitmix64 output
/// function (xor-shift 30, multiply, xor-shift 27, multiply, xor-shift 31): f(f(a + 0x9e3779b97f4a7c15) ^ b).
uint64_t mix(uint64_t a, uint64_t b);

/// The key of an operator: mix(mix(mix(seed, h), occurrence), epoch), where h is the FNV-1a hash (64 bit) of the bytes
/// of `op`. `occurrence` counts operators of the same name in the operator's own input. Seed 0 is a seed like any
/// other.
RandomKey random_key(uint64_t seed, std::string_view op, uint32_t occurrence, uint64_t epoch);

/// The four words of one block: Philox4x32-10 with key words (low, high) of key and counter words (low, high) of block,
/// then (low, high) of element.
std::array<uint32_t, 4> philox(RandomKey key, uint64_t element, uint64_t block);

/// 64 bits from the operating system, for callers who ask for a different run every time. Thread-safe.
uint64_t entropy();

/// The words of the blocks first_block, first_block + 1, ... of one element, in order. All functions take words from
/// that one sequence, so the same calls give the same values. One thread at a time; copies continue independently.
class Random {
 public:
  explicit Random(RandomKey key, uint64_t element = 0, uint64_t first_block = 0)
      : key_(key), element_(element), block_(first_block) {}
  explicit Random(uint64_t seed) : Random(RandomKey{seed}) {}

  /// The next word.
  uint32_t u32() {
    if (next_ == words_.size()) refill();
    return words_[next_++];
  }

  /// The next two words, the low half first.
  uint64_t u64() {
    const uint64_t low = u32();
    return low | uint64_t{u32()} << 32;
  }

  /// The upper 24 bits of the next word over 2^24: each multiple of 2^-24 in [0, 1) equally often.
  float uniform() { return static_cast<float>(u32() >> 8) * 0x1p-24F; }

  /// Uniform in [0, n), without bias: multiplies by n and takes the upper half (Lemire 2019). Uses one word per attempt
  /// for n < 2^32 and two otherwise; a new attempt is needed with probability below n / 2^32 (n / 2^64). REQUIRES: n >
  /// 0.
  uint64_t below(uint64_t n);

  /// One of 0 to n - 1 by exactly one word, the next one or one drawn before: the upper half of word * n. Each comes
  /// floor or ceil(2^32 / n) times in 2^32. REQUIRES: 0 < n <= 2^32.
  int64_t one_of(int64_t n) { return one_of(n, u32()); }
  static int64_t one_of(int64_t n, uint32_t word) {
    return static_cast<int64_t>((uint64_t{word} * static_cast<uint64_t>(n)) >> 32);
  }

 private:
  void refill();

  RandomKey key_;
  uint64_t element_;
  uint64_t block_;  // The block after words_.
  std::array<uint32_t, 4> words_{};
  uint32_t next_ = 4;
};

}  // namespace headpond
