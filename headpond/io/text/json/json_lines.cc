// SPDX-License-Identifier: Apache-2.0
#include "headpond/io/text/json/json_lines.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <new>
#include <nlohmann/json.hpp>
#include <utility>

#include "headpond/io/key_table_internal.h"
#include "headpond/io/quoted_name_internal.h"
#include "headpond/io/text/json/json_fast_internal.h"
#include "headpond/io/text/json/json_values_internal.h"
#include "headpond/io/text/json_text_internal.h"
#include "headpond/io/text/utf8_internal.h"

namespace headpond {

class internal::JsonPlan {
 public:
  JsonPlan(std::vector<JsonField> fields, const JsonLimits& given) : limits(given) {
    for (JsonField& field : fields) {
      defaults.push_back(checked_default(field));
      asked.push_back(std::move(field));
      const JsonField& known = asked.back();
      if (keys.add(known.key) + 1 != asked.size()) {
        throw Exception(Error(ErrorKind::InvalidArgument, fmt::format("key {}: twice", quoted_name(known.key))));
      }
      spec.push_back({known.key, known.dtype, known.shape});
    }
  }

  std::vector<internal::JsonValues> values() const {
    std::vector<internal::JsonValues> all;
    all.reserve(asked.size());
    for (size_t i = 0; i < asked.size(); ++i) all.emplace_back(asked[i], defaults[i].get());
    return all;
  }

  std::string describe() const {
    std::string text;
    for (size_t i = 0; i < asked.size(); ++i) {
      const JsonField& field = asked[i];
      fmt::format_to(std::back_inserter(text), "{}{}: {}{}", text.empty() ? "" : ", ", quoted_name(field.key),
                     name(field.dtype), field.shape.to_string());
      if (!defaults[i]) continue;
      text += fmt::format(" default={}{:08x}", field.default_value->shape().to_string(), defaults[i]->checksum());
    }
    return text;
  }

  std::vector<JsonField> asked;
  std::vector<std::shared_ptr<const DefaultValue>> defaults;  // One for each field, or null.
  KeyTable keys;
  Spec spec;
  JsonLimits limits;
};

namespace {

using internal::CountedBytes;
using internal::JsonPlan;
using internal::JsonValues;
using internal::KeyTable;
using nlohmann::json;

// The callbacks of the parser, called after each token.
class Events {
 public:
  Events(const JsonPlan& plan, std::string_view text)
      : plan_(plan), text_(text), seen_(text.data()), values_(plan.values()) {
    if (text.starts_with(internal::kByteOrderMark)) end_ = internal::kByteOrderMark.size();
  }

  Result<void> parse(const internal::FieldTargets& targets);

  bool null() {
    return leaf([](JsonValues& values) { return values.null(); });
  }
  bool boolean(bool value) {
    return leaf([value](JsonValues& values) { return values.boolean(value); });
  }
  bool number_integer(json::number_integer_t) { return number(); }
  bool number_unsigned(json::number_unsigned_t) { return number(); }
  bool number_float(json::number_float_t, const json::string_t&) { return number(); }
  bool string(const json::string_t& value) {
    return leaf([&value](JsonValues& values) { return values.text(value); });
  }
  bool binary(const json::binary_t&) { return false; }
  bool start_object(size_t) {
    if (depth_ > 0) return leaf([](JsonValues& values) { return values.object(); }) && deeper();
    pass();
    return deeper();
  }
  bool start_array(size_t) {
    return leaf([](JsonValues& values) { return values.open_array(); }) && deeper();
  }
  bool end_array() {
    --depth_;
    return leaf([](JsonValues& values) { return values.close_array(); });
  }
  bool end_object() {
    --depth_;
    pass();
    return true;
  }
  bool key(const json::string_t& key) {
    pass();
    if (depth_ != 1) return true;
    field_ = plan_.keys.find(key);
    if (field_ != KeyTable::kNone) values_[field_].begin();
    return true;
  }
  bool parse_error(size_t, const std::string&, const nlohmann::detail::exception& error);

 private:
  // Advances over the token; returns its start.
  size_t pass() {
    const size_t begin = std::min(text_.find_first_not_of(" \t\r\n,:", end_), text_.size());
    // After a number the parser has read one byte more.
    const bool is_number =
        begin < text_.size() && (text_[begin] == '-' || (text_[begin] >= '0' && text_[begin] <= '9'));
    end_ = is_number ? std::min(text_.find_first_not_of("+-0123456789.eE", begin), text_.size())
                     : static_cast<size_t>(seen_ - text_.data());
    return begin;
  }
  bool deeper() {
    if (++depth_ <= plan_.limits.max_depth) return true;
    return wrong(ErrorKind::ResourceExhausted, end_ - 1, fmt::format("more than {} levels", plan_.limits.max_depth));
  }
  bool wrong(ErrorKind kind, size_t offset, const std::string& what) {
    error_ = Error(kind, fmt::format("JSON: {}, at offset {}", what, offset));
    return false;
  }
  bool number() {
    return leaf([this](JsonValues& values) { return values.number(text_.substr(begin_, end_ - begin_)); });
  }
  template <class Take>
  bool leaf(Take take);

  const JsonPlan& plan_;
  const std::string_view text_;
  const char* seen_;
  std::vector<JsonValues> values_;
  size_t begin_ = 0, end_ = 0;      // Where the last token lies.
  uint64_t depth_ = 0;              // Depth of open objects and arrays.
  size_t field_ = KeyTable::kNone;  // The field of the current key of the outermost object.
  Error error_;
};

// Handles a part of the value of a key; `take` returns what is wrong with it.
template <class Take>
bool Events::leaf(Take take) {
  begin_ = pass();
  if (depth_ == 0) return wrong(ErrorKind::InvalidArgument, begin_, "an object expected, found something else");
  if (field_ == KeyTable::kNone) return true;
  const std::string what = take(values_[field_]);
  if (what.empty()) return true;
  return wrong(ErrorKind::InvalidArgument, begin_,
               fmt::format("key {}: {}", internal::quoted_name(plan_.asked[field_].key), what));
}

bool Events::parse_error(size_t, const std::string&, const nlohmann::detail::exception& error) {
  const std::string what = internal::syntax_error_of(error.what());
  const auto offset = static_cast<size_t>(seen_ - text_.data());
  if (what.empty()) return wrong(ErrorKind::InvalidArgument, offset, "a number beyond float64 ends");
  return wrong(ErrorKind::InvalidArgument, offset == 0 ? 0 : offset - 1, what);
}

Result<void> Events::parse(const internal::FieldTargets& targets) {
  const char* const end = text_.data() + text_.size();
  if (!json::sax_parse(CountedBytes{text_.data(), &seen_}, CountedBytes{end, &seen_}, this)) return fail(error_);
  const size_t after = text_.find_first_not_of(" \t\r\n", end_);  // The parser takes a NUL for the end.
  if (after != std::string_view::npos) {
    wrong(ErrorKind::InvalidArgument, after, "something follows the object");
    return fail(error_);
  }
  for (size_t i = 0; i < values_.size(); ++i) {
    if (const auto given = values_[i].give(i, targets); !given) {
      return fail(given.error().kind(),
                  fmt::format("JSON: key {}: {}; none in the object that ends at offset {}",
                              internal::quoted_name(plan_.asked[i].key), given.error().message(), end_ - 1));
    }
  }
  return {};
}

// False: whatever is wrong, the other parser has the words for it.
bool is_given_fast(const JsonPlan& plan, std::string_view text, const internal::FieldTargets& targets) {
  std::vector<JsonValues> values = plan.values();
  if (!internal::read_json_fast(text, plan.keys, plan.limits.max_depth, values)) return false;
  for (size_t i = 0; i < values.size(); ++i) {
    if (!values[i].give(i, targets)) return false;
  }
  return true;
}

Result<void> check_size(const JsonPlan& plan, std::string_view text) {
  if (text.size() <= plan.limits.max_bytes) return {};
  return fail(ErrorKind::ResourceExhausted,
              fmt::format("JSON: {} bytes, at most {}", text.size(), plan.limits.max_bytes));
}

}  // namespace

Result<std::vector<Tensor>> internal::parse_json_plainly(const JsonParser& parser, std::string_view text) {
  std::vector<Tensor> out(parser.fields().size());
  HEADPOND_TRY(check_size(*parser.plan_, text));
  HEADPOND_TRY(Events(*parser.plan_, text).parse({{}, out}));
  return out;
}

JsonParser::JsonParser(std::vector<JsonField> fields, JsonLimits limits)
    : plan_(std::make_shared<const JsonPlan>(std::move(fields), limits)) {}

const Spec& JsonParser::fields() const { return plan_->spec; }
std::string JsonParser::describe() const { return plan_->describe(); }

Result<void> JsonParser::parse(std::string_view text, std::span<std::byte* const> targets, std::span<Tensor> out) const
    try {
  const internal::FieldTargets field_targets = {targets, out};
  HEADPOND_TRY(field_targets.check(fields().size()));
  HEADPOND_TRY(check_size(*plan_, text));
  if (is_given_fast(*plan_, text, field_targets)) return {};
  return Events(*plan_, text).parse(field_targets);
} catch (const std::bad_alloc&) {
  return fail(current_exception_error());
}

Result<std::vector<Tensor>> JsonParser::parse(std::string_view text) const try {
  std::vector<Tensor> out(fields().size());
  HEADPOND_TRY(parse(text, {}, out));
  return out;
} catch (const std::bad_alloc&) {
  return fail(current_exception_error());
}

}  // namespace headpond
