// SPDX-License-Identifier: Apache-2.0
#include "headpond/io/record/fixed_length.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <new>
#include <utility>

#include "headpond/io/compression/inflate.h"
#include "headpond/io/file/byte_window_internal.h"
#include "headpond/io/file/bytes_read.h"
#include "headpond/io/file/mapped_file.h"
#include "headpond/io/growing_array.h"
#include "headpond/io/named_error_internal.h"

namespace headpond {
namespace {

constexpr auto kMost = static_cast<uint64_t>(INT64_MAX);
constexpr uint64_t kMostInflated = uint64_t{4} << 30;
constexpr size_t kPiece = size_t{1} << 20;

FixedLengthOptions checked(FixedLengthOptions options) {
  if (options.hop_bytes == 0) options.hop_bytes = options.record_bytes;
  uint64_t sum = options.record_bytes;
  bool fits = sum <= kMost && options.hop_bytes <= kMost;
  for (const uint64_t more : {options.header_bytes, options.footer_bytes}) {
    fits = fits && !__builtin_add_overflow(sum, more, &sum) && sum <= kMost;
  }
  if (options.compression > Compression::zlib) {
    throw Exception(Error(ErrorKind::InvalidArgument,
                          fmt::format("fixed-length records: compression {} ({}): expected none, gzip or zlib",
                                      static_cast<int>(options.compression), to_string(options.compression))));
  }
  if (options.record_bytes > 0 && fits) return options;
  throw Exception(
      Error(ErrorKind::InvalidArgument,
            fmt::format("fixed-length records: {} bytes a record, {} of header, {} of footer, {} a hop: "
                        "records need a byte, and all together at most 2^63",
                        options.record_bytes, options.header_bytes, options.footer_bytes, options.hop_bytes)));
}

std::unique_ptr<ByteReader> inflated(std::unique_ptr<ByteReader> stored, Compression compression,
                                     uint64_t limit = UINT64_MAX) {
  if (compression == Compression::gzip) return make_gzip_reader(std::move(stored), limit);
  return compression == Compression::zlib ? make_zlib_reader(std::move(stored), limit) : std::move(stored);
}

Result<GrowingArray<std::byte>> inflate_whole(const std::string& path, Compression compression) try {
  auto stored = open_file_reader(path);
  if (!stored) return fail(std::move(stored).error());
  const auto reader = inflated(std::move(*stored), compression, kMostInflated);
  GrowingArray<std::byte> all;
  for (size_t size = 0;;) {
    all.resize(size + std::max(kPiece, size / 4));
    const auto got = read_fully(*reader, {all.data() + size, all.size() - size});
    if (!got) return fail(got.error());
    size += *got;
    if (size == all.size()) continue;
    all.resize(size);
    all.shrink_to_fit();
    return all;
  }
} catch (const std::bad_alloc&) {
  return fail(internal::no_memory(fmt::format("{}: no memory for its inflated bytes", path)));
}

// The bytes of a record that the next one has too.
uint64_t overlap_of(const FixedLengthOptions& options) {
  return options.record_bytes - std::min(options.record_bytes, options.hop_bytes);
}

// The number of whole records in a body, the bytes between header and footer.
uint64_t records_in(uint64_t body, const FixedLengthOptions& options) {
  return body < options.record_bytes ? 0 : (body - options.record_bytes) / options.hop_bytes + 1;
}

// The part of the body that records and the gaps after them may occupy: everything but an incomplete record.
uint64_t covered(uint64_t records, const FixedLengthOptions& options) {
  if (records == 0) return 0;
  const uint64_t last = (records - 1) * options.hop_bytes;
  uint64_t end = 0;
  if (__builtin_add_overflow(last, std::max(options.hop_bytes, options.record_bytes), &end)) return UINT64_MAX;
  return end;
}

Error too_short(const std::string& name, uint64_t size, const FixedLengthOptions& options) {
  return {ErrorKind::DataLoss, fmt::format("{} has {} bytes, fewer than its header of {} and its footer of {}", name,
                                           size, options.header_bytes, options.footer_bytes)};
}

Error cut_record(const std::string& name, int64_t record, uint64_t offset, uint64_t bytes,
                 const FixedLengthOptions& options) {
  const Error cut(ErrorKind::DataLoss,
                  fmt::format("{}, record {} at offset {}: {} bytes are left of {} (and a footer of {})", name, record,
                              offset, bytes, options.record_bytes, options.footer_bytes));
  return cut.at({.source = name, .record = static_cast<uint64_t>(record), .offset = offset});
}

// A file that has become shorter must not look as if all its records had been read.
Result<void> check_first(const std::string& path, uint64_t size, const FixedLengthOptions& options, int64_t first) {
  const uint64_t around = options.header_bytes + options.footer_bytes;
  if (size < around) return fail(too_short(path, size, options));
  const uint64_t records = records_in(size - around, options);
  if (static_cast<uint64_t>(first) <= records) return {};
  return fail(ErrorKind::DataLoss,
              fmt::format("{} has {} bytes and {} records: nothing is before record {}", path, size, records, first));
}

}  // namespace

class FixedLengthReader::State {
 public:
  // The reader's first byte is at `offset`; `skip` bytes precede the next record.
  State(std::unique_ptr<ByteReader> reader, const FixedLengthOptions& options, int64_t next, uint64_t offset,
        uint64_t skip)
      : options_(checked(options)),
        window_(inflated(std::move(reader), options_.compression), offset),
        next_(next),
        skip_(skip) {}

  // Inflates up to `offset`, before which the previous record ends but for what the next one shares with it.
  Result<void> inflate_to(uint64_t offset) {
    const auto passed = window_.skip(offset);
    if (!passed) return fail(passed.error());
    const auto there = window_.until(overlap_of(options_) + options_.footer_bytes);
    if (!there) return fail(there.error());
    if (*passed == offset && *there) return {};
    return fail(ErrorKind::DataLoss, fmt::format("{} has {} inflated bytes: nothing is before record {}", name(),
                                                 window_.offset() + window_.bytes().size(), next_));
  }
  Result<std::optional<std::span<const std::byte>>> next();
  int64_t position() const { return next_; }
  const std::string& name() const { return window_.name(); }

 private:
  const FixedLengthOptions options_;
  internal::ByteWindow window_;
  int64_t next_;
  uint64_t skip_;  // Bytes before the next record: the header or, from the start of the last record, the hop.
};

Result<std::optional<std::span<const std::byte>>> FixedLengthReader::State::next() {
  while (skip_ > 0) {
    const uint64_t before = window_.offset();
    const auto skipped = window_.skip(skip_);
    skip_ -= window_.offset() - before;
    if (!skipped) return fail(skipped.error());
    if (skip_ == 0) break;
    if (next_ == 0) return fail(too_short(name(), window_.offset(), options_));
    return std::nullopt;  // Within the gap after the last record.
  }
  const auto there = window_.until(options_.record_bytes + options_.footer_bytes);
  if (!there) return fail(there.error());
  if (*there) {
    skip_ = options_.hop_bytes;
    ++next_;
    return window_.bytes().first(options_.record_bytes);
  }
  const uint64_t left = window_.bytes().size();
  if (left < options_.footer_bytes && next_ == 0) {
    return fail(too_short(name(), window_.offset() + left, options_));
  }
  const uint64_t overlap = next_ == 0 ? 0 : overlap_of(options_);
  if (left <= overlap + options_.footer_bytes) return std::nullopt;
  return fail(cut_record(name(), next_, window_.offset(), left - options_.footer_bytes, options_));
}

FixedLengthReader::FixedLengthReader(std::unique_ptr<ByteReader> reader, const FixedLengthOptions& options)
    : FixedLengthReader(std::make_unique<State>(std::move(reader), options, 0, 0, options.header_bytes)) {}
FixedLengthReader::FixedLengthReader(std::unique_ptr<State> state) : state_(std::move(state)) {}
FixedLengthReader::FixedLengthReader(FixedLengthReader&& other) noexcept = default;
FixedLengthReader& FixedLengthReader::operator=(FixedLengthReader&& other) noexcept = default;
FixedLengthReader::~FixedLengthReader() = default;

// Starts after the previous record, whose gap may be truncated, so that the offset may be after the end of the file.
Result<FixedLengthReader> FixedLengthReader::open(const std::string& path, const FixedLengthOptions& options,
                                                  int64_t first) {
  const FixedLengthOptions known = checked(options);
  uint64_t offset = 0, skip = known.header_bytes;
  if (first > 0) {
    skip = known.hop_bytes - std::min(known.hop_bytes, known.record_bytes);
    if (__builtin_mul_overflow(static_cast<uint64_t>(first), known.hop_bytes, &offset) ||
        __builtin_add_overflow(offset - skip, known.header_bytes, &offset)) {
      offset = UINT64_MAX;
    }
  }
  if (first < 0 || offset > kMost) {
    return fail(ErrorKind::InvalidArgument, fmt::format("{}: no file has a record {}", path, first));
  }
  const bool is_plain = known.compression == Compression::none;
  auto reader = open_file_reader(path, is_plain ? offset : 0);
  if (!reader) return fail(std::move(reader).error());
  if (!is_plain) {
    auto state = std::make_unique<State>(std::move(*reader), known, first, 0, skip);
    if (first > 0) HEADPOND_TRY(state->inflate_to(offset));
    return FixedLengthReader(std::move(state));
  }
  if (first > 0) HEADPOND_TRY(check_first(path, offset + (*reader)->left_at_most(), known, first));
  return FixedLengthReader(std::make_unique<State>(std::move(*reader), known, first, offset, skip));
}

Result<std::optional<std::span<const std::byte>>> FixedLengthReader::next() { return state_->next(); }
int64_t FixedLengthReader::position() const { return state_->position(); }
const std::string& FixedLengthReader::name() const { return state_->name(); }

class FixedLengthFile::State {
 public:
  // `file`: null iff `inflated` has the bytes.
  State(std::string path, std::unique_ptr<MappedFile> file, GrowingArray<std::byte> inflated,
        const FixedLengthOptions& options)
      : path_(std::move(path)),
        file_(std::move(file)),
        inflated_(std::move(inflated)),
        options_(options),
        body_(bytes().size() - options.header_bytes - options.footer_bytes) {}

  uint64_t size() const { return records_in(body_, options_); }
  Result<void> whole() const;
  Result<void> read(int64_t i, std::span<std::byte> to) const;
  const std::string& name() const { return path_; }

 private:
  std::span<const std::byte> bytes() const { return file_ ? file_->bytes() : inflated_.values(); }

  const std::string path_;
  const std::unique_ptr<MappedFile> file_;
  const GrowingArray<std::byte> inflated_;
  const FixedLengthOptions options_;
  const uint64_t body_;  // Bytes between header and footer.
};

Result<void> FixedLengthFile::State::whole() const {
  const uint64_t used = covered(size(), options_);
  if (body_ <= used) return {};
  // The remaining bytes begin no record if records overlap: the next one would begin within the last.
  const uint64_t begin = size() * options_.hop_bytes;
  return fail(cut_record(name(), static_cast<int64_t>(size()), options_.header_bytes + begin, body_ - begin, options_));
}

Result<void> FixedLengthFile::State::read(int64_t i, std::span<std::byte> to) const {
  if (i < 0 || static_cast<uint64_t>(i) >= size()) {
    return fail(ErrorKind::OutOfRange, fmt::format("{} has {} records: no record {}", name(), size(), i));
  }
  if (to.size() != options_.record_bytes) {
    return fail(ErrorKind::InvalidArgument,
                fmt::format("{}: a record has {} bytes, the room for it {}", name(), options_.record_bytes, to.size()));
  }
  const uint64_t begin = options_.header_bytes + static_cast<uint64_t>(i) * options_.hop_bytes;
  const auto record = bytes().subspan(begin, to.size());
  std::memcpy(to.data(), record.data(), to.size());
  if (!file_) return {};
  internal::count_read(record.size());
  const auto whole = file_->check_read(record);
  return whole ? whole : fail(internal::error_at_record(static_cast<uint64_t>(i), begin, whole.error()));
}

Result<FixedLengthFile> FixedLengthFile::open(const std::string& path, const FixedLengthOptions& options) {
  const FixedLengthOptions known = checked(options);
  std::unique_ptr<MappedFile> mapped;
  GrowingArray<std::byte> all;
  if (known.compression == Compression::none) {
    auto file = MappedFile::open(path);
    if (!file) return fail(std::move(file).error());
    mapped = std::move(*file);
  } else {
    auto inflated = inflate_whole(path, known.compression);
    if (!inflated) return fail(std::move(inflated).error());
    all = std::move(*inflated);
  }
  const uint64_t size = mapped ? mapped->bytes().size() : all.size();
  if (size < known.header_bytes + known.footer_bytes) return fail(too_short(path, size, known));
  return FixedLengthFile(std::make_unique<State>(path, std::move(mapped), std::move(all), known));
}

FixedLengthFile::FixedLengthFile(std::unique_ptr<State> state) : state_(std::move(state)) {}
FixedLengthFile::FixedLengthFile(FixedLengthFile&& other) noexcept = default;
FixedLengthFile& FixedLengthFile::operator=(FixedLengthFile&& other) noexcept = default;
FixedLengthFile::~FixedLengthFile() = default;
int64_t FixedLengthFile::size() const { return static_cast<int64_t>(state_->size()); }
Result<void> FixedLengthFile::whole() const { return state_->whole(); }
Result<void> FixedLengthFile::read(int64_t i, std::span<std::byte> to) const { return state_->read(i, to); }
const std::string& FixedLengthFile::name() const { return state_->name(); }

}  // namespace headpond
