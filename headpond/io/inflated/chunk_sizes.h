// SPDX-License-Identifier: Apache-2.0
// When a gzip file is inflated by chunks, and how large these are. Not for users.
#pragma once

#include <atomic>
#include <cstdint>

namespace headpond::internal {

/// A compressed file below this is inflated into memory. Tests lower it.
inline std::atomic<uint64_t> least_chunked_bytes = uint64_t{256} << 10;
/// Inflated bytes between two points, at least. Tests lower it.
inline std::atomic<uint64_t> chunk_bytes = uint64_t{1} << 20;

}  // namespace headpond::internal
