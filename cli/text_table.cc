// SPDX-License-Identifier: Apache-2.0
#include "cli/text_table.h"

#include <algorithm>
#include <sstream>

namespace headpond::cli {
namespace {

using Lines = std::vector<std::string>;

std::string join(const std::vector<std::string>& cells, const std::vector<size_t>& widths,
                 const std::vector<Column>& columns) {
  std::string line;
  for (size_t i = 0; i < cells.size(); ++i) {
    const std::string gap(widths[i] - std::min(widths[i], cells[i].size()), ' ');
    line += (i > 0 ? "  " : "") + (columns[i].right ? gap + cells[i] : cells[i] + gap);
  }
  line.erase(line.find_last_not_of(' ') + 1);
  return line + "\n";
}

}  // namespace

std::vector<std::string> wrapped(const std::string& text, size_t width) {
  if (width == 0 || text.size() <= width) return {text};
  Lines lines;
  std::istringstream words(text);
  for (std::string word; words >> word;) {
    if (!lines.empty() && lines.back().size() + 1 + word.size() <= width) {
      lines.back() += " " + word;
    } else {
      lines.push_back(word);
    }
  }
  return lines;
}

std::string format_table(const std::vector<Column>& columns, const std::vector<std::vector<std::string>>& rows,
                         bool spaced) {
  std::vector<std::vector<Lines>> grid(1);
  for (const Column& column : columns) grid[0].push_back(wrapped(column.head, column.width));
  for (const auto& row : rows) {
    auto& cells = grid.emplace_back(columns.size(), Lines{""});
    for (size_t i = 0; i < std::min(row.size(), columns.size()); ++i) cells[i] = wrapped(row[i], columns[i].width);
  }
  std::vector<size_t> widths(columns.size());
  for (const auto& row : grid) {
    for (size_t i = 0; i < row.size(); ++i) {
      for (const std::string& line : row[i]) widths[i] = std::max(widths[i], line.size());
    }
  }
  std::string text;
  for (size_t r = 0; r < grid.size(); ++r) {
    size_t height = 0;
    for (const Lines& cell : grid[r]) height = std::max(height, cell.size());
    for (size_t k = 0; k < height; ++k) {
      std::vector<std::string> line;
      for (const Lines& cell : grid[r]) line.push_back(k < cell.size() ? cell[k] : "");
      text += join(line, widths, columns);
    }
    if (r == 0) {
      std::vector<std::string> rule;
      rule.reserve(widths.size());
      for (const size_t width : widths) rule.emplace_back(width, '-');
      text += join(rule, widths, columns);
    } else if (spaced && r + 1 < grid.size()) {
      text += "\n";
    }
  }
  return text;
}

}  // namespace headpond::cli
