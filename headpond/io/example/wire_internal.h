// SPDX-License-Identifier: Apache-2.0
// Protocol buffers' wire format, read field by field without a copy. Varints are decoded by protozero; what protozero
// reports by an exception or an assertion is a value here, with its place. Source:
// protobuf.dev/programming-guides/encoding.
#pragma once

#include <cstddef>
#include <cstdint>
#include <protozero/varint.hpp>
#include <string>
#include <string_view>
#include <utility>

namespace headpond::internal {

/// Why a message cannot be parsed, and where.
struct WireFault {
  std::string what;
  const char* at = nullptr;
  std::string_view key;   ///< Key of the feature that was being parsed, if any; a part of the message.
  bool is_limit = false;  ///< The message may be valid, but has too many features.
};

/// The encoding of a field's value. Of the other four numbers of three bits two are groups and two unused.
enum class Wire : uint8_t { varint = 0, fixed64 = 1, length = 2, fixed32 = 5 };

/// Iterates over the fields of a message: next() until at_end(), and after each next() one of the functions that read
/// the value. Those that return bool return false iff the bytes are no message; then the fault is set. The bytes must
/// outlive the cursor.
class WireCursor {
 public:
  WireCursor(std::string_view message, WireFault& fault)
      : at_(message.data()), end_(message.data() + message.size()), fault_(fault) {}

  bool at_end() const { return at_ == end_; }
  const char* at() const { return at_; }
  uint32_t field() const { return field_; }
  Wire wire() const { return wire_; }

  /// REQUIRES: !at_end().
  bool next() {
    const char* const before = at_;
    uint64_t tag = 0;
    if (!varint(tag)) return false;
    field_ = static_cast<uint32_t>(tag >> 3);
    wire_ = static_cast<Wire>(tag & 7);
    if (tag > UINT32_MAX || field_ == 0 || !is_known(tag & 7)) [[unlikely]] {
      at_ = before;
      return refuse_tag(tag);
    }
    return true;
  }

  bool varint(uint64_t& value) {
    if (at_ != end_ && static_cast<signed char>(*at_) >= 0) {
      value = static_cast<unsigned char>(*at_++);
      return true;
    }
    if (end_ - at_ >= 2 && static_cast<signed char>(at_[1]) >= 0) {
      value = (static_cast<uint64_t>(at_[0]) & 0x7f) | static_cast<uint64_t>(at_[1]) << 7;
      at_ += 2;
      return true;
    }
    return long_varint(value);
  }

  /// Reads the value of a field that must be a string, bytes, a message or packed.
  bool view(std::string_view& value) {
    if (wire_ != Wire::length) [[unlikely]]
      return refuse_wire();
    uint64_t length = 0;
    if (!varint(length)) return false;
    return take(length, value);
  }

  /// Reads the next `count` bytes.
  bool take(uint64_t count, std::string_view& bytes) {
    if (count > static_cast<uint64_t>(end_ - at_)) [[unlikely]]
      return refuse_length(count);
    bytes = {at_, static_cast<size_t>(count)};
    at_ += count;
    return true;
  }

  /// Skips the value of the field.
  bool skip() {
    std::string_view ignored;
    uint64_t number = 0;
    switch (wire_) {
      case Wire::varint:
        return varint(number);
      case Wire::fixed64:
        return take(8, ignored);
      case Wire::length:
        return view(ignored);
      case Wire::fixed32:
        return take(4, ignored);
    }
    return false;
  }

  [[gnu::cold, gnu::noinline]] bool fail(std::string what) {
    fault_.what = std::move(what);
    fault_.at = at_;
    return false;
  }

 private:
  static bool is_known(uint64_t wire) { return wire <= 2 || wire == 5; }
  [[gnu::cold, gnu::noinline]] bool refuse_wire() {
    return fail("a value with a length was expected, wire type " + std::to_string(static_cast<int>(wire_)) + " found");
  }
  [[gnu::cold, gnu::noinline]] bool refuse_length(uint64_t count) {
    return fail("a value of " + std::to_string(count) + " bytes where " + std::to_string(end_ - at_) + " are left");
  }
  [[gnu::cold, gnu::noinline]] bool refuse_tag(uint64_t tag) {
    if (tag > UINT32_MAX) return fail("a tag of more than 32 bits");
    if (field_ == 0) return fail("field number 0");
    if ((tag & 7) == 3 || (tag & 7) == 4) return fail("a group tag");
    return fail("wire type " + std::to_string(tag & 7));
  }
  [[gnu::noinline]] bool long_varint(uint64_t& value) try {
    value = protozero::decode_varint(&at_, end_);
    return true;
  } catch (const protozero::exception&) {
    return fail(end_ - at_ < protozero::max_varint_length ? "a varint is truncated" : "a varint of more than 10 bytes");
  }

  const char* at_;
  const char* const end_;
  WireFault& fault_;
  uint32_t field_ = 0;
  Wire wire_ = Wire::varint;
};

}  // namespace headpond::internal
