// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <new>
#include <utility>

#include "headpond/io/file/file.h"
#include "headpond/io/file/inflate.h"
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

// Memory is at most twice the bytes read.
Result<std::vector<std::byte>> read_all(ByteReader& reader) {
  std::vector<std::byte> all;
  for (size_t used = 0;;) {
    if (used == all.size()) {
      all.resize(std::max<uint64_t>(used + 1, std::min(used + reader.left_at_most(), std::max(kFirstRoom, 2 * used))));
    }
    const auto got = reader.read(std::span(all).subspan(used));
    if (!got) return fail(got.error());
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
  const bool gzip = is_gzip(bytes);
  if (!gzip && !is_zlib(bytes)) return {};
  auto compressed = make_memory_reader(name_, bytes);
  const auto reader = gzip ? make_gzip_reader(std::move(compressed), max_inflated_bytes)
                           : make_zlib_reader(std::move(compressed), max_inflated_bytes);
  auto inflated = read_all(*reader);
  HEADPOND_TRY(check());
  if (inflated) {
    inflated_ = std::move(*inflated);
    max_places_ = max_inflated_bytes / sizeof(uint64_t);
    text_ = to_text(inflated_);
    file_.reset();
    return {};
  }
  const bool is_damaged = inflated.error().kind() == ErrorKind::DataLoss;
  if (is_damaged && !gzip && looks_like_text(bytes)) return {};
  return fail(inflated.error());
} catch (const std::bad_alloc&) {
  return fail(exception_error_of(name_));
}

tl::unexpected<Error> TextFile::refuse_index() const {
  return fail(
      ErrorKind::ResourceExhausted,
      fmt::format("{}: more than {} lines, whose offsets take 8 bytes each (max_inflated_bytes)", name_, max_places_));
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

}  // namespace headpond::internal
