// SPDX-License-Identifier: Apache-2.0
#include "headpond/base/checksum/upper_halves.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace headpond {

#if defined(__x86_64__)
namespace {

__attribute__((target("avx"))) void zero_upper() { _mm256_zeroupper(); }

}  // namespace

void clear_upper_halves() {
  static const bool has_upper_halves = __builtin_cpu_supports("avx") != 0;
  if (has_upper_halves) zero_upper();
}
#else
void clear_upper_halves() {}
#endif

}  // namespace headpond
