// SPDX-License-Identifier: Apache-2.0
#include "headpond/io/text/line_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <cstddef>
#include <cstring>
#include <new>
#include <utility>
#include <vector>

#include "headpond/io/named_error_internal.h"
#include "headpond/io/text/text_file_internal.h"

namespace headpond {
namespace {

constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";

// The position after the '\n' that ends the line at `begin`, or the end of the text.
size_t end_of_line(std::string_view text, size_t begin) {
  const void* end = std::memchr(text.data() + begin, '\n', text.size() - begin);
  return end == nullptr ? text.size() : static_cast<size_t>(static_cast<const char*>(end) - text.data()) + 1;
}

void refuse_negative(const LineFileOptions& options) {
  if (options.skip_header_lines >= 0) return;
  throw Exception(Error(ErrorKind::InvalidArgument,
                        fmt::format("a file of lines: skip_header_lines is {}, below 0", options.skip_header_lines)));
}

}  // namespace

class LineFile::State {
 public:
  State(internal::TextFile text, const LineFileOptions& options) : options_(options), text_(std::move(text)) {}

  static Result<std::unique_ptr<LineFile>> make(Result<internal::TextFile> text, const LineFileOptions& options) {
    if (!text) return fail(std::move(text).error());
    auto state = std::make_unique<State>(std::move(*text), options);
    HEADPOND_TRY(state->make_index());
    return std::unique_ptr<LineFile>(new LineFile(std::move(state)));
  }

  Result<void> make_index() try {
    const std::string_view text = text_.text();
    size_t at = options_.skip_bom && text.starts_with(kByteOrderMark) ? kByteOrderMark.size() : 0;
    for (; at < text.size() && skipped_ < options_.skip_header_lines; ++skipped_) at = end_of_line(text, at);
    const auto lines =
        static_cast<size_t>(std::count(text.begin() + static_cast<std::ptrdiff_t>(at), text.end(), '\n'));
    const size_t places = lines + (at < text.size() && text.back() != '\n' ? 1 : 0);
    HEADPOND_TRY(text_.check_index(places));
    starts_.reserve(places + 1);
    for (; at < text.size(); at = end_of_line(text, at)) starts_.push_back(at);
    starts_.push_back(text.size());
    return text_.check_now();
  } catch (const std::bad_alloc&) {
    return fail(internal::exception_error_of(path()));
  }

  Result<std::string_view> at(int64_t i) const {
    if (i < 0 || i >= size()) {
      return fail(ErrorKind::OutOfRange, fmt::format("{}: no line {}: there are {}", path(), i, size()));
    }
    const auto k = static_cast<size_t>(i);
    std::string_view line = text_.text().substr(starts_[k], starts_[k + 1] - starts_[k]);
    if (line.ends_with('\n')) line.remove_suffix(line.ends_with("\r\n") ? 2 : 1);
    if (line.size() <= options_.max_line_bytes) return line;
    const TextPosition place = position(i);
    return fail(ErrorKind::ResourceExhausted,
                fmt::format("{}, line {} at offset {}: {} bytes in a line, at most {} (max_line_bytes)", path(),
                            place.lines + 1, place.offset, line.size(), options_.max_line_bytes));
  }

  int64_t size() const { return static_cast<int64_t>(starts_.size()) - 1; }
  TextPosition position(int64_t i) const {
    assert(i >= 0 && i < size());
    return {starts_[static_cast<size_t>(i)], skipped_ + i};
  }
  Result<void> check() const { return text_.check_now(); }
  const std::string& path() const { return text_.name(); }

 private:
  const LineFileOptions options_;
  const internal::TextFile text_;
  int64_t skipped_ = 0;           // Header lines.
  std::vector<uint64_t> starts_;  // Of each line, and the end of the text.
};

LineFile::LineFile(std::unique_ptr<State> state) : state_(std::move(state)) {}
LineFile::~LineFile() = default;

Result<std::unique_ptr<LineFile>> LineFile::open(const std::string& path, const LineFileOptions& options) {
  refuse_negative(options);
  return State::make(internal::TextFile::open(path, options.max_inflated_bytes), options);
}

Result<std::unique_ptr<LineFile>> LineFile::over(std::string name, std::span<const std::byte> content,
                                                 const LineFileOptions& options) {
  refuse_negative(options);
  return State::make(internal::TextFile::over(std::move(name), content, options.max_inflated_bytes), options);
}

int64_t LineFile::size() const { return state_->size(); }
Result<std::string_view> LineFile::at(int64_t i) const { return state_->at(i); }
TextPosition LineFile::position(int64_t i) const { return state_->position(i); }
Result<void> LineFile::check() const { return state_->check(); }
const std::string& LineFile::path() const { return state_->path(); }

}  // namespace headpond
