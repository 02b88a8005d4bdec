// SPDX-License-Identifier: Apache-2.0
// What threads take of an address space that is limited (RLIMIT_AS, `ulimit -v`). Not for users. Any thread.
#pragma once

#include <cstdint>
#include <optional>

namespace headpond::internal {

/// Bytes that the process may map; nullopt: no limit.
std::optional<uint64_t> address_space_limit();

/// How many arenas malloc may have, so that they take at most an eighth of `limit`, but at least one; nullopt: it has
/// no more anyway on a machine with so many processors. glibc reserves 64 MiB for each, however little is in use, and
/// has at most 8 for each processor.
std::optional<int> arenas_within(uint64_t limit, int processors);

/// Changes a setting of the whole process, at its first call: where the address space is limited then, glibc's malloc
/// gets at most arenas_within() arenas (M_ARENA_MAX), unless it has as many. glibc fixes their number once: where other
/// threads have made it do so before, this has no effect. Does nothing without a limit, and where MALLOC_ARENA_MAX or
/// GLIBC_TUNABLES of the environment says how many there are. Without it, a few threads would reserve all of the
/// address space, and malloc and mmap fail. Why it is done:
/// docs/decisions/0015-malloc-arenas-where-memory-is-limited.md.
void limit_malloc_arenas();

/// What a thread maps for its stack: the system's size (`ulimit -s`), as functions of users run on it.
uint64_t thread_stack_bytes();

/// Of `wanted` threads as many as have their stacks in a quarter of the limit, but at least one; `wanted` without a
/// limit.
int threads_with_stacks(int wanted);

}  // namespace headpond::internal
