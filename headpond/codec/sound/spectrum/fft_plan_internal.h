// SPDX-License-Identifier: Apache-2.0
// The tables of a Fourier transform of real numbers: Cooley and Tukey, "An algorithm for the machine calculation of
// complex Fourier series", Mathematics of Computation 19 (1965), in place, by radices 4, 2, 3, 5 and every other prime.
// An even number of points is a complex transform of half as many. The transforms are in lanes.cc.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace headpond::spectrum_internal {

inline constexpr int64_t kMaxPoints = 65536;
/// Complex numbers that the stages in double join: 32 KiB for sixteen transforms.
inline constexpr int64_t kMostWide = 128;

/// Joins `radix` neighbouring transforms of `span` points each.
struct FftStage {
  int64_t radix;
  int64_t span;
  size_t twiddles;  ///< Where its factors begin: for each j < span those of 1 <= q < radix, real and imaginary part.
  size_t roots;     ///< Where exp(-2 pi i q / radix) begin, for 0 <= q < radix; only for radices above 5.
};

/// Complex number k lies in rows 2 k (real) and 2 k + 1 (imaginary), a row being a lane for each of several transforms.
struct FftPlan {
  int64_t points;                     ///< Real numbers.
  int64_t size;                       ///< Complex numbers: half as many, or as many if their number is odd.
  int64_t rows;                       ///< Rows of the transform and of the bins 0 to points / 2.
  int64_t spare_rows;                 ///< More, for a radix above 5.
  std::vector<FftStage> stages = {};  ///< In the order in which they are run.
  size_t wide_stages = 0;  ///< So many of the first stages are done in double: they decide what weak bins are worth.
  int64_t wide = 1;        ///< So many complex numbers they join; at most kMostWide.
  std::vector<float> factors = {};
  std::vector<double> wide_factors = {};  ///< The same, not rounded.
  std::vector<float> split = {};          ///< exp(-2 pi i k / points) / 2, 0 <= k <= size / 2; only for an even number.
  std::vector<uint32_t> row_of = {};      ///< Where real number i is put.
};

/// Work per transform: points times the sum of the prime factors. REQUIRES: 1 <= points <= kMaxPoints.
FftPlan make_fft_plan(int64_t points);

}  // namespace headpond::spectrum_internal
