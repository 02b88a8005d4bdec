// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <new>
#include <utility>

#include "headpond/io/compression/inflate.h"
#include "headpond/io/file/file.h"
#include "headpond/io/named_error_internal.h"
#include "headpond/io/text/text_file_internal.h"

namespace headpond::internal {
namespace {

constexpr size_t kFirstRoom = size_t{256} << 10, kStartBytes = 256;

std::string_view to_text(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

bool looks_like_text(std::span<const std::byte> bytes) {
  const std::string_view start = to_text(bytes.first(std::min(bytes.size(), kStartBytes)));
  return std::none_of(start.begin(), start.end(), [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return (byte < ' ' && (byte < '\t' || byte > '\r')) || byte == 0x7f;
  });
}

// The room never exceeds the limit.
Result<GrowingArray<std::byte>> read_all(ByteReader& reader, uint64_t limit) {
  GrowingArray<std::byte> all;
  for (size_t used = 0;;) {
    if (used == all.size() && used < limit) {
      const uint64_t wanted = std::min(used + std::max<uint64_t>(reader.left_at_most(), 1), limit);
      all.resize(std::max<uint64_t>(used + 1, std::min<uint64_t>(wanted, std::max(kFirstRoom, 2 * used))));
    }
    std::byte beyond;
    const bool is_full = used == limit;
    const auto got = reader.read(is_full ? std::span(&beyond, 1) : std::span(all.data() + used, all.size() - used));
    if (!got) return fail(got.error());
    if (is_full && *got > 0) {
      return fail(ErrorKind::ResourceExhausted,
                  fmt::format("{}: more than the limit of {} bytes (max_inflated_bytes)", reader.name(), limit));
    }
    used += *got;
    if (*got > 0) continue;
    all.resize(used);
    all.shrink_to_fit();
    return all;
  }
}

}  // namespace

Result<void> TextFile::take(std::span<const std::byte> bytes, uint64_t max_inflated_bytes) try {
  text_ = to_text(bytes);
  if (const auto other = unsupported_compression(bytes); !other.empty()) {
    return fail(ErrorKind::Unimplemented,
                fmt::format("{}: compressed by {}, which is not supported; decompress it", name_, other));
  }
  const bool gzip = is_gzip(bytes);
  if (!gzip && !is_zlib(bytes)) return {};
  auto compressed = make_memory_reader(name_, bytes);
  const auto reader = gzip ? make_gzip_reader(std::move(compressed), max_inflated_bytes)
                           : make_zlib_reader(std::move(compressed), max_inflated_bytes);
  auto inflated = read_all(*reader, max_inflated_bytes);
  count(bytes.size());
  HEADPOND_TRY(check());
  if (inflated) {
    keep(std::move(*inflated), max_inflated_bytes);
    file_.reset();
    return {};
  }
  const bool is_damaged = inflated.error().kind() == ErrorKind::DataLoss;
  if (is_damaged && !gzip && looks_like_text(bytes)) return {};
  return fail(inflated.error());
} catch (const std::bad_alloc&) {
  return fail(exception_error_of(name_));
}

void TextFile::keep(GrowingArray<std::byte> inflated, uint64_t max_inflated_bytes) {
  inflated_ = std::move(inflated);
  max_offsets_ = (max_inflated_bytes - inflated_.size()) / sizeof(uint64_t);
  text_ = to_text(inflated_.values());
}

tl::unexpected<Error> TextFile::refuse_index() const {
  return fail(
      ErrorKind::ResourceExhausted,
      fmt::format(
          "{}: more than {} lines in {} inflated bytes: with 8 bytes for each line's offset they exceed the limit "
          "(max_inflated_bytes)",
          name_, max_offsets_, text_.size()));
}

Result<TextFile> TextFile::open(const std::string& path, uint64_t max_inflated_bytes) {
  auto mapped = MappedFile::open(path);
  if (!mapped) return fail(std::move(mapped).error());
  TextFile file(path);
  file.file_ = std::move(*mapped);
  HEADPOND_TRY(file.take(file.file_->bytes(), max_inflated_bytes));
  return file;
}

Result<TextFile> TextFile::over(std::string name, std::span<const std::byte> bytes, uint64_t max_inflated_bytes) {
  TextFile file(std::move(name));
  HEADPOND_TRY(file.take(bytes, max_inflated_bytes));
  return file;
}

Result<TextFile> TextFile::over(ByteReader& reader, uint64_t max_inflated_bytes) try {
  auto all = read_all(reader, max_inflated_bytes);
  if (!all) return fail(std::move(all).error());
  TextFile file(reader.name());
  file.keep(std::move(*all), max_inflated_bytes);
  return file;
} catch (const std::bad_alloc&) {
  return fail(exception_error_of(reader.name()));
}

}  // namespace headpond::internal
