// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <array>
#include <chrono>
#include <cstddef>
#include <span>
#include <utility>
#include <vector>

#include "headpond/base/log.h"
#include "headpond/io/file/system_internal.h"
#include "headpond/io/record/index/cached_files_internal.h"
#include "headpond/io/record/index/cached_index_internal.h"

namespace headpond::internal {
int64_t settled_change_of(const MappedFile& file) {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  const int64_t now_ns = std::chrono::duration_cast<std::chrono::nanoseconds>(now).count();
  return file.changed_ns() > now_ns - youngest_indexed_ns ? 0 : file.changed_ns();
}

CachedIndex::CachedIndex(const MappedFile& file, std::string reader, bool is_cached)
    : file_(file), reader_(std::move(reader)), mark_(mark_of(file)), changed_ns_(settled_change_of(file)) {
  if (is_cached && changed_ns_ != 0) where_ = record_index_path(file.path(), reader_).value_or("");
}

bool CachedIndex::belongs(const RecordIndex& index) const {
  return changed_ns_ != 0 && index.changed_ns() == changed_ns_ && index.mark() == mark_;
}

std::shared_ptr<const RecordIndex> CachedIndex::find(std::shared_ptr<const RecordIndex> known) const {
  if (known != nullptr && belongs(*known)) return known;
  if (where_.empty()) return nullptr;
  auto cached = RecordIndex::read(where_, owner_path(file_.path()), reader_);
  return cached && belongs(*cached) ? std::make_shared<const RecordIndex>(std::move(*cached)) : nullptr;
}

void CachedIndex::keep(const RecordIndex& index) const {
  if (where_.empty()) return;
  const auto now = examine_path(file_.path());
  if (!now || now->size != mark_.size || now->modified_ns != mark_.modified_ns || now->changed_ns != changed_ns_)
    return;
  const std::vector<std::byte> bytes = index.to_bytes(owner_path(file_.path()), reader_);
  const auto kept = write_cached(where_, std::array{std::span<const std::byte>(bytes)});
  if (kept) return;
  log(LogLevel::info, fmt::format("the record index of {} is not kept: {}", file_.path(), kept.error().to_string()));
}

}  // namespace headpond::internal
