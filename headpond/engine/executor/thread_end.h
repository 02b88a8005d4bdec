// SPDX-License-Identifier: Apache-2.0
// What a host, such as an interpreter, has to end on a thread of a Loader before the thread itself ends. Not for users.
#pragma once

namespace headpond::internal {

/// A task may set this for its thread. A thread of a Loader calls it once, after its last task and without the Loader's
/// lock, and counts as ended only then: close() waits for it, says so in the log, and after `abandon_after` leaves the
/// thread behind. (A Loader does not see destructors of thread_local objects.) There is one host in a process. Other
/// threads never call it. It must not throw.
using AtThreadEnd = void (*)();
inline constinit thread_local AtThreadEnd at_thread_end = nullptr;

}  // namespace headpond::internal
