// SPDX-License-Identifier: Apache-2.0
#include "cli/demo/demo_table.h"

#include <fmt/core.h>

#include "cli/text_table.h"

namespace headpond::cli {
namespace {

std::string figure(const DemoFigure& figure) {
  return figure.value ? fmt::format("{:.1f} {}", *figure.value, figure.unit) : "-";
}

// "   label:     text", wrapped at 80 columns.
std::string labelled(const std::string& label, const std::string& text) {
  constexpr size_t kIndent = 15;
  std::string lines;
  for (const std::string& line : wrapped(text, 80 - kIndent)) {
    lines += fmt::format("{:<{}}{}\n", lines.empty() ? "   " + label + ":" : "", kIndent, line);
  }
  return lines;
}

void write_value(JsonWriter& json, const DemoFigure& figure) {
  json.begin_object().key("value");
  if (figure.value) {
    json.value(*figure.value);
  } else {
    json.value(nullptr);
  }
  json.member("unit", figure.unit).member("conditions", figure.conditions);
}

}  // namespace

std::string times(int64_t count, const char* what) {
  return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s");
}

std::string format_demo(const std::vector<DemoRow>& rows) {
  std::vector<std::vector<std::string>> cells;
  std::string paragraphs;
  for (size_t i = 0; i < rows.size(); ++i) {
    const DemoRow& row = rows[i];
    const std::string title = fmt::format("{}. {}", i + 1, row.what);
    cells.push_back({title, figure(row.article), figure(row.ours), figure({row.ceiling, row.ours.unit, ""})});
    paragraphs += "\n" + title + "\n";
    if (!row.ours.conditions.empty()) paragraphs += labelled("here", row.ours.conditions);
    paragraphs += labelled("limited by", row.limited_by);
    paragraphs += labelled("article", row.article.conditions + (row.flaw.empty() ? "" : "; " + row.flaw));
  }
  return format_table({{.head = ""},
                       {.head = "article", .right = true},
                       {.head = "here", .right = true},
                       {.head = "ceiling", .right = true}},
                      cells) +
         paragraphs;
}

void write_demo(JsonWriter& json, const std::vector<DemoRow>& rows) {
  json.key("rows").begin_array();
  for (const DemoRow& row : rows) {
    json.begin_object().member("id", row.id).member("what", row.what).key("article");
    write_value(json, row.article);
    json.member("flaw", row.flaw).end_object().key("ours");
    write_value(json, row.ours);
    json.end_object().member("limited_by", row.limited_by).member("ceiling", row.ceiling).end_object();
  }
  json.end_array();
}

}  // namespace headpond::cli
