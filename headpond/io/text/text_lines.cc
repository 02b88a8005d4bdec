// SPDX-License-Identifier: Apache-2.0
#include "headpond/io/text/text_lines.h"

#include <fmt/format.h>

#include <cstring>
#include <utility>

#include "headpond/io/file/byte_window_internal.h"
#include "headpond/io/text/utf8_internal.h"

namespace headpond {
namespace {

// The number of bytes before the first '\n' at or after `from`; npos iff there is none.
size_t line_bytes(std::span<const std::byte> bytes, size_t from) {
  if (from == bytes.size()) return std::string_view::npos;
  const void* end = std::memchr(bytes.data() + from, '\n', bytes.size() - from);
  if (end == nullptr) return std::string_view::npos;
  return static_cast<size_t>(static_cast<const std::byte*>(end) - bytes.data());
}

std::string_view to_text(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

// The error of options.start, or no error iff a line can begin there: each line before it has a byte, and later lines
// can be counted.
Error wrong_start(const TextPosition& start) {
  constexpr uint64_t kMost = uint64_t{1} << 62;
  if (start.lines >= 0 && static_cast<uint64_t>(start.lines) <= start.offset && start.offset <= kMost) return {};
  return {ErrorKind::InvalidArgument,
          fmt::format("text lines: no text has {} lines before offset {}", start.lines, start.offset)};
}

}  // namespace

class TextLines::State {
 public:
  State(std::unique_ptr<ByteReader> reader, const TextLinesOptions& options)
      : options_(options),
        window_(std::move(reader), options.start.offset),
        lines_(options.start.lines),
        may_have_bom_(options.skip_bom && options.start.offset == 0) {}

  Result<std::optional<TextLine>> next();
  TextPosition position() const { return {in_long_line_ ? line_begin_ : window_.offset() + used_, lines_}; }
  const std::string& name() const { return window_.name(); }

 private:
  Result<bool> skip_to_line();
  Result<bool> skip_line();
  bool cannot_fit(size_t length) const;
  Result<std::optional<TextLine>> give(size_t length, bool has_end);

  const TextLinesOptions options_;
  internal::ByteWindow window_;
  int64_t lines_;    // Before the front of the window and used_.
  size_t used_ = 0;  // Bytes of the line returned last, with its end.
  bool may_have_bom_;
  bool in_long_line_ = false;  // A part of a line that is too long was dropped; the line began at line_begin_.
  uint64_t line_begin_ = 0;
};

// Skips the line at the front of the window; false iff there is none.
Result<bool> TextLines::State::skip_line() {
  if (!in_long_line_) line_begin_ = window_.offset();
  for (bool any = in_long_line_;; any = true) {
    const size_t length = line_bytes(window_.bytes(), 0);
    const bool ends = length != std::string_view::npos;
    any = any || !window_.bytes().empty();
    in_long_line_ = any && !ends;
    window_.drop(ends ? length + 1 : window_.bytes().size());
    Result<bool> more = !ends;
    if (!ends) more = window_.more();
    if (!more) return more;
    if (*more) continue;
    in_long_line_ = false;
    lines_ += any ? 1 : 0;
    return any;
  }
}

// Advances to the next line to return; false at the end.
Result<bool> TextLines::State::skip_to_line() {
  window_.drop(std::exchange(used_, 0));
  if (may_have_bom_) {
    if (auto there = window_.until(internal::kByteOrderMark.size()); !there) return there;
    if (to_text(window_.bytes()).starts_with(internal::kByteOrderMark)) window_.drop(internal::kByteOrderMark.size());
    may_have_bom_ = false;
  }
  while (in_long_line_ || lines_ < options_.skip_header_lines) {
    if (auto skipped = skip_line(); !skipped || !*skipped) return skipped;
  }
  return true;
}

// Independent of what follows the `length` bytes at the front: the last may be a '\r' that does not count.
bool TextLines::State::cannot_fit(size_t length) const {
  const uint64_t most = options_.max_line_bytes;
  return length > most && (length - 1 > most || window_.bytes()[length - 1] != std::byte{'\r'});
}

Result<std::optional<TextLine>> TextLines::State::give(size_t length, bool has_end) {
  std::string_view text = to_text(window_.bytes().first(length));
  if (has_end && text.ends_with('\r')) text.remove_suffix(1);
  if (text.size() > options_.max_line_bytes) {
    in_long_line_ = true;
    line_begin_ = window_.offset();
    return fail(ErrorKind::ResourceExhausted,
                fmt::format("{}, line {} at offset {}: more than {} bytes in a line (max_line_bytes)", name(),
                            lines_ + 1, window_.offset(), options_.max_line_bytes));
  }
  used_ = length + (has_end ? 1 : 0);
  return TextLine{text, ++lines_, window_.offset()};
}

Result<std::optional<TextLine>> TextLines::State::next() {
  const auto at_line = skip_to_line();
  if (!at_line) return fail(at_line.error());
  if (!*at_line) return std::nullopt;
  for (size_t looked = 0;;) {
    const size_t length = line_bytes(window_.bytes(), looked);
    looked = window_.bytes().size();
    if (length != std::string_view::npos) return give(length, true);
    if (cannot_fit(looked)) return give(looked, false);
    const auto more = window_.more();
    if (!more) return fail(more.error());
    if (*more) continue;
    if (looked == 0) return std::nullopt;
    return give(looked, false);
  }
}

TextLines::TextLines(std::unique_ptr<ByteReader> reader, TextLinesOptions options)
    : state_(std::make_unique<State>(std::move(reader), options)) {
  if (options.skip_header_lines < 0) {
    throw Exception(Error(ErrorKind::InvalidArgument,
                          fmt::format("text lines: skip_header_lines is {}, below 0", options.skip_header_lines)));
  }
  if (auto wrong = wrong_start(options.start)) throw Exception(std::move(wrong));
}

TextLines::TextLines(TextLines&& other) noexcept = default;
TextLines& TextLines::operator=(TextLines&& other) noexcept = default;
TextLines::~TextLines() = default;

Result<TextLines> TextLines::open(const std::string& path, const TextLinesOptions& options) {
  if (auto wrong = wrong_start(options.start)) return fail(std::move(wrong));
  auto reader = open_file_reader(path, options.start.offset);
  if (!reader) return fail(std::move(reader).error());
  return TextLines(std::move(*reader), options);
}

Result<std::optional<TextLine>> TextLines::next() { return state_->next(); }
TextPosition TextLines::position() const { return state_->position(); }
const std::string& TextLines::name() const { return state_->name(); }

}  // namespace headpond
