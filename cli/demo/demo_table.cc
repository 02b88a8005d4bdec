// SPDX-License-Identifier: Apache-2.0
#include "cli/demo/demo_table.h"

#include <fmt/core.h>

#include "cli/text_table.h"

namespace headpond::cli {
namespace {

std::string figure(const DemoFigure& figure) {
  return figure.value ? fmt::format("{:.1f} {}", *figure.value, figure.unit) : "-";
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
  cells.reserve(rows.size());
  for (const DemoRow& row : rows) {
    cells.push_back({row.what, figure(row.article), row.article.conditions + (row.flaw.empty() ? "" : "; " + row.flaw),
                     figure(row.ours), row.ours.conditions, figure({row.ceiling, row.ours.unit, ""}), row.limited_by});
  }
  return format_table({{.head = "", .width = 13},
                       {.head = "article", .width = 9},
                       {.head = "its conditions and flaw", .width = 27},
                       {.head = "here", .width = 9},
                       {.head = "conditions here", .width = 21},
                       {.head = "ceiling", .width = 9},
                       {.head = "limited by", .width = 18}},
                      cells, true);
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
