// SPDX-License-Identifier: Apache-2.0
// The inflated bytes of one record file, as far as they are at hand: all of a plain file, a window of anything else.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "headpond/base/status.h"
#include "headpond/io/file/compression.h"
#include "headpond/io/file/file.h"
#include "headpond/io/file/mapped_file.h"

namespace headpond::internal {

/// One thread at a time. What is at hand stays where it is until more(), pass() or go_to().
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
  uint64_t left() const { return static_cast<uint64_t>(end_ - at_); }  ///< At hand, from at() on.
  std::span<const std::byte> rest() const { return {at_, left()}; }
  uint64_t offset() const { return base_ + static_cast<uint64_t>(at_ - begin_); }
  /// REQUIRES: at hand.
  void step(uint64_t bytes) { at_ += bytes; }

  /// Brings more behind at(), for somebody who wants `wanted` bytes there; false iff there is no more. The buffer is
  /// never more than twice what has arrived, whatever is wanted.
  Result<bool> more(uint64_t wanted);
  /// Steps over as many bytes as there are, at most `bytes`, and returns how many.
  Result<uint64_t> pass(uint64_t bytes);
  /// OutOfRange iff it is behind the end; FailedPrecondition iff it is behind at() and the bytes come only once. After
  /// an error at() is as it was, but of a stream it may be anywhere, with nothing at hand.
  Result<void> go_to(uint64_t offset);

  /// OK iff everything at hand was the file's when it was read. Asks the system.
  Result<void> check() const { return file_ != nullptr ? file_->check() : Result<void>(); }

  bool is_stream() const { return stream_ != nullptr; }
  /// Whether the last error of a stream is the system's, and not what the inflater found in the bytes.
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

  // From begin_, which is at offset base_, to end_ the bytes are at hand.
  const std::byte* begin_ = nullptr;
  const std::byte* at_ = nullptr;
  const std::byte* end_ = nullptr;
  uint64_t base_ = 0;
  std::string name_;
  Options options_;
  Compression compression_ = Compression::none;
  std::unique_ptr<MappedFile> file_;    // Of a plain file.
  std::unique_ptr<ByteReader> stream_;  // Of what must be read, with buffer_; bytes in memory have neither.
  const Input* input_ = nullptr;        // Inside stream_: the bytes as they come from outside.
  Reopen reopen_;
  std::unique_ptr<std::byte[]> buffer_;
  uint64_t capacity_ = 0;
};

}  // namespace headpond::internal
