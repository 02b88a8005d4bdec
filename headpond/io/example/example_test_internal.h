// SPDX-License-Identifier: Apache-2.0
// A small language for tests: Examples written by hand, field by field.
#pragma once

#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "headpond/io/example/example.h"

namespace headpond::test {

inline std::string varint(uint64_t value) {
  std::string bytes;
  for (; value >= 0x80; value >>= 7) bytes += static_cast<char>(value | 0x80);
  return bytes + static_cast<char>(value);
}
/// A field that has a length: a message, a string, packed numbers.
inline std::string field(uint32_t number, std::string_view bytes) {
  return varint(number << 3 | 2) + varint(bytes.size()) + std::string(bytes);
}
inline std::string float_bytes(float value) {
  std::string bytes(4, '\0');
  std::memcpy(bytes.data(), &value, 4);
  return bytes;
}

/// Features, with packed lists.
inline std::string floats(const std::vector<float>& values) {
  std::string run;
  for (const float value : values) run += float_bytes(value);
  return field(2, field(1, run));
}
inline std::string ints(const std::vector<int64_t>& values) {
  std::string run;
  for (const int64_t value : values) run += varint(static_cast<uint64_t>(value));
  return field(3, field(1, run));
}
inline std::string strings(const std::vector<std::string>& values) {
  std::string list;
  for (const std::string& value : values) list += field(1, value);
  return field(1, list);
}
/// The same, each value by itself.
inline std::string loose_floats(const std::vector<float>& values) {
  std::string list;
  for (const float value : values) list += varint(1 << 3 | 5) + float_bytes(value);
  return field(2, list);
}
inline std::string loose_ints(const std::vector<int64_t>& values) {
  std::string list;
  for (const int64_t value : values) list += varint(1 << 3) + varint(static_cast<uint64_t>(value));
  return field(3, list);
}

inline std::string entry(std::string_view key, std::string_view value) {
  return field(1, field(1, key) + field(2, value));
}
inline std::string example(std::string_view entries) { return field(1, entries); }
inline std::string steps(const std::vector<std::string>& features) {
  std::string list;
  for (const std::string& feature : features) list += field(1, feature);
  return list;
}
inline std::string sequence(std::string_view context_entries, std::string_view list_entries) {
  return field(1, context_entries) + field(2, list_entries);
}

inline std::span<const std::byte> as_message(std::string_view bytes) { return std::as_bytes(std::span(bytes)); }

template <class Parser>
Error parse_error(const Parser& parser, std::string_view message) {
  const auto result = parser.parse(as_message(message));
  return result ? Error() : result.error();
}

/// "x float32[?], n int64[]".
inline std::string fields_of(const Spec& spec) {
  std::string text;
  for (const FieldSpec& field : spec) {
    text += (text.empty() ? "" : ", ") + field.name + " " + std::string(name(field.dtype)) + field.shape.to_string();
  }
  return text;
}

template <class T>
std::vector<T> values(const Tensor& tensor) {
  const auto span = tensor.as<T>();
  return {span.begin(), span.end()};
}
inline std::vector<std::string> texts(const Tensor& tensor) {
  std::vector<std::string> all;
  for (int64_t i = 0; i < tensor.size(); ++i) all.emplace_back(tensor.bytes_at(i));
  return all;
}

}  // namespace headpond::test
