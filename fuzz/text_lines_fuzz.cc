// SPDX-License-Identifier: Apache-2.0
// Lines of any bytes. The first byte chooses the options; the lines must be those that a search for '\n' finds, and a
// reader that starts at a position must continue like the reader that returned it.
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "headpond/io/text/text_lines.h"

namespace {

void require(bool holds) {
  if (!holds) __builtin_trap();
}

struct Line {
  std::string_view text;
  int64_t number;
  uint64_t offset;
};

// The expected lines, also those that are too long.
std::vector<Line> look_for_lines(std::string_view text, const headpond::TextLinesOptions& options) {
  std::vector<Line> lines;
  int64_t number = 0;
  for (size_t at = options.skip_bom && text.starts_with("\xef\xbb\xbf") ? 3 : 0; at < text.size();) {
    const size_t end = text.find('\n', at);
    std::string_view line = text.substr(at, end - at);
    if (end != std::string_view::npos && line.ends_with('\r')) line.remove_suffix(1);
    if (++number > options.skip_header_lines) lines.push_back({line, number, at});
    at = end == std::string_view::npos ? text.size() : end + 1;
  }
  return lines;
}

using Given = headpond::Result<std::optional<headpond::TextLine>>;

void require_line(const Given& given, const Line* line, const headpond::TextLinesOptions& options) {
  if (line != nullptr && line->text.size() > options.max_line_bytes) {
    require(!given && given.error().kind() == headpond::ErrorKind::ResourceExhausted);
    return;
  }
  require(given && given->has_value() == (line != nullptr));
  if (line == nullptr) return;
  require((*given)->text == line->text && (*given)->number == line->number && (*given)->offset == line->offset);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const std::span<const std::byte> bytes = std::as_bytes(std::span(data, size)).subspan(1);
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  headpond::TextLinesOptions options{.skip_header_lines = data[0] & 3, .skip_bom = (data[0] & 4) != 0};
  if ((data[0] & 8) != 0) options.max_line_bytes = data[0] >> 4;
  const std::vector<Line> expected = look_for_lines(text, options);
  headpond::TextLines lines(headpond::make_memory_reader("fuzz", bytes), options);
  for (size_t next = 0; next <= expected.size(); ++next) {
    const Line* const line = next < expected.size() ? &expected[next] : nullptr;
    const Given given = lines.next();
    require_line(given, line, options);
    headpond::TextLinesOptions rest = options;
    rest.start = lines.position();
    require(rest.start.offset <= text.size());
    headpond::TextLines again(headpond::make_memory_reader("fuzz", bytes.subspan(rest.start.offset)), rest);
    const size_t after = !given ? next : next + 1;  // A line that is too long is reported again.
    require_line(again.next(), after < expected.size() ? &expected[after] : nullptr, options);
  }
  return 0;
}
