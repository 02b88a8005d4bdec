// SPDX-License-Identifier: Apache-2.0
// From header to header through a tar archive.
#pragma once

#include <array>
#include <map>
#include <optional>
#include <string>

#include "headpond/io/archive/tar.h"

namespace headpond::internal {

inline constexpr size_t kTarBlock = 512;
using TarBlock = std::array<std::byte, kTarBlock>;

/// Where an archive's bytes come from.
class TarSource {
 public:
  virtual ~TarSource() = default;
  /// Fills `to` unless the end comes first, and returns how many bytes.
  virtual Result<size_t> read(std::span<std::byte> to) = 0;
  /// Goes past `count` bytes, or to the end; returns how many they were.
  virtual Result<uint64_t> skip(uint64_t count) = 0;
  /// A bound of what is still to come.
  virtual uint64_t left_at_most() const = 0;
};

/// One thread at a time. After an error it must not be used.
class TarWalker {
 public:
  /// `source` outlives it.
  TarWalker(TarSource& source, std::string name, const TarLimits& limits)
      : source_(source), name_(std::move(name)), limits_(limits) {}

  /// The next regular file; the source stands at its content then. nullopt at the end.
  Result<std::optional<TarMember>> next();
  /// Reads of the content of the member that next() gave.
  Result<size_t> read(std::span<std::byte> to);
  uint64_t skipped() const { return skipped_; }

 private:
  using Attributes = std::map<std::string, std::string, std::less<>>;
  // What headers in front of a member say of it.
  struct Ahead {
    Attributes attributes;
    std::optional<std::string> long_name;
    uint64_t headers = 0;
    bool announces = false;  // Not only what holds for all that follow.
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
  Result<void> end();
  Result<void> check_follows(uint64_t size, const char* what);
  Result<void> leave_content();
  const std::string* attribute(std::string_view key) const;
  tl::unexpected<Error> no_header(std::span<const std::byte> bytes, const std::string& what) const;
  tl::unexpected<Error> fail_at(ErrorKind kind, const std::string& what) const;

  TarSource& source_;
  const std::string name_;
  const TarLimits limits_;
  Attributes global_;  // Of pax headers for all that follow.
  Ahead ahead_;
  uint64_t offset_ = 0;   // Of the source.
  uint64_t header_ = 0;   // Where the header in hand begins.
  uint64_t content_ = 0;  // What is left of the content in hand, and of the zeros behind it.
  uint64_t padding_ = 0;
  bool ended_ = false;
  uint64_t skipped_ = 0;
};

}  // namespace headpond::internal
