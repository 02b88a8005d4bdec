// SPDX-License-Identifier: Apache-2.0
// The data files of a cache: each is appended to by one process at a time, and mapped by all that read it.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "headpond/base/mutex.h"
#include "headpond/base/status.h"
#include "headpond/io/cache/cache_index_internal.h"
#include "headpond/io/file/mapping_guard_internal.h"
#include "headpond/io/file/system_internal.h"
#include "headpond/tensor/buffer.h"

namespace headpond::internal {

/// A data file is not appended to beyond this, unless a single record is larger.
inline std::atomic<uint64_t> segment_bytes = uint64_t{1} << 30;

/// Thread-safe.
class CacheSegments {
 public:
  explicit CacheSegments(std::string folder) : folder_(std::move(folder)) {}
  ~CacheSegments();
  CacheSegments(const CacheSegments&) = delete;
  CacheSegments& operator=(const CacheSegments&) = delete;

  struct Place {
    uint32_t segment = 0;
    uint64_t offset = 0;
  };
  /// Appends a record to this process's data file, which is an unfinished one that no process has locked, or else a new
  /// one. Errors of the system; ResourceExhausted for too many files.
  Result<Place> append(std::span<const std::byte> record);

  struct Bytes {
    std::span<const std::byte> bytes;
    BufferRef owner;  ///< Keeps them mapped.
  };
  /// The mapped bytes. DataLoss iff the file ends before them, or is not the one that was mapped first: the cache may
  /// have been removed, and made again by another process. Errors of the system. They are zeros if the file was cut
  /// after it was mapped: check them.
  Result<Bytes> read(uint32_t segment, uint64_t offset, uint64_t size) const;
  /// True iff a page of this file was missing when it was read, since it was mapped. Then the next read() maps it anew.
  bool forget_if_lost(uint32_t segment) const;

  /// Appended by this object, in bytes.
  uint64_t appended() const { return appended_.load(std::memory_order_relaxed); }

  /// "data-0000" and so on.
  static std::string file_name(uint32_t segment);

 private:
  struct Mapping;
  struct Segment {
    std::atomic<Mapping*> mapping = nullptr;  // The current one.
    std::optional<FileFacts> first = {};      // Facts of the file that was mapped first. With mapping_.
  };
  struct Writer {
    UniqueFd file;  // Locked.
    std::string path;
    uint32_t segment = 0;
  };
  using Row = std::array<Segment, 256>;

  std::string path_of(uint32_t segment) const;
  Segment& segment(uint32_t number) const;
  Result<const Mapping*> map(uint32_t number, uint64_t end) const;
  Result<void> open_writer(uint64_t size) HEADPOND_REQUIRES(writing_);
  Result<bool> take_unfinished(uint32_t number) HEADPOND_REQUIRES(writing_);
  Result<bool> take_new(uint32_t number) HEADPOND_REQUIRES(writing_);
  uint32_t next_number() const;

  const std::string folder_;
  std::atomic<uint64_t> appended_ = 0;

  Mutex writing_;  // Not while bytes are written.
  std::shared_ptr<const Writer> writer_ HEADPOND_GUARDED_BY(writing_);
  uint64_t end_ HEADPOND_GUARDED_BY(writing_) = 0;  // End of what is written, or being written, to the writer's file.

  mutable Mutex mapping_;  // While a file is mapped.
  mutable std::array<std::atomic<Row*>, kMostSegments / 256> rows_{};
  mutable std::vector<std::unique_ptr<Row>> all_rows_ HEADPOND_GUARDED_BY(mapping_);
  mutable std::vector<BufferRef> all_mappings_ HEADPOND_GUARDED_BY(mapping_);
  mutable std::atomic<uint64_t> touched_ = 0;  // Bytes read since mapped pages were last given back.
  void give_pages_back() const;
};

}  // namespace headpond::internal
