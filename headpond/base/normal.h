// SPDX-License-Identifier: Apache-2.0
// Standard normal floats, many at once: Box-Muller over Philox (random.h). A value is a pure function of (key, element,
// block, position in the block) and has the same bits on every processor and instruction set: logarithm, sine and
// cosine are computed here, and no multiply-add is fused. Thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "headpond/base/random.h"

namespace headpond {

/// Values in a block. Filling a range in pieces gives the same values as filling it at once, if pieces start at
/// multiples of this number, each with its own first_block.
inline constexpr size_t kNormalBlock = 64;

/// Writes the values of the blocks first_block, first_block + 1, ...; the last block may be written in part. `out`
/// needs only the alignment of a float.
///
/// Value j of block b comes from the four words w0..w3 of philox(key, element, 16 b + j mod 16): j / 16 chooses the
/// first (0) or second (1) value of the pair (w0, w1), or the first (2) or second (3) of the pair (w2, w3). A pair (u,
/// v) gives the radius sqrt(-2 ln(p / 2^31)), p = floor(u / 2) rounded to float, plus 1/2, rounded to float; and an
/// angle x of s / 2^31 eighths of a turn, s = the lower 30 bits of v, shifted up by two, as a signed number. The pair
/// of values is radius times (cos x, sin x), swapped iff bit 30 of v is set, and negated iff bit 31 is. Values are
/// within 1e-6 relative of that formula; the largest possible magnitude is 6.67, which 1 normal in 4e10 would exceed.
void fill_normal(std::span<float> out, RandomKey key, uint64_t element, uint64_t first_block = 0);

/// The same values in plain C++, one at a time: the reference for the vector code.
void fill_normal_scalar(std::span<float> out, RandomKey key, uint64_t element, uint64_t first_block = 0);

/// The instruction sets that fill_normal has code for and this machine supports, best first: "AVX3", "AVX2", ...
/// fill_normal uses the first. Empty iff it uses the scalar code.
std::vector<std::string_view> normal_targets();

/// fill_normal with the code of one instruction set, for tests and measurements. Throws Exception(InvalidArgument) iff
/// `target` is not one of normal_targets().
void fill_normal_on(std::string_view target, std::span<float> out, RandomKey key, uint64_t element,
                    uint64_t first_block = 0);

}  // namespace headpond
