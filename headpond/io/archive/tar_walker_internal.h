// SPDX-License-Identifier: Apache-2.0
// Walks through the headers of a tar archive.
#pragma once

#include <algorithm>
#include <array>
#include <cstring>
#include <map>
#include <optional>
#include <string>

#include "headpond/io/archive/tar.h"

namespace headpond::internal {

inline constexpr size_t kTarBlock = 512;
using TarBlock = std::array<std::byte, kTarBlock>;

/// The source of an archive's bytes.
class TarSource {
 public:
  virtual ~TarSource() = default;
  /// Reads until `to` is full or the end is reached. Returns the number of bytes.
  virtual Result<size_t> read(std::span<std::byte> to) = 0;
  /// Skips `count` bytes, fewer at the end. Returns the number of bytes.
  virtual Result<uint64_t> skip(uint64_t count) = 0;
  /// An upper bound of the bytes still to come.
  virtual uint64_t left_at_most() const = 0;
};

/// Bytes in memory, which must stay valid.
class TarMemorySource final : public TarSource {
 public:
  explicit TarMemorySource(std::span<const std::byte> bytes) : left_(bytes) {}
  Result<size_t> read(std::span<std::byte> to) override {
    const size_t count = std::min(to.size(), left_.size());
    if (count != 0) std::memcpy(to.data(), left_.data(), count);
    left_ = left_.subspan(count);
    return count;
  }
  Result<uint64_t> skip(uint64_t count) override {
    count = std::min<uint64_t>(count, left_.size());
    left_ = left_.subspan(count);
    return count;
  }
  uint64_t left_at_most() const override { return left_.size(); }

 private:
  std::span<const std::byte> left_;
};

/// One thread at a time. Must not be used after an error.
class TarWalker {
 public:
  /// `source` must outlive this.
  TarWalker(TarSource& source, std::string name, const TarLimits& limits)
      : source_(source), name_(std::move(name)), limits_(limits) {}

  /// The next regular file, with the source at its content; nullopt at the end.
  Result<std::optional<TarMember>> next();
  /// Reads from the content of the member that next() returned.
  Result<size_t> read(std::span<std::byte> to);
  /// Where the first header of that member begins.
  uint64_t member_begin() const { return begin_; }
  /// True iff a header so far applies to all later members, so that they cannot be read without it.
  bool has_global_headers() const { return !global_.empty(); }
  uint64_t skipped() const { return skipped_; }
  bool has_end() const { return has_end_; }

 private:
  using Attributes = std::map<std::string, std::string, std::less<>>;
  // What the headers before a member say about it.
  struct Ahead {
    Attributes attributes;
    std::optional<std::string> long_name;
    uint64_t headers = 0;
    bool announces = false;  // Some of it applies to the next member only, which must follow.
  };
  struct Header {
    char type = 0;
    uint64_t size = 0;
    std::string name;
  };

  Result<bool> read_block(TarBlock& block);
  Result<Header> parse(const TarBlock& block) const;
  Result<uint64_t> number(std::span<const std::byte> field, const char* what) const;
  Result<void> take_extension(const Header& header);
  Result<std::string> read_extension(uint64_t size);
  Result<void> parse_pax(std::string_view records, Attributes& into) const;
  Result<void> apply_attributes(Header& header) const;
  Result<void> end(bool has_block);
  Result<void> check_follows(uint64_t size, const char* what);
  Result<void> leave_content();
  const std::string* attribute(std::string_view key) const;
  tl::unexpected<Error> no_header(std::span<const std::byte> bytes, const std::string& what) const;
  tl::unexpected<Error> fail_at(ErrorKind kind, const std::string& what) const;

  TarSource& source_;
  const std::string name_;
  const TarLimits limits_;
  Attributes global_;  // Attributes of pax headers that apply to all later members.
  Ahead ahead_;
  uint64_t offset_ = 0;   // Offset of the source.
  uint64_t header_ = 0;   // Where the header in hand begins.
  uint64_t begin_ = 0;    // Where the first one of the member in hand does.
  uint64_t content_ = 0;  // Unread bytes of the current content and the padding after it.
  uint64_t padding_ = 0;
  bool ended_ = false;
  bool has_end_ = false;  // Two blocks of zeros.
  uint64_t skipped_ = 0;
};

}  // namespace headpond::internal
