// SPDX-License-Identifier: Apache-2.0
// What operators have in common that take a text apart: Examples, JSON.
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <string_view>

#include "headpond/dataset/dataset.h"

namespace headpond::internal {

/// As ExampleParser::parse (io/example/example.h): field i goes to targets[i] unless that is null, else to out[i].
using ParseText =
    std::function<Result<void>(std::string_view text, std::span<std::byte* const> targets, std::span<Tensor> out)>;

/// Each element, which is one scalar of dtype bytes, as what `parse` makes of it: `fields`, numbers of a fixed shape
/// straight where they belong. `label` names the parser and all that it is asked for.
Step parse_step(std::string label, Spec fields, ParseText parse);

}  // namespace headpond::internal
