// SPDX-License-Identifier: Apache-2.0
// The indexes in the cache folder: how they are written, and that those of data that nobody has read for long are
// removed.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "headpond/base/status.h"

namespace headpond::internal {

/// An index whose last use was so long ago is removed. Tests lower it.
inline std::atomic<int64_t> unused_ns = int64_t{90} * 24 * 3600 * 1'000'000'000;

/// Creates or replaces the index at `path`, and the folder: a program sees the old one or these pieces in sequence.
/// Does not wait for the disk: after a power failure the index may be gone or damaged, so all of it must have a
/// checksum. Then does remove_unused_beside(). Any thread.
Result<void> write_cached(const std::string& path, std::span<const std::span<const std::byte>> pieces);
/// Says that the index at `path`, last written or used at `modified_ns`, was used now. Writes that down once a day at
/// most, as the time of its last change. Any thread.
void note_use(const std::string& path, int64_t modified_ns);
/// Removes the index at `path`, unless another program has replaced it: it is the file that these identify. Errors are
/// ignored. Any thread.
void remove_cached(const std::string& path, uint64_t device, uint64_t inode);
/// To be called after an index was written: once for each folder and program, removes the unused indexes beside it. Any
/// thread.
void remove_unused_beside(const std::string& path);
/// Removes the unused indexes in `folder`, and what killed programs left of such as they wrote so long ago. Errors are
/// ignored. Any thread.
void remove_unused(const std::string& folder);

}  // namespace headpond::internal
