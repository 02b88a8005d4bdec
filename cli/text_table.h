// SPDX-License-Identifier: Apache-2.0
// Aligned columns of text for people.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace headpond::cli {

/// The words of `text` in lines of at most `width` characters; a longer word has a line of its own. 0: one line.
std::vector<std::string> wrapped(const std::string& text, size_t width);

struct Column {
  std::string head;
  size_t width = 0;  ///< Longer cells continue on the next line, broken between words; 0: as wide as its longest cell.
  bool right = false;  ///< Aligned to the right.
};

/// Heads, a rule, the rows; each line ends with a newline. A row may have fewer cells than there are columns. With
/// `spaced`, an empty line stands between rows.
std::string format_table(const std::vector<Column>& columns, const std::vector<std::vector<std::string>>& rows,
                         bool spaced = false);

}  // namespace headpond::cli
