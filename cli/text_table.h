// SPDX-License-Identifier: Apache-2.0
// Tables and paragraphs of text.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace headpond::cli {

/// The words of `text` in lines of at most `width` characters; a longer word has a line of its own. 0: one line.
std::vector<std::string> wrapped(const std::string& text, size_t width);

struct Column {
  std::string head;
  size_t width = 0;    ///< Longer cells wrap between words; 0: as wide as the longest cell.
  bool right = false;  ///< Aligned to the right.
};

/// Headings, a rule, the rows; each line ends with a newline. A row may have fewer cells than there are columns.
/// `spaced` puts an empty line between rows.
std::string format_table(const std::vector<Column>& columns, const std::vector<std::vector<std::string>>& rows,
                         bool spaced = false);

}  // namespace headpond::cli
