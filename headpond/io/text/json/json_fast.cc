// SPDX-License-Identifier: Apache-2.0
#include <simdjson.h>

#include <algorithm>
#include <charconv>

#include "headpond/io/text/json/json_fast_internal.h"
#include "headpond/io/text/utf8_internal.h"

namespace headpond::internal {
namespace {

namespace dom = simdjson::dom;

constexpr size_t kMostTextBytes = size_t{256} << 10;
constexpr uint64_t kMostDepth = 1024;

// The escape at `at`, as "d83d" of "\ud83d"; 0 if there is none.
unsigned escaped_unit(std::string_view text, size_t at) {
  unsigned unit = 0;
  if (text.size() < at + 6 || text[at] != '\\' || text[at + 1] != 'u') return 0;
  const char* const end = text.data() + at + 6;
  return std::from_chars(end - 4, end, unit, 16).ptr == end ? unit : 0;
}

// simdjson takes surrogates that are no pair, which are no text.
bool has_lone_surrogate(std::string_view text) {
  for (size_t at = text.find('\\'); at != std::string_view::npos; at = text.find('\\', at)) {
    const unsigned unit = escaped_unit(text, at);
    if (unit >= 0xd800 && unit < 0xe000) {
      const unsigned next = escaped_unit(text, at + 6);
      if (unit >= 0xdc00 || next < 0xdc00 || next >= 0xe000) return true;
      at += 6;
    }
    at += unit == 0 ? 2 : 6;
  }
  return false;
}

// Each function is true iff the value fits, and is certain.
class Reader {
 public:
  explicit Reader(std::string_view text) : text_(text) {}

  bool read(const dom::element& value, JsonValues& to) const {
    switch (value.type()) {
      case dom::element_type::INT64:
        return integer(value.get_int64().value_unsafe(), to);
      case dom::element_type::UINT64:
        return to.unsigned_integer(value.get_uint64().value_unsafe());
      case dom::element_type::DOUBLE:
        return to.real(value.get_double().value_unsafe());
      case dom::element_type::STRING:
        return to.text(value.get_string().value_unsafe()).empty();
      case dom::element_type::BOOL:
        return to.boolean(value.get_bool().value_unsafe()).empty();
      case dom::element_type::NULL_VALUE:
        return to.null().empty();
      case dom::element_type::ARRAY:
        return array(value.get_array().value_unsafe(), to);
      case dom::element_type::OBJECT:
        break;
    }
    return false;
  }

 private:
  // -0 as a float is not 0, which an integer does not tell.
  bool integer(int64_t value, JsonValues& to) const {
    return (value != 0 || text_.find("-0") == std::string_view::npos) && to.integer(value);
  }
  bool array(const dom::array& all, JsonValues& to) const {
    if (!to.open_array().empty()) return false;
    for (const dom::element one : all) {
      if (!read(one, to)) return false;
    }
    return to.close_array().empty();
  }

  const std::string_view text_;
};

}  // namespace

bool read_json_fast(std::string_view text, const KeyTable& keys, uint64_t max_depth, std::span<JsonValues> values) {
  if (text.starts_with(kByteOrderMark)) text.remove_prefix(kByteOrderMark.size());
  if (text.empty() || text.size() > kMostTextBytes || has_lone_surrogate(text)) return false;
  static thread_local dom::parser parser(kMostTextBytes);
  const auto depth = static_cast<size_t>(std::clamp<uint64_t>(max_depth, 1, kMostDepth));
  if (parser.max_depth() != depth && parser.allocate(parser.capacity(), depth) != simdjson::SUCCESS) return false;
  dom::object object;
  if (parser.parse(text.data(), text.size(), true).get(object) != simdjson::SUCCESS) return false;
  const Reader reader(text);
  for (const dom::key_value_pair pair : object) {
    const size_t field = keys.find(pair.key);
    if (field == KeyTable::kNone) continue;
    values[field].begin();
    if (!reader.read(pair.value, values[field])) return false;
  }
  return true;
}

}  // namespace headpond::internal
