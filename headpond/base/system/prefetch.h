// SPDX-License-Identifier: Apache-2.0
// Asks for memory some time before it is needed: a processor waits for what is in no cache, and foresees only steady
// streams. Not for users.
#pragma once

#include <cstddef>

namespace headpond {

inline constexpr size_t kCacheLine = 64;  ///< Bytes.

/// Any address will do: what can't be read is not fetched. Thread-safe; so are the others.
inline void prefetch_to_read(const void* line) { __builtin_prefetch(line); }

/// Takes the line away from other processors' caches. Does nothing but on x86-64.
/// __builtin_prefetch for writing emits a prefetch for reading unless the compiler may assume this instruction.
/// Processors without it treat it as a no-op.
inline void prefetch_to_write([[maybe_unused]] const void* line) {
#if defined(__x86_64__)
  asm volatile("prefetchw %0" : : "m"(*static_cast<const std::byte*>(line)));
#endif
}

/// The lines of the `size` bytes from `from` on, perhaps without the last one.
inline void prefetch_to_read(const std::byte* from, size_t size) {
  for (size_t at = 0; at < size; at += kCacheLine) prefetch_to_read(from + at);
}
inline void prefetch_to_write(const std::byte* from, size_t size) {
  for (size_t at = 0; at < size; at += kCacheLine) prefetch_to_write(from + at);
}

}  // namespace headpond
