// SPDX-License-Identifier: Apache-2.0
// Lines of any bytes. The first byte chooses the options; the lines must be those that a look for '\n' finds, and each
// position must give the same rest.
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "headpond/io/text_lines.h"

namespace {

void require(bool holds) {
  if (!holds) __builtin_trap();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const std::span<const std::byte> bytes = std::as_bytes(std::span(data, size)).subspan(1);
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  headpond::TextLinesOptions options{.skip_header_lines = data[0] & 3, .skip_bom = (data[0] & 4) != 0};
  if ((data[0] & 8) != 0) options.max_line_bytes = data[0] >> 4;
  headpond::TextLines lines(headpond::make_memory_reader("fuzz", bytes), options);
  while (true) {
    const auto line = lines.next();
    if (!line) {
      require(line.error().kind() == headpond::ErrorKind::ResourceExhausted);
      continue;
    }
    if (!*line) return 0;
    const uint64_t begin = (*line)->offset, end = lines.position().offset;
    require(begin <= end && end <= text.size() && (*line)->text.size() <= options.max_line_bytes);
    require(text.substr(begin, (*line)->text.size()) == (*line)->text);
    require((*line)->text.find('\n') == std::string_view::npos && (*line)->number > options.skip_header_lines);
    require(end == text.size() || text[end - 1] == '\n');
    require(lines.position().lines == (*line)->number);
  }
}
