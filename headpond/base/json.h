// SPDX-License-Identifier: Apache-2.0
// A streaming JSON writer (RFC 8259): calls append to a string, and only the nesting is stored. Output is valid UTF-8
// whatever the strings contain. One thread at a time.
//
//   JsonWriter json;
// json.begin_object().key("steps").value(6).key("losses").begin_array().value(0.5).value(0.25).end_array().end_object();
//   json.text()  ->  {"steps":6,"losses":[0.5,0.25]}
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace headpond {

/// How a number is written that JSON cannot represent.
enum class JsonNonFinite : uint8_t {
  AsString,  ///< "NaN", "Infinity", "-Infinity"
  AsNull,    ///< null
};

/// The layout of the text.
enum class JsonLayout : uint8_t {
  Compact,   ///< One line, no spaces.
  Indented,  ///< Two spaces per level, one member or element per line.
};

/// A call that would make invalid JSON (a value in an object without a key, a key in an array, an end that does not
/// match, a second top-level value) is a bug in the program and throws Exception(FailedPrecondition).
class JsonWriter {
 public:
  explicit JsonWriter(JsonNonFinite non_finite = JsonNonFinite::AsString, JsonLayout layout = JsonLayout::Compact)
      : non_finite_(non_finite), layout_(layout) {}

  JsonWriter& begin_object() { return begin('{'); }
  JsonWriter& end_object() { return end('{', '}'); }
  JsonWriter& begin_array() { return begin('['); }
  JsonWriter& end_array() { return end('[', ']'); }

  /// The name of the next value; REQUIRES: inside an object, after a complete member.
  JsonWriter& key(std::string_view name);

  /// Quotes, backslashes and control characters are escaped; each byte that is not part of valid UTF-8 becomes U+FFFD.
  JsonWriter& value(std::string_view text);
  JsonWriter& value(const char* text) { return value(std::string_view(text)); }
  JsonWriter& value(bool flag) { return raw(flag ? "true" : "false"); }
  JsonWriter& value(std::nullptr_t) { return raw("null"); }

  /// The shortest text that parses to the same double (float).
  JsonWriter& value(double number);
  JsonWriter& value(float number);

  /// All digits, also beyond 2^53, where readers that use doubles round.
  template <std::integral T>
    requires(!std::same_as<T, char>)
  JsonWriter& value(T number) {
    if constexpr (std::signed_integral<T>)
      return signed_value(int64_t{number});
    else
      return unsigned_value(uint64_t{number});
  }

  /// key(name).value(value).
  template <class T>
  JsonWriter& member(std::string_view name, T&& v) {
    return key(name).value(std::forward<T>(v));
  }

  /// Appends `json` unchanged. REQUIRES: one complete JSON value.
  JsonWriter& raw(std::string_view json);

  /// The text so far; a document iff complete(). The view is valid until the next call.
  std::string_view text() const { return text_; }
  bool complete() const { return done_ && open_.empty(); }

  /// Removes and returns the text so far, so that a long document can be written to a file in pieces. The nesting
  /// stays.
  std::string take();

 private:
  struct Level {
    char bracket;
    bool empty;
  };

  JsonWriter& begin(char bracket);
  JsonWriter& end(char bracket, char closing);
  JsonWriter& signed_value(int64_t number);
  JsonWriter& unsigned_value(uint64_t number);
  void before_value();
  void separate();
  void break_line();
  void quote(std::string_view text);

  JsonNonFinite non_finite_;
  JsonLayout layout_;
  std::string text_;
  std::vector<Level> open_;
  bool after_key_ = false;
  bool done_ = false;
};

}  // namespace headpond
