// SPDX-License-Identifier: Apache-2.0
#include "headpond/io/text/line_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <cstddef>
#include <cstring>
#include <memory>
#include <new>
#include <optional>
#include <utility>

#include "headpond/io/file/mapping_guard_internal.h"
#include "headpond/io/named_error_internal.h"
#include "headpond/io/record/index/cached_index_internal.h"
#include "headpond/io/text/text_file_internal.h"
#include "headpond/io/text/utf8_internal.h"

namespace headpond {
namespace {

constexpr uint64_t kLeastIndexed = uint64_t{256} << 10;  // The lines of less are counted sooner than an index is read.

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

  static Result<std::unique_ptr<LineFile>> make(Result<internal::TextFile> text, const LineFileOptions& options,
                                                std::shared_ptr<const RecordIndex> known = nullptr) {
    if (!text) return fail(std::move(text).error());
    auto state = std::make_unique<State>(std::move(*text), options);
    HEADPOND_TRY(state->find_lines(std::move(known)));
    return std::unique_ptr<LineFile>(new LineFile(std::move(state)));
  }

  Result<void> find_lines(std::shared_ptr<const RecordIndex> known) try {
    const std::string_view text = text_.text();
    size_t at = options_.skip_bom && text.starts_with(internal::kByteOrderMark) ? internal::kByteOrderMark.size() : 0;
    for (; at < text.size() && skipped_ < options_.skip_header_lines; ++skipped_) at = end_of_line(text, at);
    first_ = at;
    has_last_newline_ = text.ends_with('\n');
    if (text_.mapped() == nullptr) return make_index(RecordIndex(FileMark{.size = text.size()}), at);
    const internal::CachedIndex cached(
        *text_.mapped(), fmt::format("lines, skip {}, bom {}", options_.skip_header_lines, options_.skip_bom),
        options_.keep_index && text.size() >= kLeastIndexed);
    index_ = cached.find(std::move(known));
    was_cached_ = index_ != nullptr && index_->offset(0) == at && index_->offset(index_->size()) == text.size();
    if (was_cached_) return text_.check_now();
    HEADPOND_TRY(make_index(cached.begin(), at));
    cached.keep(*index_);
    return {};
  } catch (const std::bad_alloc&) {
    return fail(internal::exception_error_of(path()));
  }

  // `at`: the start of the first line.
  Result<void> make_index(RecordIndex index, size_t at) {
    const std::string_view text = text_.text();
    const auto lines =
        static_cast<size_t>(std::count(text.begin() + static_cast<std::ptrdiff_t>(at), text.end(), '\n'));
    const size_t offsets = lines + (at < text.size() && text.back() != '\n' ? 1 : 0);
    HEADPOND_TRY(text_.check_index(offsets));
    index.reserve(offsets + 1);
    for (; at < text.size(); at = end_of_line(text, at)) index.add(at);
    index.add(text.size());
    index_ = std::make_shared<const RecordIndex>(std::move(index));
    return text_.check_now();
  }

  Result<std::string_view> at(int64_t i) const {
    if (i < 0 || i >= size()) {
      return fail(ErrorKind::OutOfRange, fmt::format("{}: no line {}: there are {}", path(), i, size()));
    }
    const auto k = static_cast<uint64_t>(i);
    const uint64_t begin = std::min<uint64_t>(index_->offset(k), text_.text().size()), end = index_->offset(k + 1);
    std::string_view line = text_.text().substr(begin, end < begin ? 0 : end - begin);
    text_.count(line.size());
    if (text_.mapped() != nullptr && !is_line(line)) return changed(i);
    if (line.ends_with('\n')) line.remove_suffix(line.ends_with("\r\n") ? 2 : 1);
    if (line.size() <= options_.max_line_bytes) return line;
    const TextPosition place = position(i);
    return fail(ErrorKind::ResourceExhausted,
                fmt::format("{}, line {} at offset {}: {} bytes in a line, at most {} (max_line_bytes)", path(),
                            place.lines + 1, place.offset, line.size(), options_.max_line_bytes));
  }

  int64_t size() const { return static_cast<int64_t>(index_->size()); }
  TextPosition position(int64_t i) const {
    assert(i >= 0 && i < size());
    return {index_->offset(static_cast<uint64_t>(i)), skipped_ + i};
  }
  Result<void> check() const { return text_.check_now(); }
  Result<void> check_read(std::string_view line) const {
    internal::touch_pages(std::as_bytes(std::span(line)));
    return text_.check();
  }
  const std::string& path() const { return text_.name(); }
  const std::shared_ptr<const RecordIndex>& index() const { return index_; }
  bool was_cached() const { return was_cached_; }
  std::optional<FileMark> mark() const {
    return text_.mapped() != nullptr ? std::optional(index_->mark()) : std::nullopt;
  }

 private:
  // Whether a part of the text is a line with its end: the file may be written anew while it is read, and a cached
  // index may be of other lines.
  bool is_line(std::string_view part) const {
    const std::string_view text = text_.text();
    if (part.empty()) return false;
    const bool begins = part.data() == text.data() + first_ || part.data()[-1] == '\n';
    const size_t newline = part.find('\n');
    const bool is_open_end = !has_last_newline_ && part.data() + part.size() == text.data() + text.size();
    return begins && (newline == part.size() - 1 || (newline == std::string_view::npos && is_open_end));
  }
  tl::unexpected<Error> changed(int64_t i) const {
    if (const auto whole = text_.check_now(); !whole) return fail(whole.error());
    const TextPosition place = position(i);
    return fail(ErrorKind::DataLoss, fmt::format("{}, line {} at offset {}: the file is not the one that was indexed",
                                                 path(), place.lines + 1, place.offset));
  }

  const LineFileOptions options_;
  const internal::TextFile text_;
  int64_t skipped_ = 0;  // Header lines.
  uint64_t first_ = 0;   // Where the first line begins.
  bool has_last_newline_ = false;
  std::shared_ptr<const RecordIndex> index_;
  bool was_cached_ = false;
};

LineFile::LineFile(std::unique_ptr<State> state) : state_(std::move(state)) {}
LineFile::~LineFile() = default;

Result<std::unique_ptr<LineFile>> LineFile::open(const std::string& path, const LineFileOptions& options,
                                                 std::shared_ptr<const RecordIndex> known) {
  refuse_negative(options);
  return State::make(internal::TextFile::open(path, options.max_inflated_bytes), options, std::move(known));
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
Result<void> LineFile::check_read(std::string_view line) const { return state_->check_read(line); }
const std::string& LineFile::path() const { return state_->path(); }
std::shared_ptr<const RecordIndex> LineFile::index() const { return state_->index(); }
bool LineFile::index_was_kept() const { return state_->was_cached(); }
std::optional<FileMark> LineFile::mark() const { return state_->mark(); }

}  // namespace headpond
