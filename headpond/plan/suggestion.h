// SPDX-License-Identifier: Apache-2.0
// The word that a user probably meant by an unknown one.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace headpond::plan {

/// The word of `known` that is most like `word`; nullopt iff none is like it.
std::optional<std::string> closest(std::string_view word, const std::vector<std::string>& known);

/// "; did you mean 'shuffle'?" for one of `known` that is like `word`, else "".
std::string did_you_mean(std::string_view word, const std::vector<std::string>& known);

/// The same, but where none is like `word` it lists them: "; known: a, b, c".
std::string suggestion(std::string_view word, const std::vector<std::string>& known);

}  // namespace headpond::plan
