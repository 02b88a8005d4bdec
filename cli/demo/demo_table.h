// SPDX-License-Identifier: Apache-2.0
// The demo's result: what an article reported, what this machine reaches, and what limits it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "headpond/base/json.h"

namespace headpond::cli {

struct DemoFigure {
  std::optional<double> value;  ///< Empty: not reported.
  std::string unit;
  std::string conditions;
};

struct DemoRow {
  std::string id, what;
  DemoFigure article;
  std::string flaw;  ///< What is wrong with the article's figure; may be empty.
  DemoFigure ours;
  double ceiling = 0;  ///< In ours.unit.
  std::string limited_by = {};
};

/// "1 round", "2 rounds".
std::string times(int64_t count, const char* what);

/// A table of the figures, then a paragraph with the conditions of each row; at most 80 columns.
std::string format_demo(const std::vector<DemoRow>& rows);

/// The member "rows".
void write_demo(JsonWriter& json, const std::vector<DemoRow>& rows);

}  // namespace headpond::cli
