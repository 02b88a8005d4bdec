// SPDX-License-Identifier: Apache-2.0
// What the parsers of JSON share: the bytes of a text, counted while they are read, and the words of a syntax error.
#pragma once

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <string>
#include <string_view>

namespace headpond::internal {

/// Iterates over a text for nlohmann's parser; `seen` is the end of what it has read.
struct CountedBytes {
  using iterator_category = std::input_iterator_tag;
  using value_type = char;
  using difference_type = std::ptrdiff_t;
  using pointer = const char*;
  using reference = const char&;

  reference operator*() const { return *at; }
  CountedBytes& operator++() {
    *seen = ++at;
    return *this;
  }
  CountedBytes operator++(int) {
    const CountedBytes before = *this;
    ++*this;
    return before;
  }
  bool operator==(const CountedBytes& other) const { return at == other.at; }

  const char* at;
  const char** seen;
};

/// The cause from the text of the parser's exception, without the token, which may be long and have any bytes; empty
/// iff it is not a syntax error, but a number beyond float64.
inline std::string syntax_error_of(std::string_view text) {
  const size_t begin = text.find("syntax error"), end = text.find("; last read");
  if (begin == std::string_view::npos) return {};
  return std::string(text.substr(begin, std::min(end, begin + 120) - begin));
}

}  // namespace headpond::internal
