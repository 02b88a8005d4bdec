// SPDX-License-Identifier: Apache-2.0
#include "cli/plan_arguments.h"

#include <fmt/format.h>

#include <algorithm>

namespace headpond::cli {

PlanArguments::PlanArguments(const std::string& file, int64_t line, const std::string& op, const PlanValue* table,
                             const std::vector<std::string>& known)
    : file_(file), op_(op), line_(line), table_(table == nullptr ? nullptr : table->as<PlanTable>()) {
  if (table == nullptr) return;
  if (table_ == nullptr)
    throw PlanError(file, table->line, fmt::format("{}: args is {}, not a table", op, kind_of(*table)));
  for (const auto& [name, value] : *table_) {
    if (std::find(known.begin(), known.end(), name) != known.end()) continue;
    throw PlanError(
        file, value.line,
        fmt::format("{}: no argument '{}'{}", op, name, known.empty() ? "; it takes none" : suggestion(name, known)));
  }
}

const PlanValue* PlanArguments::find(const std::string& name) const {
  if (table_ == nullptr) return nullptr;
  const auto found = std::find_if(table_->begin(), table_->end(), [&](const auto& one) { return one.first == name; });
  return found == table_->end() ? nullptr : &found->second;
}

const PlanValue& PlanArguments::value(const std::string& name) const {
  const PlanValue* const found = find(name);
  if (found == nullptr) refuse(name, "is missing");
  return *found;
}

int64_t PlanArguments::line(const std::string& name) const {
  const PlanValue* const found = find(name);
  return found == nullptr ? line_ : found->line;
}

void PlanArguments::refuse(const std::string& name, const std::string& what) const {
  throw PlanError(file_, line(name), fmt::format("{}: {} {}", op_, name, what));
}

void PlanArguments::refuse_kind(const std::string& name, const PlanValue& value, const char* expected) const {
  throw PlanError(file_, value.line, fmt::format("{}: {} must be {}, not {}", op_, name, expected, kind_of(value)));
}

int64_t PlanArguments::to_integer(const std::string& name, const PlanValue& value) const {
  const auto* const integer = value.as<int64_t>();
  if (integer == nullptr) refuse_kind(name, value, "an integer");
  return *integer;
}

double PlanArguments::to_number(const std::string& name, const PlanValue& value) const {
  if (const auto* const integer = value.as<int64_t>()) return static_cast<double>(*integer);
  const auto* const number = value.as<double>();
  if (number == nullptr) refuse_kind(name, value, "a number");
  return *number;
}

int64_t PlanArguments::integer(const std::string& name, std::optional<int64_t> fallback) const {
  if (fallback && !has(name)) return *fallback;
  return to_integer(name, value(name));
}

double PlanArguments::number(const std::string& name) const { return to_number(name, value(name)); }

bool PlanArguments::flag(const std::string& name, bool fallback) const {
  if (!has(name)) return fallback;
  const auto* const flag = value(name).as<bool>();
  if (flag == nullptr) refuse_kind(name, value(name), "true or false");
  return *flag;
}

std::string PlanArguments::text(const std::string& name, const std::optional<std::string>& fallback) const {
  if (fallback && !has(name)) return *fallback;
  const auto* const text = value(name).as<std::string>();
  if (text == nullptr) refuse_kind(name, value(name), "a string");
  return *text;
}

std::vector<std::string> PlanArguments::texts(const std::string& name) const {
  const auto* const list = value(name).as<PlanList>();
  if (list == nullptr) refuse_kind(name, value(name), "a list of strings");
  if (list->empty()) refuse(name, "is empty");
  std::vector<std::string> all;
  for (const PlanValue& one : *list) {
    const auto* const text = one.as<std::string>();
    if (text == nullptr) refuse_kind(name, one, "a list of strings");
    all.push_back(*text);
  }
  return all;
}

}  // namespace headpond::cli
