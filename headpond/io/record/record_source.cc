// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <new>
#include <utility>

#include "headpond/io/compression/inflate.h"
#include "headpond/io/file/system_internal.h"
#include "headpond/io/named_error_internal.h"
#include "headpond/io/record/record_frame_internal.h"
#include "headpond/io/record/record_source_internal.h"

namespace headpond::internal {
namespace {

constexpr uint64_t kFirstBuffer = uint64_t{256} << 10;

std::span<const std::byte> start_of(std::span<const std::byte> bytes) {
  return bytes.first(std::min(bytes.size(), kStartBytes));
}

std::string_view in_words(Compression compression) {
  return compression == Compression::none ? "no compression" : to_string(compression);
}

}  // namespace

// Records whether the last read failed.
class RecordSource::Input final : public ByteReader {
 public:
  explicit Input(std::unique_ptr<ByteReader> bytes) : bytes_(std::move(bytes)) {}
  Result<size_t> read(std::span<std::byte> to) override {
    auto got = bytes_->read(to);
    failed_ = !got;
    return got;
  }
  uint64_t left_at_most() const override { return bytes_->left_at_most(); }
  const std::string& name() const override { return bytes_->name(); }
  bool failed() const { return failed_; }

 private:
  const std::unique_ptr<ByteReader> bytes_;
  bool failed_ = false;
};

bool RecordSource::input_failed() const { return input_ != nullptr && input_->failed(); }

Result<RecordSource> RecordSource::open(const std::string& path, const Options& options) {
  bool is_stream = path == "-";
  if (!is_stream) {
    const auto facts = examine_path(path);
    if (!facts) return fail(facts.error());
    is_stream = facts->is_stream;
  }
  if (is_stream) {
    auto stream = open_stream_reader(path);
    if (!stream) return fail(std::move(stream).error());
    return over_stream(std::move(*stream), nullptr, options);
  }
  auto file = MappedFile::open(path);
  if (!file) return fail(std::move(file).error());
  RecordSource source(path, options);
  HEADPOND_TRY(source.set_compression((*file)->bytes()));
  if (source.compression_ != Compression::none) {
    Reopen reopen = [path] { return open_file_reader(path); };
    auto stream = reopen();
    if (!stream) return fail(std::move(stream).error());
    return over_stream(std::move(*stream), std::move(reopen), options);
  }
  source.file_ = std::move(*file);
  source.set_window(source.file_->bytes());
  return source;
}

Result<RecordSource> RecordSource::over(std::unique_ptr<ByteReader> bytes, const Options& options) {
  return over_stream(std::move(bytes), nullptr, options);
}

Result<RecordSource> RecordSource::over(const std::string& name, std::span<const std::byte> bytes,
                                        const Options& options) {
  RecordSource source(name, options);
  HEADPOND_TRY(source.set_compression(bytes));
  if (source.compression_ != Compression::none) {
    Reopen reopen = [name, bytes] { return Result<std::unique_ptr<ByteReader>>(make_memory_reader(name, bytes)); };
    return over_stream(make_memory_reader(name, bytes), std::move(reopen), options);
  }
  source.set_window(bytes);
  return source;
}

Result<RecordSource> RecordSource::over_stream(std::unique_ptr<ByteReader> bytes, Reopen reopen,
                                               const Options& options) {
  RecordSource source(bytes->name(), options);
  source.reopen_ = std::move(reopen);
  HEADPOND_TRY(source.start_stream(std::move(bytes)));
  return source;
}

Result<void> RecordSource::start_stream(std::unique_ptr<ByteReader> bytes) {
  std::array<std::byte, kStartBytes> space;
  const auto got = read_fully(*bytes, space);
  if (!got) return fail(got.error());
  const auto start = std::span<const std::byte>(space).first(*got);
  HEADPOND_TRY(set_compression(start));
  auto input = std::make_unique<Input>(std::move(bytes));
  input_ = input.get();
  stream_ = make_joined_reader(start, std::move(input));
  if (compression_ == Compression::gzip) stream_ = make_gzip_reader(std::move(stream_), options_.max_inflated_bytes);
  if (compression_ == Compression::zlib) stream_ = make_zlib_reader(std::move(stream_), options_.max_inflated_bytes);
  set_window({});
  return {};
}

Result<void> RecordSource::set_compression(std::span<const std::byte> start) {
  if (options_.compression && !is_known(*options_.compression)) {
    return fail(ErrorKind::InvalidArgument,
                fmt::format("{}: compression {} is unknown", name_, static_cast<int>(*options_.compression)));
  }
  compression_ = guess_compression(start_of(start));
  if (options_.compression != compression_ && is_front_of_header(start)) compression_ = Compression::none;
  if (options_.compression && *options_.compression != compression_ && !start.empty()) {
    return fail(ErrorKind::DataLoss, fmt::format("{}: {} was requested, but the content has {}", name_,
                                                 in_words(*options_.compression), in_words(compression_)));
  }
  if (compression_ == Compression::snappy) {
    return fail(ErrorKind::Unimplemented,
                fmt::format("{}: the first bytes are those of Snappy, which is not supported", name_));
  }
  return {};
}

void RecordSource::set_window(std::span<const std::byte> all) {
  begin_ = at_ = all.data();
  end_ = begin_ + all.size();
  base_ = 0;
}

Result<bool> RecordSource::more(uint64_t wanted) {
  if (stream_ != nullptr) return refill(wanted);
  return file_ != nullptr ? grow() : Result<bool>(false);
}

Result<bool> RecordSource::grow() {
  auto now = file_->grown();
  if (!now) return fail(std::move(now).error());
  if (*now == nullptr) return false;
  const uint64_t offset = this->offset();
  file_ = std::move(*now);
  set_window(file_->bytes());
  step(offset);
  return true;
}

Result<bool> RecordSource::refill(uint64_t wanted) {
  if (wanted > capacity_ && left() == capacity_) HEADPOND_TRY(make_room());
  const uint64_t kept = left();
  base_ = offset();
  if (kept > 0) std::memmove(buffer_.get(), at_, kept);
  begin_ = at_ = buffer_.get();
  end_ = begin_ + kept;
  const auto got = stream_->read({buffer_.get() + kept, capacity_ - kept});
  if (!got) return fail(got.error());
  end_ += *got;
  return *got > 0;
}

Result<void> RecordSource::make_room() {
  const uint64_t capacity = std::max(kFirstBuffer, 2 * capacity_), kept = left(), offset = this->offset();
  std::unique_ptr<std::byte[]> buffer(new (std::nothrow) std::byte[capacity]);
  if (buffer == nullptr) {
    return fail(no_memory(fmt::format("{}: no memory for {} bytes at offset {}", name_, capacity, offset)));
  }
  if (kept > 0) std::memcpy(buffer.get(), at_, kept);
  buffer_ = std::move(buffer);
  capacity_ = capacity;
  base_ = offset;
  begin_ = at_ = buffer_.get();
  end_ = begin_ + kept;
  return {};
}

Result<uint64_t> RecordSource::pass(uint64_t bytes) {
  uint64_t passed = 0;
  while (true) {
    const uint64_t now = std::min(bytes - passed, left());
    step(now);
    passed += now;
    if (passed == bytes) return passed;
    const auto got = more(1);
    if (!got) return fail(got.error());
    if (!*got) return passed;
  }
}

Result<void> RecordSource::go_to(uint64_t offset) {
  const auto behind_end = [&](uint64_t end) {
    return fail(ErrorKind::OutOfRange, fmt::format("{}: no offset {}: there are {} bytes", name_, offset, end));
  };
  if (stream_ == nullptr) {
    while (offset > static_cast<uint64_t>(end_ - begin_)) {
      const auto got = more(offset);
      if (!got) return fail(got.error());
      if (!*got) return behind_end(static_cast<uint64_t>(end_ - begin_));
    }
    at_ = begin_ + offset;
    return {};
  }
  if (offset >= base_) {
    at_ = begin_;
  } else {
    if (reopen_ == nullptr) {
      return fail(ErrorKind::FailedPrecondition,
                  fmt::format("{}: cannot go back from offset {} to {}: a stream can be read only once", name_,
                              this->offset(), offset));
    }
    auto again = reopen_();
    if (!again) return fail(std::move(again).error());
    HEADPOND_TRY(start_stream(std::move(*again)));
  }
  const auto passed = pass(offset - this->offset());
  if (!passed) return fail(passed.error());
  if (this->offset() == offset) return {};
  return behind_end(this->offset());
}

}  // namespace headpond::internal
