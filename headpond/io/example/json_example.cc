// SPDX-License-Identifier: Apache-2.0
#include "headpond/io/example/json_example.h"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <map>
#include <new>
#include <nlohmann/json.hpp>
#include <optional>
#include <protozero/buffer_string.hpp>
#include <protozero/varint.hpp>
#include <utility>

#include "headpond/io/quoted_name_internal.h"
#include "headpond/io/text/base64_internal.h"
#include "headpond/io/text/json_text_internal.h"
#include "headpond/io/text/number_text_internal.h"

namespace headpond {
namespace {

using internal::quoted_name;
using nlohmann::json;

// Field numbers of tensorflow.Feature.
enum class ListKind : uint8_t { none = 0, bytes = 1, floats = 2, ints = 3 };

// What an open object or array is; each contains only the next one.
enum class Level : uint8_t { nothing, example, features, map, feature, list, values };

void append_field(std::string& to, uint32_t number, std::string_view content) {
  to.push_back(static_cast<char>(number << 3 | 2));
  protozero::add_varint_to_buffer(&to, content.size());
  to += content;
}

ListKind list_of(std::string_view name) {
  if (name == "bytesList" || name == "bytes_list") return ListKind::bytes;
  if (name == "floatList" || name == "float_list") return ListKind::floats;
  return name == "int64List" || name == "int64_list" ? ListKind::ints : ListKind::none;
}

// NaN and infinity by protobuf's names only.
std::optional<double> number_of(std::string_view text) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  if (text == "NaN") return std::numeric_limits<double>::quiet_NaN();
  if (text == "Infinity") return kInfinity;
  if (text == "-Infinity") return -kInfinity;
  double value = 0;
  const bool is_read = !text.starts_with('+') && internal::read_number(text, value) == internal::NumberFault::none;
  return is_read && std::isfinite(value) ? std::optional(value) : std::nullopt;
}

// The callbacks of the parser, called after each token.
class JsonExample {
 public:
  JsonExample(std::string_view text, const ExampleLimits& limits) : text_(text), limits_(limits), seen_(text.data()) {}

  Result<std::string> decode();

  bool null();
  bool boolean(bool) { return wrong("true or false, where none belongs"); }
  bool number_integer(json::number_integer_t value) {
    return kind_ == ListKind::ints ? put_int(value) : put_number(static_cast<double>(value));
  }
  bool number_unsigned(json::number_unsigned_t value) {
    if (kind_ == ListKind::ints && value <= INT64_MAX) return put_int(static_cast<int64_t>(value));
    return put_number(static_cast<double>(value));
  }
  bool number_float(json::number_float_t value, const json::string_t&) { return put_number(value); }
  bool string(const json::string_t& value);
  bool binary(const json::binary_t&) { return false; }
  bool start_object(size_t);
  bool start_array(size_t);
  bool key(const json::string_t& key);
  bool end_object();
  bool end_array() {
    level_ = Level::list;
    return true;
  }
  bool parse_error(size_t, const std::string&, const nlohmann::detail::exception& error);

 private:
  bool wrong(const std::string& what, ErrorKind kind = ErrorKind::InvalidArgument);
  bool once(bool& seen, std::string_view key, std::string_view known);
  bool begin_feature(const std::string& key);
  bool begin_list(std::string_view name);
  bool put_int(int64_t value);
  bool put_number(double value);
  bool put_bytes(std::string_view text);
  void end_feature();
  Result<std::string> message() const;

  const std::string_view text_;
  const ExampleLimits limits_;
  const char* seen_;
  Level level_ = Level::nothing;
  bool has_features_ = false, has_map_ = false, has_values_ = false;  // The key was found.
  bool is_list_ = false;            // The current feature has a list that is not null.
  ListKind kind_ = ListKind::none;  // Kind of the current list.
  std::string feature_key_;
  std::string values_;   // The values of the current list, encoded.
  std::string feature_;  // The current Feature.
  std::map<std::string, std::string> features_;
  Error error_;
};

bool JsonExample::wrong(const std::string& what, ErrorKind kind) {
  const bool in_feature = level_ >= Level::map && !features_.empty();
  error_ =
      Error(kind, fmt::format("JSON Example{}: {}, before offset {}",
                              in_feature ? ", feature " + quoted_name(feature_key_) : "", what, seen_ - text_.data()));
  return false;
}

bool JsonExample::once(bool& seen, std::string_view key, std::string_view known) {
  if (key != known) return wrong(fmt::format("key {}, where only {} belongs", quoted_name(key), quoted_name(known)));
  return !std::exchange(seen, true) || wrong(fmt::format("key {} twice", quoted_name(key)));
}

bool JsonExample::key(const json::string_t& key) {
  switch (level_) {
    case Level::example:
      return once(has_features_, key, "features");
    case Level::features:
      return once(has_map_, key, "feature");
    case Level::map:
      return begin_feature(key);
    case Level::feature:
      return begin_list(key);
    default:
      return once(has_values_, key, "value");
  }
}

bool JsonExample::begin_feature(const std::string& key) {
  if (features_.size() >= limits_.max_features) return wrong("too many features", ErrorKind::ResourceExhausted);
  feature_key_ = key;
  feature_.clear();
  is_list_ = false;
  return features_.try_emplace(key).second || wrong(fmt::format("feature {} twice", quoted_name(key)));
}

bool JsonExample::begin_list(std::string_view name) {
  kind_ = list_of(name);
  if (kind_ == ListKind::none)
    return wrong(fmt::format("key {}, where bytesList, floatList or int64List belongs", quoted_name(name)));
  return true;
}

bool JsonExample::start_object(size_t) {
  if (level_ >= Level::list) return wrong("an object, where none belongs");
  if (level_ == Level::feature) {
    if (std::exchange(is_list_, true)) return wrong("a second list");
    values_.clear();
    has_values_ = false;
  }
  level_ = static_cast<Level>(static_cast<int>(level_) + 1);
  return true;
}

bool JsonExample::start_array(size_t) {
  if (level_ != Level::list) return wrong("an array, where none belongs");
  level_ = Level::values;
  return true;
}

bool JsonExample::null() {
  const bool is_message = level_ != Level::nothing && level_ != Level::map && level_ != Level::values;
  return is_message || wrong("null, where a value belongs");
}

bool JsonExample::end_object() {
  if (level_ == Level::list) {
    std::string list;
    if (kind_ == ListKind::bytes) list = std::move(values_);
    if (kind_ != ListKind::bytes && !values_.empty()) append_field(list, 1, values_);
    append_field(feature_, static_cast<uint32_t>(kind_), list);
  }
  if (level_ == Level::feature) features_[feature_key_] = std::move(feature_);
  level_ = static_cast<Level>(static_cast<int>(level_) - 1);
  return true;
}

bool JsonExample::put_int(int64_t value) {
  if (level_ != Level::values) return wrong("a number, where none belongs");
  protozero::add_varint_to_buffer(&values_, static_cast<uint64_t>(value));
  return true;
}

bool JsonExample::put_number(double value) {
  if (level_ != Level::values) return wrong("a number, where none belongs");
  if (kind_ == ListKind::bytes) return wrong("a number in a list of bytes");
  if (kind_ == ListKind::ints) {
    constexpr double kEnd = 9223372036854775808.0;  // 2^63.
    const bool fits = std::trunc(value) == value && value >= -kEnd && value < kEnd;
    return fits ? put_int(static_cast<int64_t>(value)) : wrong(fmt::format("{} is not an int64", value));
  }
  constexpr double kRoundsToInfinity = 0x1.ffffffp127;  // Below it the nearest float32 is finite.
  if (std::isfinite(value) && std::abs(value) >= kRoundsToInfinity) {
    return wrong(fmt::format("{} is out of the range of float32", value));
  }
  const auto small = static_cast<float>(value);
  values_.append(reinterpret_cast<const char*>(&small), sizeof small);
  return true;
}

bool JsonExample::put_bytes(std::string_view text) {
  const auto decoded = internal::from_base64(text);
  if (!decoded) return wrong("a string that is not base64");
  append_field(values_, 1, *decoded);
  return true;
}

bool JsonExample::string(const json::string_t& value) {
  if (level_ != Level::values) return wrong("a string, where none belongs");
  if (kind_ == ListKind::bytes) return put_bytes(value);
  int64_t integer = 0;
  const bool is_int = kind_ == ListKind::ints && !value.starts_with('+') &&
                      internal::read_number(value, integer) == internal::NumberFault::none;
  if (is_int) return put_int(integer);
  const auto number = number_of(value);
  return number ? put_number(*number) : wrong(fmt::format("the string {}, where a number belongs", quoted_name(value)));
}

bool JsonExample::parse_error(size_t, const std::string&, const nlohmann::detail::exception& error) {
  const std::string what = internal::syntax_error_of(error.what());
  return wrong(what.empty() ? "a number beyond float64" : what);
}

Result<std::string> JsonExample::message() const {
  std::string map, entry, message;
  for (const auto& [key, feature] : features_) {
    entry.clear();
    append_field(entry, 1, key);
    append_field(entry, 2, feature);
    append_field(map, 1, entry);
  }
  if (has_features_) append_field(message, 1, map);
  if (message.size() <= INT32_MAX) return message;
  return fail(ErrorKind::ResourceExhausted,
              fmt::format("JSON Example: a message of {} bytes; the limit is {}", message.size(), INT32_MAX));
}

Result<std::string> JsonExample::decode() {
  if (text_.size() > limits_.max_bytes) {
    return fail(ErrorKind::ResourceExhausted,
                fmt::format("JSON Example of {} bytes; the limit is {}", text_.size(), limits_.max_bytes));
  }
  using internal::CountedBytes;
  const char* const end = text_.data() + text_.size();
  if (!json::sax_parse(CountedBytes{text_.data(), &seen_}, CountedBytes{end, &seen_}, this)) return fail(error_);
  // The parser takes a NUL for the end.
  if (text_.find('\0') != std::string_view::npos) {
    wrong("something follows the object");
    return fail(error_);
  }
  return message();
}

}  // namespace

Result<std::string> decode_json_example(std::string_view text, ExampleLimits limits) try {
  return JsonExample(text, limits).decode();
} catch (const std::bad_alloc&) {
  return fail(current_exception_error());
}

}  // namespace headpond
