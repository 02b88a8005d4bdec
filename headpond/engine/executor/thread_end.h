// SPDX-License-Identifier: Apache-2.0
// What a host, such as an interpreter, has to end on a thread of a Loader before the thread itself ends. Not for users.
#pragma once

namespace headpond::internal {

/// Whoever keeps something for the calling thread may set it, in a task. A thread of a Loader calls it once, after its
/// last task and without the Loader's lock. The thread counts as ended only then: the Loader waits for it as for a
/// task, says so in the log, and leaves it behind by `abandon_after`; the end of a thread_local object it does not see.
/// Threads of the program never call it. It must not throw.
using AtThreadEnd = void (*)();
inline constinit thread_local AtThreadEnd at_thread_end = nullptr;

}  // namespace headpond::internal
