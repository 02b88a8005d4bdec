// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "headpond/dataset/ops/example.h"
#include "headpond/dataset/parse_internal.h"

namespace headpond {
namespace {

template <class Parser>
Step parse_step(const char* name, const Parser& parser) {
  return internal::parse_step(
      fmt::format("{}({})", name, parser.describe()), parser.fields(),
      [parser](std::string_view text, std::span<std::byte* const> places, std::span<Tensor> out) {
        return parser.parse(std::as_bytes(std::span(text)), places, out);
      });
}

}  // namespace

Step map(const ExampleParser& parser) { return parse_step("parse_example", parser); }
Step map(const SequenceExampleParser& parser) { return parse_step("parse_sequence_example", parser); }

}  // namespace headpond
