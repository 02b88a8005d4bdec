// SPDX-License-Identifier: Apache-2.0
// The pages of files that a process has mapped as data.
#pragma once

#include <cstdint>
#include <istream>

namespace headpond::internal {

/// From /proc/self/smaps, or `smaps`: the proportional set size of mappings of files. Programs and libraries, of which
/// some mapping can be executed, do not count. 0 where the system does not report it. Takes about a millisecond per
/// gigabyte that is mapped.
int64_t mapped_data_bytes();
int64_t mapped_data_bytes(std::istream& smaps);

}  // namespace headpond::internal
