// SPDX-License-Identifier: Apache-2.0
#include "headpond/io/record/set_index.h"

#include <fmt/format.h>
#define XXH_INLINE_ALL  // So that nobody has to link it.
#include <xxhash.h>

#include <cstring>
#include <filesystem>
#include <type_traits>

#include "headpond/base/crc32c.h"
#include "headpond/io/file/file.h"
#include "headpond/io/file/system_internal.h"
#include "headpond/io/record/kept_files_internal.h"

namespace headpond {
namespace {

// The layout in the file, little-endian, without gaps: a header, the files, a CRC-32C of both.
struct Header {
  char magic[8] = {'H', 'P', 'S', 'E', 'T', 'I', 'D', 'X'};
  uint64_t version = 2;
  uint64_t key[2] = {};
  uint64_t files = 0;
};
struct Row {
  uint64_t size, modified_ns, changed_ns, inode, head_hash, tail_hash, records;
};
static_assert(sizeof(Header) == 40 && std::is_trivially_copyable_v<Header> && sizeof(Row) == 56);

bool is_absolute_and_normal(std::string_view path) {
  return path.starts_with('/') && path.find("//") == path.npos && path.find("/./") == path.npos &&
         path.find("/../") == path.npos && !path.ends_with("/.") && !path.ends_with("/..");
}

std::string absolute(const std::string& path) {
  if (is_absolute_and_normal(path)) return path;
  std::error_code error;
  const auto full = std::filesystem::absolute(path, error);
  return error ? path : full.lexically_normal().string();
}

uint32_t checksum(std::span<const std::byte> header, std::span<const std::byte> rows) {
  return crc32c_extend(crc32c(header), rows);
}

}  // namespace

Result<FileStamp> stamp_of(const std::string& path) {
  const auto facts = internal::examine_path(path);
  if (!facts) return fail(facts.error());
  return FileStamp{facts->size, facts->modified_ns, facts->changed_ns, facts->inode};
}

SetIndex::SetIndex(std::string_view reader, std::span<const std::string> paths) : files_(paths.size()) {
  std::string all(reader);
  for (const std::string& path : paths) (all += '\0') += absolute(path);
  const XXH128_hash_t key = XXH3_128bits(all.data(), all.size());
  key_[0] = key.low64;
  key_[1] = key.high64;
  if (const auto folder = cache_folder())
    path_ = fmt::format("{}/sets/{:016x}{:016x}.index", *folder, key_[1], key_[0]);
}

std::optional<std::vector<CountedFile>> SetIndex::read() const {
  if (path_.empty()) return std::nullopt;
  const size_t rows_bytes = files_ * sizeof(Row), size = sizeof(Header) + rows_bytes + sizeof(uint32_t);
  const auto content = read_file(path_, size);
  if (!content || content->size() != size) return std::nullopt;
  const std::span<const std::byte> bytes = *content;
  uint32_t sum = 0;
  std::memcpy(&sum, bytes.last(sizeof(sum)).data(), sizeof(sum));
  Header header, expected;
  std::memcpy(&header, bytes.data(), sizeof(header));
  std::memcpy(expected.key, key_, sizeof(key_));
  expected.files = files_;
  if (std::memcmp(&header, &expected, sizeof(header)) != 0) return std::nullopt;
  if (sum != checksum(bytes.first(sizeof(header)), bytes.subspan(sizeof(header), rows_bytes))) return std::nullopt;
  if (const auto facts = internal::examine_path(path_)) internal::note_use(path_, facts->modified_ns);
  std::vector<CountedFile> files;
  files.reserve(files_);
  for (size_t i = 0; i < files_; ++i) {
    Row row;
    std::memcpy(&row, bytes.data() + sizeof(Header) + i * sizeof(Row), sizeof(row));
    const auto modified_ns = static_cast<int64_t>(row.modified_ns);
    files.push_back({{row.size, modified_ns, static_cast<int64_t>(row.changed_ns), row.inode},
                     {row.size, modified_ns, row.head_hash, row.tail_hash},
                     static_cast<int64_t>(row.records)});
  }
  return files;
}

Result<void> SetIndex::keep(std::span<const CountedFile> files) const {
  if (path_.empty()) return fail(ErrorKind::FailedPrecondition, "there is no cache folder");
  Header header;
  std::memcpy(header.key, key_, sizeof(key_));
  header.files = files.size();
  std::vector<Row> rows;
  for (const CountedFile& file : files) {
    rows.push_back({file.stamp.size, static_cast<uint64_t>(file.stamp.modified_ns),
                    static_cast<uint64_t>(file.stamp.changed_ns), file.stamp.inode, file.mark.head_hash,
                    file.mark.tail_hash, static_cast<uint64_t>(file.records)});
  }
  const auto head = std::as_bytes(std::span(&header, 1)), body = std::as_bytes(std::span<const Row>(rows));
  const uint32_t sum = checksum(head, body);
  HEADPOND_TRY(make_folders(std::filesystem::path(path_).parent_path().string()));
  HEADPOND_TRY(write_file_atomically(path_, {head, body, std::as_bytes(std::span(&sum, 1))}));
  internal::remove_unused_beside(path_);
  return {};
}

}  // namespace headpond
