// SPDX-License-Identifier: Apache-2.0
// Not for users.
#pragma once

namespace headpond {

/// Clears the upper halves of this thread's vector registers. ISA-L returns with them in use; until they are cleared,
/// every SSE instruction of the thread depends on them and runs several times slower.
void clear_upper_halves();

}  // namespace headpond
