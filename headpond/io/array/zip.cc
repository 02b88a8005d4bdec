// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>
#include <array>
#include <memory>
#include <optional>
#include <utility>

#include "headpond/io/array/zip_internal.h"
#include "headpond/io/compression/inflate.h"
#include "headpond/io/file/file.h"
#include "headpond/io/quoted_name_internal.h"
#include "headpond/io/record/record_frame_internal.h"

namespace headpond::internal {
namespace {

constexpr uint32_t kLocalMark = 0x04034b50, kCentralMark = 0x02014b50, kEndMark = 0x06054b50;
constexpr uint32_t kEnd64Mark = 0x06064b50, kLocator64Mark = 0x07064b50;
constexpr uint64_t kLocalBytes = 30, kCentralBytes = 46, kEndBytes = 22, kEnd64Bytes = 56, kLocator64Bytes = 20;
constexpr uint64_t kLongestComment = UINT16_MAX, kLargestGrowth = 1032;
constexpr uint32_t kIn64 = UINT32_MAX;  // The value is in the zip64 part.
constexpr uint16_t kZip64 = 1, kStored = 0, kDeflated = 8, kEncrypted = 1, kSizesBehind = 8;

using Bytes = std::span<const std::byte>;

struct Directory {
  uint64_t begin, bytes, members, end;  // `end`: the end of the directory.
};

// The header of a member, in the directory or before its content.
struct Header {
  uint16_t flags, method;
  uint32_t crc;
  uint64_t packed_size, size, offset;
  std::string_view name;
  uint64_t bytes;  // Size of the header.
};

std::string_view characters(Bytes bytes) { return {reinterpret_cast<const char*>(bytes.data()), bytes.size()}; }

class ZipReader {
 public:
  ZipReader(Bytes archive, std::string_view name) : archive_(archive), name_(name) {}

  Result<std::vector<ZipMember>> read();

 private:
  tl::unexpected<Error> wrong(uint64_t offset, const std::string& what, ErrorKind kind = ErrorKind::DataLoss) const {
    return fail(kind, fmt::format("{}: zip: {}, at offset {}", name_, what, offset));
  }
  template <class T>
  T at(uint64_t offset) const {
    return load<T>(archive_.data() + offset);
  }
  bool has(uint64_t offset, uint64_t bytes) const {
    return offset <= archive_.size() && bytes <= archive_.size() - offset;
  }
  std::optional<uint64_t> find_end() const;
  Result<Directory> read_end() const;
  Result<Directory> read_end64(uint64_t end) const;
  Result<Header> read_header(uint64_t offset, bool is_local) const;
  bool take_zip64(Header& header, Bytes extra, bool is_local) const;
  Result<ZipMember> read_member(const Header& central, uint64_t offset, uint64_t end) const;

  const Bytes archive_;
  const std::string_view name_;
};

// The last end record whose comment ends with the archive.
std::optional<uint64_t> ZipReader::find_end() const {
  const uint64_t size = archive_.size();
  for (uint64_t comment = 0; comment <= kLongestComment && comment + kEndBytes <= size; ++comment) {
    const uint64_t offset = size - kEndBytes - comment;
    if (at<uint32_t>(offset) == kEndMark && at<uint16_t>(offset + 20) == comment) return offset;
  }
  return std::nullopt;
}

Result<Directory> ZipReader::read_end64(uint64_t end) const {
  const uint64_t locator = end - kLocator64Bytes, offset = at<uint64_t>(locator + 8);
  if (at<uint32_t>(locator + 4) != 0 || at<uint32_t>(locator + 16) > 1) {
    return wrong(locator, "an archive of several parts", ErrorKind::Unimplemented);
  }
  if (offset > locator || locator - offset < kEnd64Bytes || at<uint32_t>(offset) != kEnd64Mark) {
    return wrong(locator, fmt::format("no zip64 end of the directory where it is said to be, at {}", offset));
  }
  return Directory{at<uint64_t>(offset + 48), at<uint64_t>(offset + 40), at<uint64_t>(offset + 32), offset};
}

Result<Directory> ZipReader::read_end() const {
  const auto end = find_end();
  if (!end) return wrong(archive_.size(), "no end of a directory; no zip archive, or cut");
  Directory directory = {at<uint32_t>(*end + 16), at<uint32_t>(*end + 12), at<uint16_t>(*end + 10), *end};
  const bool has64 = *end >= kLocator64Bytes && at<uint32_t>(*end - kLocator64Bytes) == kLocator64Mark;
  if (has64) {
    auto read = read_end64(*end);
    if (!read) return read;
    directory = *read;
  } else if (at<uint16_t>(*end + 4) != 0 || at<uint16_t>(*end + 8) != directory.members) {
    return wrong(*end, "an archive of several parts", ErrorKind::Unimplemented);
  }
  if (directory.begin > directory.end || directory.bytes != directory.end - directory.begin) {
    return wrong(*end, fmt::format("a directory of {} bytes at {} does not end at {}", directory.bytes, directory.begin,
                                   directory.end));
  }
  if (directory.members > directory.bytes / kCentralBytes) {
    return wrong(*end, fmt::format("{} members in a directory of {} bytes", directory.members, directory.bytes));
  }
  return directory;
}

// Replaces the values that are kIn64, in the order of the zip64 part. False iff one is missing there.
bool ZipReader::take_zip64(Header& header, Bytes extra, bool is_local) const {
  std::array<uint64_t*, 3> wanted = {&header.size, &header.packed_size, is_local ? nullptr : &header.offset};
  const auto is_wanted = [](const uint64_t* number) { return number != nullptr && *number == kIn64; };
  if (std::none_of(wanted.begin(), wanted.end(), is_wanted)) return true;
  while (extra.size() >= 4) {
    const auto kind = load<uint16_t>(extra.data()), bytes = load<uint16_t>(extra.data() + 2);
    if (bytes > extra.size() - 4) return false;
    Bytes part = extra.subspan(4, bytes);
    extra = extra.subspan(4 + size_t{bytes});
    if (kind != kZip64) continue;
    for (uint64_t* number : wanted) {
      if (!is_wanted(number)) continue;
      if (part.size() < 8) return false;
      *number = load<uint64_t>(part.data());
      part = part.subspan(8);
    }
    return true;
  }
  return false;
}

Result<Header> ZipReader::read_header(uint64_t offset, bool is_local) const {
  const uint64_t fixed = is_local ? kLocalBytes : kCentralBytes, shift = is_local ? 0 : 2;
  const char* const where = is_local ? "the header of a member" : "an entry of the directory";
  if (!has(offset, fixed) || at<uint32_t>(offset) != (is_local ? kLocalMark : kCentralMark)) {
    return wrong(offset, fmt::format("{} expected", where));
  }
  const uint64_t begin = offset + 6 + shift;  // From here to the lengths both kinds of header have the same fields.
  Header header = {at<uint16_t>(begin),
                   at<uint16_t>(begin + 2),
                   at<uint32_t>(begin + 8),
                   at<uint32_t>(begin + 12),
                   at<uint32_t>(begin + 16),
                   0,
                   {},
                   0};
  const uint64_t name_bytes = at<uint16_t>(begin + 20), extra_bytes = at<uint16_t>(begin + 22);
  const uint64_t comment_bytes = is_local ? 0 : at<uint16_t>(begin + 24);
  if (!is_local) header.offset = at<uint32_t>(offset + 42);
  header.bytes = fixed + name_bytes + extra_bytes + comment_bytes;
  if (!has(offset, header.bytes)) return wrong(offset, fmt::format("{} is truncated", where));
  header.name = characters(archive_.subspan(offset + fixed, name_bytes));
  if (!take_zip64(header, archive_.subspan(offset + fixed + name_bytes, extra_bytes), is_local)) {
    return wrong(offset, fmt::format("{} has no zip64 part for its sizes", where));
  }
  return header;
}

// `end`: the end of the space that the member may occupy.
Result<ZipMember> ZipReader::read_member(const Header& central, uint64_t entry, uint64_t end) const {
  const std::string shown = quoted_name(central.name);
  if ((central.flags & kEncrypted) != 0 || (central.method != kStored && central.method != kDeflated)) {
    return wrong(entry,
                 fmt::format("member {} is encrypted or packed by method {}; 0 and 8 are read", shown, central.method),
                 ErrorKind::Unimplemented);
  }
  const auto local = read_header(central.offset, true);
  if (!local) return fail(local.error());
  const bool same_sizes =
      (local->flags & kSizesBehind) != 0 ||
      (local->size == central.size && local->packed_size == central.packed_size && local->crc == central.crc);
  if (local->name != central.name || local->method != central.method || !same_sizes) {
    return wrong(central.offset, fmt::format("member {}: its own header contradicts the directory", shown));
  }
  const uint64_t offset = central.offset + local->bytes;
  if (offset > end || central.packed_size > end - offset) {
    return wrong(central.offset, fmt::format("member {} of {} bytes overlaps another one or the directory", shown,
                                             central.packed_size));
  }
  const bool deflated = central.method == kDeflated;
  if (deflated ? central.size / kLargestGrowth > central.packed_size : central.size != central.packed_size) {
    return wrong(entry, fmt::format("member {}: {} bytes cannot be in {}", shown, central.size, central.packed_size));
  }
  return ZipMember{std::string(central.name), deflated, central.crc, central.packed_size, central.size, offset};
}

Result<std::vector<ZipMember>> ZipReader::read() {
  const auto directory = read_end();
  if (!directory) return fail(directory.error());
  std::vector<std::pair<Header, uint64_t>> entries;
  uint64_t offset = directory->begin;
  for (uint64_t i = 0; i < directory->members; ++i) {
    const auto header = read_header(offset, false);
    if (!header) return fail(header.error());
    if (header->bytes > directory->end - offset) return wrong(offset, "an entry goes beyond the directory");
    entries.emplace_back(*header, offset);
    offset += header->bytes;
  }
  if (offset != directory->end) return wrong(offset, "the directory has more bytes than entries");
  std::vector<uint64_t> begins = {directory->begin};
  for (const auto& [header, entry] : entries) begins.push_back(header.offset);
  std::sort(begins.begin(), begins.end());
  std::vector<ZipMember> members;
  for (const auto& [header, entry] : entries) {
    const auto next = std::upper_bound(begins.begin(), begins.end(), header.offset);
    const bool is_shared = next - std::lower_bound(begins.begin(), begins.end(), header.offset) > 1;
    if (header.offset >= directory->begin || is_shared) {
      return wrong(entry, fmt::format("member {} begins at {}, inside the directory or another one",
                                      quoted_name(header.name), header.offset));
    }
    auto member = read_member(header, entry, *next);
    if (!member) return fail(std::move(member).error());
    if (!member->name.ends_with('/')) members.push_back(std::move(*member));
  }
  return members;
}

Result<void> check_crc(Bytes content, const ZipMember& member, std::string_view name) {
  const auto crc = static_cast<uint32_t>(crc32_z(0, reinterpret_cast<const Bytef*>(content.data()), content.size()));
  if (crc == member.crc) return {};
  return fail(ErrorKind::DataLoss, fmt::format("{}: zip: member {}: CRC-32 {:08x} expected, {:08x} found", name,
                                               quoted_name(member.name), member.crc, crc));
}

// A gzip member with this content: a header, the compressed bytes, a trailer.
class AsGzip final : public ByteReader {
 public:
  AsGzip(Bytes packed, const ZipMember& member, std::string name) : packed_(packed), name_(std::move(name)) {
    const auto size = static_cast<uint32_t>(member.size);
    for (size_t i = 0; i < 4; ++i) {
      trailer_[i] = static_cast<std::byte>(member.crc >> (8 * i) & 0xff);
      trailer_[4 + i] = static_cast<std::byte>(size >> (8 * i) & 0xff);
    }
  }
  Result<size_t> read(std::span<std::byte> to) override {
    for (Bytes* part : {&header_left_, &packed_, &trailer_left_}) {
      if (part->empty()) continue;
      const size_t count = std::min(to.size(), part->size());
      std::copy_n(part->begin(), count, to.begin());
      *part = part->subspan(count);
      return count;
    }
    return 0;
  }
  uint64_t left_at_most() const override { return header_left_.size() + packed_.size() + trailer_left_.size(); }
  const std::string& name() const override { return name_; }

 private:
  static constexpr std::array<std::byte, 10> kHeader = {std::byte{0x1f}, std::byte{0x8b}, std::byte{8}};
  std::array<std::byte, 8> trailer_ = {};
  Bytes header_left_ = kHeader, packed_, trailer_left_ = trailer_;
  const std::string name_;
};

}  // namespace

Result<std::vector<ZipMember>> index_zip(std::span<const std::byte> archive, std::string_view name) {
  return ZipReader(archive, name).read();
}

Result<std::span<const std::byte>> stored_content(std::span<const std::byte> archive, const ZipMember& member,
                                                  std::string_view name) {
  const auto content = archive.subspan(member.offset, member.packed_size);
  HEADPOND_TRY(check_crc(content, member, name));
  return content;
}

Result<std::vector<std::byte>> unzip(std::span<const std::byte> archive, const ZipMember& member,
                                     std::string_view name) {
  const auto packed = archive.subspan(member.offset, member.packed_size);
  if (!member.is_deflated) {
    HEADPOND_TRY(check_crc(packed, member, name));
    return std::vector<std::byte>(packed.begin(), packed.end());
  }
  const std::string shown = fmt::format("{}: zip: member {}", name, quoted_name(member.name));
  const auto reader = make_gzip_reader(std::make_unique<AsGzip>(packed, member, shown), member.size);
  std::vector<std::byte> content(member.size);
  const auto got = read_fully(*reader, content);
  if (!got) return fail(got.error());
  // Also verifies the end of the stream.
  std::byte more;
  const auto after = reader->read({&more, 1});
  if (!after && after.error().kind() == ErrorKind::DataLoss) return fail(after.error());
  if (!after || *after != 0 || *got != member.size) {
    return fail(ErrorKind::DataLoss, fmt::format("{}: {} bytes expected, {}", shown, member.size,
                                                 *got < member.size ? fmt::format("{} found", *got) : "more found"));
  }
  HEADPOND_TRY(check_crc(content, member, name));
  return content;
}

}  // namespace headpond::internal
