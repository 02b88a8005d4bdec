// SPDX-License-Identifier: Apache-2.0
// Whether the upper halves of the vector registers are in use.
#pragma once

#include <cstdint>

#if defined(__x86_64__)
#include <immintrin.h>

namespace headpond::test {

// Which parts of the vector registers are not in their initial state: bit 2 is the upper half of the 256-bit registers,
// bit 6 that of the lower sixteen 512-bit ones.
__attribute__((target("xsave"))) inline uint64_t dirty_halves() { return _xgetbv(1) & (1U << 2 | 1U << 6); }

// Not compiled for AVX: the compiler would clean up after it.
inline void make_halves_dirty() { asm volatile("vcmpps $15, %%ymm0, %%ymm0, %%ymm0" ::: "xmm0"); }

// Not where the processor has no AVX, or no xgetbv with ecx 1.
inline bool can_ask_for_dirty_halves() {
  unsigned a = 0, b = 0, c = 0, d = 0;
  asm volatile("cpuid" : "=a"(a), "=b"(b), "=c"(c), "=d"(d) : "a"(13), "c"(1));
  return __builtin_cpu_supports("avx") != 0 && (a & 4) != 0;
}

}  // namespace headpond::test
#endif
