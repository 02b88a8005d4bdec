// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <string_view>
#include <utility>

#include "headpond/io/archive/tar_walker_internal.h"
#include "headpond/io/compression/inflate.h"

namespace headpond::internal {
namespace {

// Fields of a header: offset and length.
struct Field {
  size_t offset, length;
};
constexpr Field kName = {0, 100}, kSize = {124, 12}, kChecksum = {148, 8}, kMagic = {257, 8}, kPrefix = {345, 155};
constexpr size_t kType = 156;
constexpr uint64_t kLargest = INT64_MAX;

std::span<const std::byte> field_of(std::span<const std::byte> block, Field field) {
  return block.subspan(field.offset, field.length);
}

std::string_view characters(std::span<const std::byte> field) {
  return {reinterpret_cast<const char*>(field.data()), field.size()};
}

// Up to the first NUL.
std::string_view text(std::span<const std::byte> field) {
  const std::string_view whole = characters(field);
  return whole.substr(0, whole.find('\0'));
}

bool is_regular(char type) { return type == '0' || type == '\0' || type == '7'; }
// Links, devices, folders and FIFOs have no content, whatever their size says.
bool has_content(char type) { return type < '1' || type > '6'; }

// The compression by the first bytes; empty if unknown. zlib's two bytes may also begin a name.
std::string_view compression_of(std::span<const std::byte> bytes) {
  if (is_gzip(bytes)) return "gzip";
  if (const std::string_view other = unsupported_compression(bytes); !other.empty()) return other;
  const bool is_ustar = bytes.size() == kTarBlock && characters(field_of(bytes, kMagic)).starts_with("ustar");
  return is_zlib(bytes) && !is_ustar ? "zlib" : "";
}

bool is_zero(const TarBlock& block) {
  return std::all_of(block.begin(), block.end(), [](std::byte b) { return b == std::byte{0}; });
}

uint64_t padding_of(uint64_t size) { return (kTarBlock - size % kTarBlock) % kTarBlock; }

}  // namespace

tl::unexpected<Error> TarWalker::fail_at(ErrorKind kind, const std::string& what) const {
  return fail(kind, fmt::format("{}: {}, in the tar header at offset {}", name_, what, header_));
}

tl::unexpected<Error> TarWalker::no_header(std::span<const std::byte> bytes, const std::string& what) const {
  if (header_ != 0) return fail_at(ErrorKind::DataLoss, what);
  const std::string_view compression = compression_of(bytes);
  if (compression.empty()) return fail_at(ErrorKind::DataLoss, what + "; it may not be a tar archive");
  const bool can_inflate = compression == "gzip" || compression == "zlib";
  return fail(ErrorKind::Unimplemented,
              fmt::format("{}: compressed by {}: random access requires an uncompressed archive; decompress it{}",
                          name_, compression, can_inflate ? ", or read it in order, inflated" : ""));
}

Result<std::optional<TarMember>> TarWalker::next() {
  ahead_ = {};
  while (!ended_) {
    HEADPOND_TRY(leave_content());
    header_ = offset_;
    if (ahead_.headers == 0) begin_ = header_;
    TarBlock block;
    const auto more = read_block(block);
    if (!more) return fail(more.error());
    if (!*more) {
      HEADPOND_TRY(end(offset_ > header_));
      break;
    }
    auto header = parse(block);
    if (!header) return fail(std::move(header).error());
    if (const std::string_view extensions = "xXgLK"; extensions.find(header->type) != std::string_view::npos) {
      HEADPOND_TRY(take_extension(*header));
      continue;
    }
    HEADPOND_TRY(apply_attributes(*header));
    const bool is_folder = header->type == '\0' && header->name.ends_with('/');
    if (!has_content(header->type) || is_folder) header->size = 0;
    HEADPOND_TRY(check_follows(header->size, "member"));
    content_ = header->size;
    padding_ = padding_of(content_);
    if (is_regular(header->type) && !is_folder) {
      return TarMember{std::move(header->name), offset_, header->size};
    }
    ++skipped_;
    ahead_ = {};
  }
  return std::optional<TarMember>();
}

// `has_block`: a block of zeros was read.
Result<void> TarWalker::end(bool has_block) {
  TarBlock second;
  const auto got = has_block ? source_.read(second) : 0;
  if (!got) return fail(got.error());
  has_end_ = *got == second.size() && is_zero(second);
  // An inflating reader verifies its checksums only at the end.
  const auto rest = source_.skip(UINT64_MAX);
  if (!rest) return fail(rest.error());
  ended_ = true;
  if (!ahead_.announces) return {};
  return fail(ErrorKind::DataLoss,
              fmt::format("{}: the archive ends at offset {}, where a member is announced", name_, header_));
}

Result<size_t> TarWalker::read(std::span<std::byte> to) {
  const auto wanted = static_cast<size_t>(std::min<uint64_t>(to.size(), content_));
  auto got = source_.read(to.first(wanted));
  if (!got) return got;
  offset_ += *got;
  content_ -= *got;
  if (*got == wanted) return got;
  return fail_at(ErrorKind::DataLoss,
                 fmt::format("the archive ends at offset {}, inside the member's content", offset_));
}

// A size may be too large for the archive, or exceed a limit of its reader, which then reports it.
Result<void> TarWalker::check_follows(uint64_t size, const char* what) {
  const uint64_t most = source_.left_at_most();
  if (size <= most) return {};
  const auto rest = source_.skip(size);
  if (!rest) return fail(rest.error());
  return fail_at(ErrorKind::DataLoss, fmt::format("a {} of {} bytes, where at most {} follow", what, size, most));
}

Result<void> TarWalker::leave_content() {
  for (uint64_t* part : {&content_, &padding_}) {
    const auto gone = source_.skip(*part);
    if (!gone) return fail(gone.error());
    offset_ += *gone;
    // The zeros that fill the last block may be missing, like the end blocks.
    if (*gone != *part && part == &content_) {
      return fail_at(ErrorKind::DataLoss,
                     fmt::format("the archive ends at offset {}, inside the member's content", offset_));
    }
    *part = 0;
  }
  return {};
}

// False at the end: no more bytes, or a block of zeros.
Result<bool> TarWalker::read_block(TarBlock& block) {
  const auto got = source_.read(block);
  if (!got) return fail(got.error());
  offset_ += *got;
  if (*got == 0) return false;
  if (*got == block.size()) return !is_zero(block);
  return no_header(std::span(block).first(*got), fmt::format("{} bytes expected, {} found", block.size(), *got));
}

Result<TarWalker::Header> TarWalker::parse(const TarBlock& block) const {
  uint64_t sum = 0;
  int64_t signed_sum = 0;
  for (size_t i = 0; i < block.size(); ++i) {
    const bool own = i >= kChecksum.offset && i < kChecksum.offset + kChecksum.length;
    sum += own ? ' ' : static_cast<unsigned char>(block[i]);
    signed_sum += own ? ' ' : static_cast<signed char>(block[i]);
  }
  const auto found = number(field_of(block, kChecksum), "checksum");
  if (!found || (*found != sum && static_cast<int64_t>(*found) != signed_sum)) {
    return no_header(
        block, fmt::format("checksum {} expected, '{}' found", sum, found ? std::to_string(*found) : "no number"));
  }
  Header header;
  header.type = static_cast<char>(block[kType]);
  const auto size = number(field_of(block, kSize), "size");
  if (!size) return fail(size.error());
  header.size = *size;
  const std::string_view prefix = text(field_of(block, kPrefix));
  const bool has_prefix = characters(field_of(block, kMagic)).starts_with(std::string_view("ustar\0", 6));
  if (has_prefix && !prefix.empty()) header.name = std::string(prefix) + "/";
  header.name += text(field_of(block, kName));
  return header;
}

// Octal digits between spaces and NULs, or GNU's form: a binary number after a set bit.
Result<uint64_t> TarWalker::number(std::span<const std::byte> field, const char* what) const {
  uint64_t value = 0;
  if ((field[0] & std::byte{0x80}) != std::byte{0}) {
    const bool is_negative = (field[0] & std::byte{0x40}) != std::byte{0};
    bool is_large = (field[0] & std::byte{0x3f}) != std::byte{0};
    for (const std::byte digit : field.subspan(1)) {
      is_large = is_large || value >> 55 != 0;
      value = value << 8 | static_cast<uint64_t>(digit);
    }
    if (!is_negative && !is_large) return value;
    return fail_at(ErrorKind::DataLoss, fmt::format("a {} {}", is_negative ? "negative" : "too large", what));
  }
  std::string_view digits = text(field);
  digits.remove_prefix(std::min(digits.find_first_not_of(' '), digits.size()));
  digits = digits.substr(0, digits.find_last_not_of(' ') + 1);
  if (digits.empty()) return 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value, 8);
  if (error == std::errc() && end == digits.data() + digits.size()) return value;
  return fail_at(ErrorKind::DataLoss, fmt::format("a {} that is not an octal number", what));
}

Result<std::string> TarWalker::read_extension(uint64_t size) {
  if (size > limits_.max_header_bytes) {
    return fail_at(ErrorKind::ResourceExhausted,
                   fmt::format("a header of {} bytes; the limit is {}", size, limits_.max_header_bytes));
  }
  HEADPOND_TRY(check_follows(size, "header"));
  content_ = size;
  padding_ = padding_of(size);
  std::string bytes(size, '\0');
  const auto got = read(std::as_writable_bytes(std::span(bytes)));
  if (!got) return fail(got.error());
  return bytes;
}

Result<void> TarWalker::take_extension(const Header& header) {
  if (ahead_.headers >= limits_.max_headers) {
    return fail_at(ErrorKind::ResourceExhausted, fmt::format("more than {} headers of one member", ahead_.headers));
  }
  ++ahead_.headers;
  ahead_.announces = ahead_.announces || header.type != 'g';
  auto bytes = read_extension(header.size);
  if (!bytes) return fail(std::move(bytes).error());
  if (header.type == 'L') ahead_.long_name = bytes->substr(0, bytes->find('\0'));
  if (header.type == 'L' || header.type == 'K') return {};
  return parse_pax(*bytes, header.type == 'g' ? global_ : ahead_.attributes);
}

// Records "30 path=a/b\n": their own length in decimal, a space, key, '=', value, a newline.
Result<void> TarWalker::parse_pax(std::string_view records, Attributes& into) const {
  while (!records.empty() && records[0] != '\0') {
    uint64_t length = 0;
    const auto [end, error] = std::from_chars(records.data(), records.data() + records.size(), length);
    const auto digits = static_cast<size_t>(end - records.data());
    const bool fits = error == std::errc() && length <= records.size() && length > digits + 2 &&
                      records[digits] == ' ' && records[length - 1] == '\n';
    const std::string_view record = fits ? records.substr(digits + 1, length - digits - 2) : std::string_view();
    const size_t equals = record.find('=');
    if (!fits || equals == 0 || equals == std::string_view::npos) {
      return fail_at(ErrorKind::DataLoss, "a malformed pax record");
    }
    const std::string_view key = record.substr(0, equals);
    if (key.starts_with("GNU.sparse.")) return fail_at(ErrorKind::Unimplemented, "a sparse member");
    if (key == "path" || key == "size") into.insert_or_assign(std::string(key), record.substr(equals + 1));
    records.remove_prefix(length);
  }
  return {};
}

const std::string* TarWalker::attribute(std::string_view key) const {
  for (const Attributes* attributes : {&ahead_.attributes, &global_}) {
    if (const auto found = attributes->find(key); found != attributes->end()) return &found->second;
  }
  return nullptr;
}

Result<void> TarWalker::apply_attributes(Header& header) const {
  if (header.type == 'S') return fail_at(ErrorKind::Unimplemented, "a sparse member");
  if (ahead_.long_name) header.name = *ahead_.long_name;
  if (const std::string* path = attribute("path"); path != nullptr && !path->empty()) header.name = *path;
  if (header.name.size() > limits_.max_name_bytes) {
    return fail_at(ErrorKind::ResourceExhausted,
                   fmt::format("a name of {} bytes; the limit is {}", header.name.size(), limits_.max_name_bytes));
  }
  if (const std::string* size = attribute("size"); size != nullptr && !size->empty()) {
    const auto [end, error] = std::from_chars(size->data(), size->data() + size->size(), header.size);
    if (error != std::errc() || end != size->data() + size->size()) {
      return fail_at(ErrorKind::DataLoss, "a pax size that is not a number of bytes");
    }
  }
  if (header.size <= kLargest) return {};
  return fail_at(ErrorKind::DataLoss, fmt::format("a size of {} bytes", header.size));
}

}  // namespace headpond::internal
