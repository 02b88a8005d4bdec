// SPDX-License-Identifier: Apache-2.0
#include "headpond/dataset/ops/parse.h"

#include <fmt/format.h>

#include <optional>
#include <type_traits>

#include "headpond/dataset/ops/element.h"
#include "headpond/dataset/ops/parse/parse_step_internal.h"

namespace headpond {
namespace {

template <class Parser>
auto message_of(std::string_view text) {
  if constexpr (std::is_same_v<Parser, JsonParser>) {
    return text;
  } else {
    return std::as_bytes(std::span(text));
  }
}

template <class Parser>
Step parse_step(const char* name, const Parser& parser, const std::optional<std::string>& field = std::nullopt) {
  return internal::parse_step(
      fmt::format("{}({})", name, parser.describe()), parser.fields(),
      [parser](std::string_view text, std::span<std::byte* const> targets, std::span<Tensor> out) {
        return parser.parse(message_of<Parser>(text), targets, out);
      },
      field);
}

}  // namespace

Step map(const ExampleParser& parser) { return parse_step("parse_example", parser); }
Step map(const SequenceExampleParser& parser) { return parse_step("parse_sequence_example", parser); }
Step map(const JsonParser& parser) { return parse_step("parse_json", parser); }
Step map(const std::string& field, const ExampleParser& parser) { return parse_step("parse_example", parser, field); }
Step map(const std::string& field, const SequenceExampleParser& parser) {
  return parse_step("parse_sequence_example", parser, field);
}
Step map(const std::string& field, const JsonParser& parser) { return parse_step("parse_json", parser, field); }

Step map(const std::string& field, const RawDecoder& decoder) {
  const MapOptions options = {.output = {decoder.field()}, .name = fmt::format("decode_raw({})", decoder.describe())};
  return map(
      field, [decoder](std::string_view raw) { return decoder.decode(raw); }, options);
}

}  // namespace headpond
