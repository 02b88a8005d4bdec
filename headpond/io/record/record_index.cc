// SPDX-License-Identifier: Apache-2.0
#include "headpond/io/record/record_index.h"

#include <fmt/format.h>
#define XXH_INLINE_ALL  // So that nobody has to link it.
#include <xxhash.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <new>
#include <utility>

#include "headpond/base/crc32c.h"
#include "headpond/io/file/file.h"
#include "headpond/io/record/record_frame_internal.h"

namespace headpond {
namespace {

constexpr std::string_view kMagic = "HPRECIDX";
constexpr uint32_t kVersion = 1;
constexpr uint64_t kNarrowFile = uint64_t{1} << 32;

// The layout in the file, little-endian, without gaps; path, offsets and the checksum follow.
struct Header {
  char magic[8];
  uint32_t version;
  uint32_t path_bytes;
  uint64_t size;
  int64_t modified_ns;
  uint64_t head_hash;
  uint64_t tail_hash;
  uint64_t records;
};
static_assert(sizeof(Header) == 56 && std::is_trivially_copyable_v<Header>);
constexpr uint64_t kCrcBytes = sizeof(uint32_t);

// Returns the position after them.
template <class T>
std::byte* put(std::byte* to, std::span<const T> values) {
  if (!values.empty()) std::memcpy(to, values.data(), values.size_bytes());
  return to + values.size_bytes();
}

uint64_t width_of(uint64_t file_size) { return file_size < kNarrowFile ? sizeof(uint32_t) : sizeof(uint64_t); }

tl::unexpected<Error> refused(ErrorKind kind, std::string_view name, std::string_view what) {
  return fail(kind, fmt::format("{}: record index: {}", name, what));
}

}  // namespace

FileMark mark_of(const MappedFile& file) {
  const auto bytes = file.bytes();
  const size_t part = std::min<size_t>(bytes.size(), kHashedBytes);
  return {bytes.size(), file.modified_ns(), XXH3_64bits(bytes.data(), part),
          XXH3_64bits(bytes.last(part).data(), part)};
}

void RecordIndex::add(uint64_t offset) {
  if (mark_.size < kNarrowFile) {
    narrow_.push_back(static_cast<uint32_t>(offset));
  } else {
    wide_.push_back(offset);
  }
}

Result<RecordIndex> RecordIndex::make(const MappedFile& file) try {
  RecordIndex index;
  index.mark_ = mark_of(file);
  const auto bytes = file.bytes();
  uint64_t offset = 0;
  index.add(0);
  while (true) {
    const auto frame = internal::look_at_header(bytes.data() + offset, bytes.size() - offset, UINT64_MAX);
    if (frame.state != internal::FrameState::whole) break;
    offset += internal::kFrameBytes + frame.length;
    index.add(offset);
    ++index.size_;
  }
  index.narrow_.shrink_to_fit();
  index.wide_.shrink_to_fit();
  return index;
} catch (const std::bad_alloc&) {
  return fail(ErrorKind::ResourceExhausted, fmt::format("{}: no memory for the index of its records", file.path()));
}

std::vector<std::byte> RecordIndex::to_bytes(std::string_view path) const {
  Header header = {{},
                   kVersion,
                   static_cast<uint32_t>(path.size()),
                   mark_.size,
                   mark_.modified_ns,
                   mark_.head_hash,
                   mark_.tail_hash,
                   size_};
  std::copy(kMagic.begin(), kMagic.end(), header.magic);
  std::vector<std::byte> bytes(sizeof header + path.size() + narrow_.size() * sizeof(uint32_t) +
                               wide_.size() * sizeof(uint64_t) + kCrcBytes);
  std::byte* to = bytes.data();
  to = put(to, std::span<const Header>(&header, 1));
  to = put(to, std::span<const char>(path));
  to = put(to, std::span<const uint32_t>(narrow_));
  to = put(to, std::span<const uint64_t>(wide_));
  const uint32_t crc = masked_crc32c(std::span<const std::byte>(bytes).first(bytes.size() - kCrcBytes));
  put(to, std::span<const uint32_t>(&crc, 1));
  return bytes;
}

Result<RecordIndex> RecordIndex::parse(std::span<const std::byte> bytes, std::string_view name, std::string_view path) {
  if (bytes.size() < sizeof(Header) + kCrcBytes) return refused(ErrorKind::DataLoss, name, "cut");
  const auto header = internal::load<Header>(bytes.data());
  if (std::string_view(header.magic, kMagic.size()) != kMagic) {
    return refused(ErrorKind::DataLoss, name, "another format");
  }
  const uint64_t checked = bytes.size() - kCrcBytes;
  if (masked_crc32c(bytes.first(checked)) != internal::load<uint32_t>(bytes.data() + checked)) {
    return refused(ErrorKind::DataLoss, name, "wrong checksum");
  }
  if (header.version != kVersion) {
    return refused(ErrorKind::Unimplemented, name, fmt::format("version {}, not {}", header.version, kVersion));
  }
  const auto rest = bytes.first(checked).subspan(sizeof(Header));
  const uint64_t path_bytes = header.path_bytes, width = width_of(header.size);
  if (path_bytes > rest.size() || (rest.size() - path_bytes) % width != 0 || (rest.size() - path_bytes) / width == 0 ||
      (rest.size() - path_bytes) / width - 1 != header.records) {
    return refused(ErrorKind::DataLoss, name, "its lengths contradict each other");
  }
  if (std::string_view(reinterpret_cast<const char*>(rest.data()), path_bytes) != path) {
    return refused(ErrorKind::FailedPrecondition, name, "of another file");
  }
  RecordIndex index;
  index.mark_ = {header.size, header.modified_ns, header.head_hash, header.tail_hash};
  index.size_ = header.records;
  index.take_offsets(rest.subspan(path_bytes));
  if (!index.offsets_ascend()) return refused(ErrorKind::DataLoss, name, "its offsets do not ascend");
  return index;
}

void RecordIndex::take_offsets(std::span<const std::byte> from) {
  const auto fill = [&](auto& offsets) {
    offsets.resize(size_ + 1);
    std::memcpy(offsets.data(), from.data(), from.size());
  };
  if (mark_.size < kNarrowFile) {
    fill(narrow_);
  } else {
    fill(wide_);
  }
}

bool RecordIndex::offsets_ascend() const {
  if (offset(0) != 0 || offset(size_) > mark_.size) return false;
  for (uint64_t i = 0; i < size_; ++i) {
    if (offset(i + 1) < offset(i) || offset(i + 1) - offset(i) < internal::kFrameBytes) return false;
  }
  return true;
}

Result<std::string> record_index_path(const std::string& path) {
  auto folder = cache_folder();
  if (!folder) return folder;
  std::error_code error;
  const std::string absolute = std::filesystem::weakly_canonical(path, error).string();
  const uint64_t key = XXH3_64bits(absolute.data(), absolute.size());
  return fmt::format("{}/records/{:016x}.index", *folder, key);
}

}  // namespace headpond
