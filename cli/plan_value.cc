// SPDX-License-Identifier: Apache-2.0
#include "cli/plan_value.h"

#include <fmt/format.h>

// Its assertions fail for some texts that are no TOML ("[" and a control character), and without them it would assume
// that they hold; where neither is so, it reports these texts as errors.
#pragma push_macro("NDEBUG")
#undef NDEBUG
#define TOML_ASSERT(condition) static_cast<void>(0)
#define TOML_EXCEPTIONS 0
#define TOML_ENABLE_FORMATTERS 0
#include <toml++/toml.h>
#pragma pop_macro("NDEBUG")

#include <algorithm>
#include <numeric>

namespace headpond::cli {
namespace {

int64_t line_of(const toml::source_region& source) { return std::max<int64_t>(1, source.begin.line); }

PlanValue converted(const toml::node& node, const std::string& file) {
  PlanValue made{.line = line_of(node.source())};
  if (const auto* const table = node.as_table()) {
    PlanTable members;
    for (const auto& [key, value] : *table) members.emplace_back(std::string(key.str()), converted(value, file));
    made.is = std::move(members);
  } else if (const auto* const array = node.as_array()) {
    PlanList values;
    for (const toml::node& value : *array) values.push_back(converted(value, file));
    made.is = std::move(values);
  } else if (const auto* const text = node.as_string()) {
    made.is = text->get();
  } else if (const auto* const integer = node.as_integer()) {
    made.is = integer->get();
  } else if (const auto* const number = node.as_floating_point()) {
    made.is = number->get();
  } else if (const auto* const flag = node.as_boolean()) {
    made.is = flag->get();
  } else {
    throw PlanError(file, made.line, "dates and times have no use here");
  }
  return made;
}

// Dotted keys nest tables, and what is nested is destroyed by recursion; values in brackets are limited by the parser.
void refuse_deep_keys(std::string_view text, const std::string& file) {
  constexpr int kMostDots = 100;
  int64_t line = 1;
  int dots = 0;
  char quote = 0;
  for (const char c : text) {
    const bool ends_run = c == ',' || c == '=' || c == '[' || c == '{' || c == '#';
    if (c == '\n') {
      ++line;
      quote = 0;
    } else if (quote != 0 || c == '"' || c == '\'') {
      if (quote == 0 || c == quote) quote = quote == 0 ? c : 0;
      continue;
    }
    if (c == '\n' || ends_run) dots = 0;
    if (c == '.' && ++dots > kMostDots)
      throw PlanError(file, line, fmt::format("more than {} dots in a name", kMostDots));
  }
}

// How many letters must be put in, left out or replaced.
size_t distance(std::string_view a, std::string_view b) {
  std::vector<size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), size_t{0});
  for (size_t i = 0; i < a.size(); ++i) {
    size_t corner = std::exchange(row[0], i + 1);
    for (size_t j = 0; j < b.size(); ++j) {
      const size_t replaced = corner + (a[i] == b[j] ? 0 : 1);
      corner = row[j + 1];
      row[j + 1] = std::min({replaced, corner + 1, row[j] + 1});
    }
  }
  return row.back();
}

}  // namespace

PlanError::PlanError(const std::string& file, int64_t line, const std::string& what)
    : Exception(Error(ErrorKind::InvalidArgument, fmt::format("{}:{}: {}", file, line, what))) {}

std::string kind_of(const PlanValue& value) {
  constexpr const char* kKinds[] = {"a boolean", "an integer", "a float", "a string", "a list", "a table"};
  return kKinds[value.is.index()];
}

PlanValue parse_toml(std::string_view text, const std::string& file) {
  refuse_deep_keys(text, file);
  const toml::parse_result parsed = toml::parse(text);
  if (!parsed) {
    throw PlanError(file, line_of(parsed.error().source()), std::string(parsed.error().description()));
  }
  return converted(parsed.table(), file);
}

std::string suggestion(std::string_view word, const std::vector<std::string>& known) {
  const std::string_view begin = word.substr(0, 64);
  const auto is_like = [&](const std::string& one) {
    const bool is_part = begin.size() > 3 && one.size() > 3 &&
                         (one.find(begin) != std::string::npos || begin.find(one) != std::string::npos);
    return is_part ? 0 : distance(begin, one);
  };
  const auto best = std::min_element(known.begin(), known.end(),
                                     [&](const auto& a, const auto& b) { return is_like(a) < is_like(b); });
  if (best == known.end()) return "";
  if (is_like(*best) <= 1 + best->size() / 4) return fmt::format("; did you mean '{}'?", *best);
  return fmt::format("; there is {}", fmt::join(known, ", "));
}

}  // namespace headpond::cli
