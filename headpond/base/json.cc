// SPDX-License-Identifier: Apache-2.0
#include "headpond/base/json.h"

#include <array>
#include <charconv>
#include <cmath>

#include "headpond/base/status.h"

namespace headpond {
namespace {

[[noreturn]] void out_of_turn(std::string_view what) {
  throw Exception(Error(ErrorKind::FailedPrecondition, "JsonWriter: " + std::string(what)));
}

// to_chars for a floating-point number needs at most 24 characters, for an integer 20.
template <class T>
void append_number(std::string& text, T number) {
  std::array<char, 32> digits;
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), number).ptr;
  text.append(digits.data(), end);
}

constexpr unsigned char byte(char c) { return static_cast<unsigned char>(c); }

// The first continuation byte has a narrower range after these leads: no overlong forms, no surrogates, none above
// U+10FFFF.
constexpr bool second_fits(unsigned char lead, unsigned char second) {
  const unsigned char from = lead == 0xe0 ? 0xa0 : lead == 0xf0 ? 0x90 : 0x80;
  const unsigned char to = lead == 0xed ? 0x9f : lead == 0xf4 ? 0x8f : 0xbf;
  return second >= from && second <= to;
}

// The length of the UTF-8 sequence of two or more bytes at the start of `text`, 0 iff there is none.
size_t sequence_length(std::string_view text) {
  const unsigned char lead = byte(text[0]);
  const size_t length = lead >= 0xc2 && lead <= 0xdf   ? 2
                        : (lead & 0xf0) == 0xe0        ? 3
                        : lead >= 0xf0 && lead <= 0xf4 ? 4
                                                       : 0;
  if (length == 0 || text.size() < length || !second_fits(lead, byte(text[1]))) return 0;
  for (size_t i = 2; i < length; ++i)
    if ((byte(text[i]) & 0xc0) != 0x80) return 0;
  return length;
}

constexpr bool is_plain(char c) { return byte(c) >= 0x20 && byte(c) < 0x80 && c != '"' && c != '\\'; }

void append_escape(std::string& text, char c) {
  constexpr std::string_view kNamed = "\"\\\b\f\n\r\t";
  constexpr std::string_view kNames = "\"\\bfnrt";
  text += '\\';
  if (const size_t at = kNamed.find(c); at != std::string_view::npos) {
    text += kNames[at];
  } else {
    constexpr std::string_view kHex = "0123456789abcdef";
    text += "u00";
    text += kHex[byte(c) >> 4];
    text += kHex[byte(c) & 15];
  }
}

std::string_view non_finite_text(double number) {
  return std::isnan(number) ? R"("NaN")" : number > 0 ? R"("Infinity")" : R"("-Infinity")";
}

}  // namespace

void JsonWriter::quote(std::string_view text) {
  text_ += '"';
  while (!text.empty()) {
    size_t plain = 0;
    while (plain < text.size() && is_plain(text[plain])) ++plain;
    text_ += text.substr(0, plain);
    text.remove_prefix(plain);
    if (text.empty()) break;
    size_t used = 1;
    if (byte(text[0]) < 0x80) {
      append_escape(text_, text[0]);
    } else if (const size_t length = sequence_length(text); length != 0) {
      text_ += text.substr(0, length);
      used = length;
    } else {
      text_ += "\xef\xbf\xbd";
    }
    text.remove_prefix(used);
  }
  text_ += '"';
}

void JsonWriter::break_line() {
  if (layout_ == JsonLayout::Indented) text_.append("\n").append(2 * open_.size(), ' ');
}

// Called before the key of a member, and before an element of an array.
void JsonWriter::separate() {
  if (!open_.back().empty) text_ += ',';
  open_.back().empty = false;
  break_line();
}

void JsonWriter::before_value() {
  if (open_.empty()) {
    if (done_) out_of_turn("a second top-level value");
    done_ = true;
  } else if (open_.back().bracket == '[') {
    separate();
  } else {
    if (!after_key_) out_of_turn("a value without a key");
    after_key_ = false;
  }
}

JsonWriter& JsonWriter::begin(char bracket) {
  before_value();
  text_ += bracket;
  open_.push_back({bracket, true});
  return *this;
}

JsonWriter& JsonWriter::end(char bracket, char closing) {
  if (open_.empty() || open_.back().bracket != bracket) out_of_turn("an end that does not match");
  if (after_key_) out_of_turn("a key without a value");
  const bool was_empty = open_.back().empty;
  open_.pop_back();
  if (!was_empty) break_line();
  text_ += closing;
  return *this;
}

JsonWriter& JsonWriter::key(std::string_view name) {
  if (open_.empty() || open_.back().bracket != '{' || after_key_)
    out_of_turn("a key outside of an object or after another key");
  separate();
  quote(name);
  text_ += layout_ == JsonLayout::Indented ? ": " : ":";
  after_key_ = true;
  return *this;
}

JsonWriter& JsonWriter::raw(std::string_view json) {
  before_value();
  text_ += json;
  return *this;
}

JsonWriter& JsonWriter::value(std::string_view text) {
  before_value();
  quote(text);
  return *this;
}

JsonWriter& JsonWriter::value(double number) {
  if (!std::isfinite(number)) return raw(non_finite_ == JsonNonFinite::AsNull ? "null" : non_finite_text(number));
  before_value();
  append_number(text_, number);
  return *this;
}

JsonWriter& JsonWriter::value(float number) {
  if (!std::isfinite(number)) return value(static_cast<double>(number));
  before_value();
  append_number(text_, number);
  return *this;
}

JsonWriter& JsonWriter::signed_value(int64_t number) {
  before_value();
  append_number(text_, number);
  return *this;
}

JsonWriter& JsonWriter::unsigned_value(uint64_t number) {
  before_value();
  append_number(text_, number);
  return *this;
}

std::string JsonWriter::take() { return std::exchange(text_, {}); }

}  // namespace headpond
