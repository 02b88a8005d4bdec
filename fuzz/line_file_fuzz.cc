// SPDX-License-Identifier: Apache-2.0
// A file of lines from any bytes, plain or compressed. The first byte chooses the options; if the bytes are plain, the
// lines must be those that are read in order.
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "headpond/io/compression/inflate.h"
#include "headpond/io/text/line_file.h"

namespace {

void require(bool holds) {
  if (!holds) __builtin_trap();
}

void require_same(const headpond::LineFile& file, headpond::TextLines& lines) {
  for (int64_t i = 0; i < file.size(); ++i) {
    const auto line = file.at(i);
    const auto given = lines.next();
    require(line.has_value() == given.has_value());
    if (!line) continue;
    require(given->has_value() && *line == (*given)->text);
    require(file.position(i) == headpond::TextPosition{(*given)->offset, (*given)->number - 1});
  }
  const auto end = lines.next();
  require(end && !*end);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const std::span<const std::byte> bytes = std::as_bytes(std::span(data, size)).subspan(1);
  const uint64_t longest = (data[0] & 8) != 0 ? data[0] >> 4 : 1 << 30;
  const headpond::LineFileOptions options{.skip_header_lines = data[0] & 3,
                                          .skip_bom = (data[0] & 4) != 0,
                                          .max_line_bytes = longest,
                                          .max_inflated_bytes = 1 << 20};
  const bool compressed = headpond::is_gzip(bytes) || headpond::is_zlib(bytes);
  const auto file = headpond::LineFile::over("fuzz", bytes, options);
  if (!file) {
    require(compressed || !headpond::unsupported_compression(bytes).empty());
    return 0;
  }
  for (int64_t i = 0; i < (*file)->size(); ++i) (void)(*file)->at(i);
  if (compressed) return 0;
  headpond::TextLines lines(
      headpond::make_memory_reader("fuzz", bytes),
      {.skip_header_lines = data[0] & 3, .skip_bom = (data[0] & 4) != 0, .max_line_bytes = longest});
  require_same(**file, lines);
  return 0;
}
