// SPDX-License-Identifier: Apache-2.0
#include "headpond/io/record/index/record_index.h"

#include <fmt/format.h>
#define XXH_INLINE_ALL  // So that nobody has to link it.
#include <xxhash.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <filesystem>
#include <memory>
#include <new>
#include <type_traits>
#include <utility>

#include "headpond/base/crc32c.h"
#include "headpond/base/mutex.h"
#include "headpond/io/file/file.h"
#include "headpond/io/file/system_internal.h"
#include "headpond/io/named_error_internal.h"
#include "headpond/io/record/index/cached_files_internal.h"
#include "headpond/io/record/record_frame_internal.h"

namespace headpond {
namespace {

constexpr std::string_view kIndexMagic = "HPRECIDX";
constexpr uint32_t kVersion = 2;
constexpr uint64_t kMappedBytes = uint64_t{64} << 10;  // A smaller index is read: its mapping would cost more.
constexpr int kMostMapped = 8192;                      // A program may map about 65,000 files.

// The layout in the file, little-endian, without gaps; reader, path, offsets, extra and the checksum follow.
struct Header {
  char magic[8];
  uint32_t version;
  uint32_t path_bytes;
  uint64_t size;
  int64_t modified_ns;
  uint64_t head_hash;
  uint64_t tail_hash;
  uint64_t records;
  int64_t changed_ns;
  uint32_t reader_bytes;
  uint32_t extra_bytes;
};
static_assert(sizeof(Header) == 72 && std::is_trivially_copyable_v<Header>);
constexpr uint64_t kCrcBytes = sizeof(uint32_t);

std::atomic<int> g_mapped = 0;

// An index file that is mapped, counted.
class MappedIndex {
 public:
  explicit MappedIndex(std::unique_ptr<MappedFile> file) : file_(std::move(file)) { ++g_mapped; }
  ~MappedIndex() { --g_mapped; }
  MappedIndex(const MappedIndex&) = delete;
  MappedIndex& operator=(const MappedIndex&) = delete;
  std::span<const std::byte> bytes() const { return file_->bytes(); }

 private:
  const std::unique_ptr<MappedFile> file_;
};

// Returns the position after them.
template <class T>
std::byte* put(std::byte* to, std::span<const T> values) {
  if (!values.empty()) std::memcpy(to, values.data(), values.size_bytes());
  return to + values.size_bytes();
}

std::string_view text_of(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

tl::unexpected<Error> refused(ErrorKind kind, std::string_view name, std::string_view what) {
  return fail(kind, fmt::format("{}: record index: {}", name, what));
}

// Branch-free, for vector code.
template <class T>
bool ascends(const std::byte* table, uint64_t offsets, uint64_t least) {
  bool fails = false;
  for (uint64_t i = 1; i < offsets; ++i) {
    const auto before = internal::load<T>(table + (i - 1) * sizeof(T)), now = internal::load<T>(table + i * sizeof(T));
    fails |= (now < before) | (static_cast<T>(now - before) < static_cast<T>(least));
  }
  return !fails;
}

}  // namespace

FileMark mark_of(const MappedFile& file) {
  const auto bytes = file.bytes();
  const size_t part = std::min<size_t>(bytes.size(), kHashedBytes);
  return {bytes.size(), file.modified_ns(), XXH3_64bits(bytes.data(), part),
          XXH3_64bits(bytes.last(part).data(), part)};
}

void RecordIndex::add(uint64_t offset, size_t most) {
  if (is_narrow()) {
    narrow_.push_back(static_cast<uint32_t>(offset), most);
  } else {
    wide_.push_back(offset, most);
  }
  ++offsets_;
}

void RecordIndex::reserve(size_t offsets) {
  if (is_narrow()) {
    narrow_.reserve(offsets);
  } else {
    wide_.reserve(offsets);
  }
}

void RecordIndex::shrink_to_fit() {
  narrow_.shrink_to_fit();
  wide_.shrink_to_fit();
}

std::span<const std::byte> RecordIndex::table() const {
  if (table_ != nullptr) return {table_, table_bytes()};
  return is_narrow() ? std::as_bytes(narrow_.values()) : std::as_bytes(wide_.values());
}

Result<RecordIndex> RecordIndex::make(const MappedFile& file) try {
  RecordIndex index(mark_of(file));
  const auto bytes = file.bytes();
  uint64_t offset = 0;
  index.add(0);
  while (true) {
    const auto frame = internal::look_at_header(bytes.data() + offset, bytes.size() - offset, UINT64_MAX);
    if (frame.state != internal::FrameState::whole) break;
    offset += internal::kFrameBytes + frame.length;
    index.add(offset);
  }
  index.shrink_to_fit();
  return index;
} catch (const std::bad_alloc&) {
  return fail(internal::no_memory(fmt::format("{}: no memory for the index of its records", file.path())));
}

std::vector<std::byte> RecordIndex::to_bytes(std::string_view path, std::string_view reader) const {
  Header header = {.magic = {},
                   .version = kVersion,
                   .path_bytes = static_cast<uint32_t>(path.size()),
                   .size = mark_.size,
                   .modified_ns = mark_.modified_ns,
                   .head_hash = mark_.head_hash,
                   .tail_hash = mark_.tail_hash,
                   .records = size(),
                   .changed_ns = changed_ns_,
                   .reader_bytes = static_cast<uint32_t>(reader.size()),
                   .extra_bytes = static_cast<uint32_t>(extra_.size())};
  std::copy(kIndexMagic.begin(), kIndexMagic.end(), header.magic);
  const auto offsets = table();
  std::vector<std::byte> bytes(sizeof header + reader.size() + path.size() + offsets.size() + extra_.size() +
                               kCrcBytes);
  std::byte* to = bytes.data();
  to = put(to, std::span<const Header>(&header, 1));
  to = put(to, std::span<const char>(reader));
  to = put(to, std::span<const char>(path));
  to = put(to, offsets);
  to = put(to, std::span<const std::byte>(extra_));
  const uint32_t crc = masked_crc32c(std::span<const std::byte>(bytes).first(bytes.size() - kCrcBytes));
  put(to, std::span<const uint32_t>(&crc, 1));
  return bytes;
}

// The offsets stay in `bytes`.
Result<RecordIndex> RecordIndex::view(std::span<const std::byte> bytes, std::string_view name, std::string_view path,
                                      std::string_view reader) {
  if (bytes.size() < sizeof(Header) + kCrcBytes) return refused(ErrorKind::DataLoss, name, "cut");
  const auto header = internal::load<Header>(bytes.data());
  if (std::string_view(header.magic, kIndexMagic.size()) != kIndexMagic) {
    return refused(ErrorKind::DataLoss, name, "another format");
  }
  const uint64_t checked = bytes.size() - kCrcBytes;
  if (masked_crc32c(bytes.first(checked)) != internal::load<uint32_t>(bytes.data() + checked)) {
    return refused(ErrorKind::DataLoss, name, "wrong checksum");
  }
  if (header.version != kVersion) {
    return refused(ErrorKind::Unimplemented, name, fmt::format("version {}, not {}", header.version, kVersion));
  }
  RecordIndex index({header.size, header.modified_ns, header.head_hash, header.tail_hash}, header.changed_ns);
  const auto rest = bytes.first(checked).subspan(sizeof(Header));
  const uint64_t names = uint64_t{header.reader_bytes} + header.path_bytes, width = index.is_narrow() ? 4 : 8;
  const uint64_t others = names + header.extra_bytes;
  if (others > rest.size() || (rest.size() - others) % width != 0 || (rest.size() - others) / width == 0 ||
      (rest.size() - others) / width - 1 != header.records) {
    return refused(ErrorKind::DataLoss, name, "its lengths contradict each other");
  }
  if (text_of(rest.first(header.reader_bytes)) != reader ||
      text_of(rest.subspan(header.reader_bytes, header.path_bytes)) != path) {
    return refused(ErrorKind::FailedPrecondition, name, "of another file");
  }
  index.offsets_ = header.records + 1;
  index.table_ = rest.data() + names;
  const auto extra = rest.last(header.extra_bytes);
  index.extra_.assign(extra.begin(), extra.end());
  const bool has_frames = reader == kTFRecordReader;
  if ((has_frames && index.offset(0) != 0) || !index.offsets_ascend(has_frames ? internal::kFrameBytes : 1)) {
    return refused(ErrorKind::DataLoss, name, "its offsets do not ascend");
  }
  return index;
}

Result<RecordIndex> RecordIndex::parse(std::span<const std::byte> bytes, std::string_view name, std::string_view path,
                                       std::string_view reader) {
  auto index = view(bytes, name, path, reader);
  if (!index) return index;
  const auto copy = std::make_shared<const std::vector<std::byte>>(index->table_, index->table_ + index->table_bytes());
  index->table_ = copy->data();
  index->memory_ = copy;
  return index;
}

Result<RecordIndex> RecordIndex::read(const std::string& where, std::string_view path, std::string_view reader) {
  const auto facts = internal::examine_path(where);
  if (!facts) return fail(facts.error());
  if (facts->size >= kMappedBytes && g_mapped < kMostMapped) {
    auto file = MappedFile::open(where);
    if (!file) return fail(std::move(file).error());
    const auto mapped = std::make_shared<const MappedIndex>(std::move(*file));
    auto index = view(mapped->bytes(), where, path, reader);
    if (index) index->memory_ = mapped;
    if (index) internal::note_use(where, facts->modified_ns);
    return index;
  }
  auto content = read_file(where);
  if (!content) return fail(std::move(content).error());
  const auto owned = std::make_shared<const std::vector<std::byte>>(std::move(*content));
  auto index = view(*owned, where, path, reader);
  if (index) index->memory_ = owned;
  if (index) internal::note_use(where, facts->modified_ns);
  return index;
}

Result<RecordIndex> RecordIndex::over(const FileMark& mark, int64_t changed_ns, std::span<const std::byte> table,
                                      std::shared_ptr<const void> memory) {
  RecordIndex index(mark, changed_ns);
  const size_t width = index.is_narrow() ? sizeof(uint32_t) : sizeof(uint64_t);
  index.offsets_ = table.size() / width;
  index.table_ = table.data();
  index.memory_ = std::move(memory);
  if (table.empty() || table.size() % width != 0) {
    return fail(ErrorKind::DataLoss, "these are no offsets of records");
  }
  return index;
}

bool RecordIndex::offsets_ascend(uint64_t least) const {
  if (offset(size()) > mark_.size) return false;
  return is_narrow() ? ascends<uint32_t>(table_, offsets_, least) : ascends<uint64_t>(table_, offsets_, least);
}

std::string internal::owner_path(const std::string& path) {
  namespace fs = std::filesystem;
  static auto* const mu = new Mutex;  // Never destroyed: a dataset may be static.
  static auto* const last = new std::pair<std::string, std::string>;
  std::error_code error;
  const auto whole = [&] {
    const std::string resolved = fs::weakly_canonical(path, error).string();
    return error ? path : resolved;
  };
  const fs::path given(path);
  const fs::path name = given.filename();
  if (!given.is_absolute() || name.empty() || name == "." || name == "..") return whole();
  if (fs::symlink_status(given, error).type() != fs::file_type::regular) return whole();
  const std::string folder = given.parent_path().string();
  {
    const MutexLock lock(*mu);
    if (last->first == folder) return last->second + name.string();
  }
  const std::string resolved = (fs::weakly_canonical(given.parent_path(), error) / "").string();
  if (error) return whole();
  const MutexLock lock(*mu);
  *last = {folder, resolved};
  return resolved + name.string();
}

Result<std::string> internal::index_path_of_owner(std::string owner, std::string_view reader) {
  auto folder = cache_folder();
  if (!folder) return folder;
  if (reader != kTFRecordReader) (owner += '\0') += reader;
  const uint64_t key = XXH3_64bits(owner.data(), owner.size());
  return fmt::format("{}/records/{:016x}.index", *folder, key);
}

Result<std::string> record_index_path(const std::string& path, std::string_view reader) {
  return internal::index_path_of_owner(internal::owner_path(path), reader);
}

}  // namespace headpond
