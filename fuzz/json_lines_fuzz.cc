// SPDX-License-Identifier: Apache-2.0
// JSON objects from any bytes: tensors of the requested keys only if the text is valid JSON, and then the same as by
// another parser.
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <nlohmann/json.hpp>
#include <string_view>
#include <vector>

#include "headpond/io/text/json/json_lines.h"

namespace {

using headpond::Tensor;

void require(bool holds) {
  if (!holds) __builtin_trap();
}

const std::vector<headpond::JsonField>& fields() {
  static const std::vector<headpond::JsonField> all = {
      {.key = "n", .dtype = headpond::i64, .default_value = Tensor::scalar(int64_t{-5})},
      {.key = "x", .dtype = headpond::f64, .shape = {2, 2}, .default_value = Tensor::scalar(0.5)},
      {.key = "s", .dtype = headpond::bytes, .shape = {headpond::kUnknown}, .default_value = Tensor::from({}, {0})},
      {.key = "b", .dtype = headpond::boolean, .default_value = Tensor::scalar(true)}};
  return all;
}

bool same(const Tensor& a, const Tensor& b) {
  return a.shape() == b.shape() && a.byte_size() == b.byte_size() &&
         (a.byte_size() == 0 || std::memcmp(a.data(), b.data(), a.byte_size()) == 0);
}

bool is_there(const nlohmann::json& object, const char* key) { return object.contains(key) && !object[key].is_null(); }

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const headpond::JsonParser parser(fields(), {.max_depth = 20});
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto got = parser.parse(text);
  const auto plain = headpond::internal::parse_json_plainly(parser, text);
  require(got.has_value() == plain.has_value());
  if (!got) require(got.error().to_string() == plain.error().to_string());
  for (size_t i = 0; got && i < got->size(); ++i) require(same((*got)[i], (*plain)[i]));
  if (!got) {
    const bool is_deep = got.error().kind() == headpond::ErrorKind::ResourceExhausted;
    require(is_deep || got.error().kind() == headpond::ErrorKind::InvalidArgument);
    return 0;
  }
  require(text.find('\0') == std::string_view::npos);  // The other parser would take it for the end of the text.
  const auto object = nlohmann::json::parse(text, nullptr, false);
  require(object.is_object());
  const std::vector<Tensor>& tensors = *got;
  require(tensors[0].as<int64_t>()[0] == (is_there(object, "n") ? object["n"].get<int64_t>() : -5));
  for (size_t i = 0; i < 4; ++i) {
    const double value = is_there(object, "x") ? object["x"][i / 2][i % 2].get<double>() : 0.5;
    require(tensors[1].as<double>()[i] == value);
  }
  const size_t strings = is_there(object, "s") ? object["s"].size() : 0;
  require(static_cast<size_t>(tensors[2].size()) == strings);
  for (size_t i = 0; i < strings; ++i) {
    require(tensors[2].bytes_at(static_cast<int64_t>(i)) == object["s"][i].get_ref<const std::string&>());
  }
  require(tensors[3].as<bool>()[0] == (is_there(object, "b") ? object["b"].get<bool>() : true));
  return 0;
}
