// SPDX-License-Identifier: Apache-2.0
// How long the calling thread has waited for locks that functions hold while they run, such as the lock of Python's
// interpreter. More threads would not end such a wait earlier, so it is not counted as a wait for a file or a network.
// Not for users.
#pragma once

#include <cstdint>

namespace headpond::internal {

/// Whoever takes such a lock for a function adds to it.
inline constinit thread_local int64_t lock_wait_ns_by_thread = 0;
/// The part of it that was a wait for the interpreter, and not for the turn of a function of which one call runs.
inline constinit thread_local int64_t interpreter_wait_ns_by_thread = 0;

}  // namespace headpond::internal
