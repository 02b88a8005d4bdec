// SPDX-License-Identifier: Apache-2.0
// What the operators share that parse a text: Examples, JSON.
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <string_view>

#include "headpond/dataset/dataset.h"

namespace headpond::internal {

/// Like ExampleParser::parse (io/example/example.h): field i goes to targets[i] unless that is null, else to out[i].
using ParseText =
    std::function<Result<void>(std::string_view text, std::span<std::byte* const> targets, std::span<Tensor> out)>;

/// Parses each element, which is one scalar of dtype bytes, into `fields`; numbers of a fixed shape are written
/// straight into their output slots. `label` names the parser, its fields and options.
Step parse_step(std::string label, Spec fields, ParseText parse);

}  // namespace headpond::internal
