// SPDX-License-Identifier: Apache-2.0
// The counts and offsets of a data set's files from any bytes: refused, or offsets that ascend within their file. The
// first byte says how many files there are, and whether lengths and checksums are made right, so that the rest is
// parsed too. The input's rows follow, then the offsets of each file.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <memory>
#include <span>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "headpond/base/crc32c.h"
#include "headpond/io/file/file.h"
#include "headpond/io/record/index/set_index.h"

namespace {

using Bytes = std::vector<std::byte>;
constexpr size_t kHeaderBytes = 40, kRowBytes = 88, kBlockBytes = 1024;
constexpr size_t kOffsetsBytes = 72, kSumsCrc = 80;  // In a row.

// A cache folder of this process, which goes with it.
struct Folder {
  Folder() {
    std::string name = (std::filesystem::temp_directory_path() / "headpond-fuzz-XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr || ::setenv("XDG_CACHE_HOME", name.c_str(), 1) != 0) std::abort();
    path = name;
  }
  ~Folder() {
    std::error_code ignored;
    std::filesystem::remove_all(path, ignored);
  }
  std::string path;
};

void append(Bytes& to, std::span<const std::byte> bytes) { to.insert(to.end(), bytes.begin(), bytes.end()); }

template <class T>
void append_number(Bytes& to, T number) {
  append(to, std::as_bytes(std::span<const T>(&number, 1)));
}

// What the file has after its header.
Bytes mended(std::span<const std::byte> header, std::span<const std::byte> from, size_t files) {
  Bytes rows(files * kRowBytes), tables;
  const size_t given = std::min(rows.size(), from.size());
  std::copy_n(from.begin(), given, rows.begin());
  std::span<const std::byte> left = from.subspan(given);
  for (size_t n = 0; n < files; ++n) {
    std::byte* const row = rows.data() + n * kRowBytes;
    uint64_t bytes = 0;
    std::memcpy(&bytes, row + kOffsetsBytes, sizeof(bytes));
    bytes = std::min<uint64_t>(bytes % (4 * kBlockBytes), left.size());
    std::memcpy(row + kOffsetsBytes, &bytes, sizeof(bytes));
    const auto table = left.first(bytes);
    left = left.subspan(bytes);
    Bytes sums;
    for (size_t at = 0; at < table.size(); at += kBlockBytes) {
      append_number(sums, headpond::crc32c(table.subspan(at, std::min(table.size() - at, kBlockBytes))));
    }
    const uint64_t sum = headpond::crc32c(sums);
    std::memcpy(row + kSumsCrc, &sum, sizeof(sum));
    append(tables, table);
    append(tables, sums);
  }
  const uint32_t sum = headpond::crc32c_extend(headpond::crc32c(header), rows);
  Bytes all = std::move(rows);
  append_number(all, sum);
  append(all, tables);
  return all;
}

void check(const std::shared_ptr<const headpond::CachedSet>& set) {
  for (size_t n = 0; n < set->files.size(); ++n) {
    if (!set->has_offsets(n)) continue;
    const headpond::KnownOffsets known(set, n);
    const auto all = known.all();
    if (all == nullptr) continue;
    if (all->size() != known.size() || all->offset(all->size()) > known.mark().size) __builtin_trap();
    for (uint64_t i = 0; i < all->size(); ++i) {
      if (all->offset(i) > all->offset(i + 1)) __builtin_trap();
      const auto range = known.range(i);
      if (range && (range->begin != all->offset(i) || range->end != all->offset(i + 1))) __builtin_trap();
    }
  }
}

// The entry of so many files, and the header that it has.
struct Entry {
  explicit Entry(size_t files) : index("fuzz", paths_of(files)) {
    if (!index.keep(std::vector<headpond::CountedFile>(files))) std::abort();
    header = headpond::read_file(index.path()).value();
    header.resize(kHeaderBytes);
  }
  static std::vector<std::string> paths_of(size_t files) {
    std::vector<std::string> paths;
    for (size_t n = 0; n < files; ++n) paths.push_back("/" + std::to_string(n));
    return paths;
  }
  const headpond::SetIndex index;
  Bytes header;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const Folder folder;
  static const std::array<Entry, 4> entries = {Entry(0), Entry(1), Entry(2), Entry(3)};
  if (size < 1) return 0;
  const size_t files = data[0] % entries.size();
  const Entry& entry = entries[files];
  const std::span<const std::byte> given = std::as_bytes(std::span(data + 1, size - 1));
  Bytes bytes = entry.header;
  append(bytes, data[0] < 128 ? mended(bytes, given, files) : Bytes(given.begin(), given.end()));
  std::ofstream file(entry.index.path(), std::ios::binary);
  file.write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  file.close();
  const auto set = entry.index.read();
  if (set != nullptr) check(set);
  return 0;
}
