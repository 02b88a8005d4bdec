// SPDX-License-Identifier: Apache-2.0
// A function that a Loader's thread calls before it ends, so that an interpreter can free what it keeps for the thread.
// Not for users.
#pragma once

namespace headpond::internal {

/// A task may set this for its thread. The Loader's thread calls it once, after its last task and without the Loader's
/// lock, and only then counts as ended: close() waits for it, logs that it waits, and detaches the thread after
/// `abandon_after`. (Destructors of thread_local objects run later, where close() can do none of this.) Each thread has
/// one such function: a second one replaces the first. Threads of the program never call it. It must not throw.
using AtThreadEnd = void (*)();
inline constinit thread_local AtThreadEnd at_thread_end = nullptr;

}  // namespace headpond::internal
