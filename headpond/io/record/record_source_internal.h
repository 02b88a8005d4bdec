// SPDX-License-Identifier: Apache-2.0
// The inflated bytes of a record file, as far as they are in memory: all of a plain file, a window of anything else.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "headpond/base/status.h"
#include "headpond/io/compression/compression.h"
#include "headpond/io/file/file.h"
#include "headpond/io/file/mapped_file.h"

namespace headpond::internal {

/// One thread at a time. Pointers stay valid until more(), pass() or go_to().
class RecordSource {
 public:
  struct Options {
    std::optional<Compression> compression;
    uint64_t max_inflated_bytes = UINT64_MAX;
  };
  static Result<RecordSource> open(const std::string& path, const Options& options);
  static Result<RecordSource> over(std::unique_ptr<ByteReader> bytes, const Options& options);
  static Result<RecordSource> over(const std::string& name, std::span<const std::byte> bytes, const Options& options);

  const std::byte* at() const { return at_; }
  uint64_t left() const { return static_cast<uint64_t>(end_ - at_); }  ///< Bytes in memory from at() on.
  std::span<const std::byte> rest() const { return {at_, left()}; }
  uint64_t offset() const { return base_ + static_cast<uint64_t>(at_ - begin_); }
  /// REQUIRES: bytes <= left().
  void step(uint64_t bytes) { at_ += bytes; }

  /// Reads more bytes, for a caller that wants `wanted` of them from at() on; false iff there are no more. The buffer
  /// never exceeds twice what was read, whatever is wanted.
  Result<bool> more(uint64_t wanted);
  /// Skips `bytes` bytes, fewer at the end, and returns how many.
  Result<uint64_t> pass(uint64_t bytes);
  /// OutOfRange iff `offset` is after the end; FailedPrecondition iff it is before at() and the bytes can be read only
  /// once. After an error at() is unchanged, except for a stream, which may be anywhere, with left() 0.
  Result<void> go_to(uint64_t offset);

  /// OK iff all bytes returned were the file's when they were read. Asks the system.
  Result<void> check() const { return file_ != nullptr ? file_->check() : Result<void>(); }

  bool is_stream() const { return stream_ != nullptr; }
  /// True iff the last error of a stream came from the system, and not from the inflater.
  bool input_failed() const;
  Compression compression() const { return compression_; }
  const std::string& name() const { return name_; }

 private:
  class Input;
  using Reopen = std::function<Result<std::unique_ptr<ByteReader>>()>;
  RecordSource(std::string name, const Options& options) : name_(std::move(name)), options_(options) {}
  static Result<RecordSource> over_stream(std::unique_ptr<ByteReader> bytes, Reopen reopen, const Options& options);
  Result<void> start_stream(std::unique_ptr<ByteReader> bytes);
  Result<void> set_compression(std::span<const std::byte> start);
  void set_window(std::span<const std::byte> all);
  Result<bool> grow();
  Result<bool> refill(uint64_t wanted);
  Result<void> make_room();

  // The bytes from begin_, at offset base_, to end_ are in memory.
  const std::byte* begin_ = nullptr;
  const std::byte* at_ = nullptr;
  const std::byte* end_ = nullptr;
  uint64_t base_ = 0;
  std::string name_;
  Options options_;
  Compression compression_ = Compression::none;
  std::unique_ptr<MappedFile> file_;    // For a plain file.
  std::unique_ptr<ByteReader> stream_;  // For anything that must be read, with buffer_; bytes in memory have neither.
  const Input* input_ = nullptr;        // Inside stream_: the compressed bytes.
  Reopen reopen_;
  std::unique_ptr<std::byte[]> buffer_;
  uint64_t capacity_ = 0;
};

}  // namespace headpond::internal
