// SPDX-License-Identifier: Apache-2.0
// What the operators share that parse a text: Examples, JSON.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "headpond/dataset/dataset.h"

namespace headpond::internal {

/// Like ExampleParser::parse (io/example/example.h): field i goes to targets[i] unless that is null, else to out[i].
using ParseText =
    std::function<Result<void>(std::string_view text, std::span<std::byte* const> targets, std::span<Tensor> out)>;

/// Parses a text of each element, one scalar of dtype bytes, into `fields`, which take its place among the other
/// fields; numbers of a fixed shape are written straight into their output slots. `label` names the parser, its fields
/// and options. The text is the field `field`; without it, each element has to be one text.
Step parse_step(std::string label, Spec fields, ParseText parse, std::optional<std::string> field = std::nullopt);

}  // namespace headpond::internal
