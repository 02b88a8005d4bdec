// SPDX-License-Identifier: Apache-2.0
#include "headpond/plan/plan_arguments.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "headpond/plan/suggestion.h"

namespace headpond::plan {

PlanArguments::PlanArguments(const std::string& file, int64_t line, const std::string& op, const PlanValue* table,
                             const std::vector<std::string>& known, Chains chains)
    : file_(file),
      op_(op),
      line_(line),
      table_(table == nullptr ? nullptr : table->as<PlanTable>()),
      chains_(std::move(chains)) {
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
  if (value.as<uint64_t>() != nullptr) refuse_kind(name, value, "an integer below 2^63");
  if (integer == nullptr) refuse_kind(name, value, "an integer");
  return *integer;
}

double PlanArguments::to_number(const std::string& name, const PlanValue& value) const {
  if (const auto* const integer = value.as<int64_t>()) return static_cast<double>(*integer);
  if (const auto* const large = value.as<uint64_t>()) return static_cast<double>(*large);
  const auto* const number = value.as<double>();
  if (number == nullptr) refuse_kind(name, value, "a number");
  return *number;
}

int64_t PlanArguments::integer(const std::string& name, std::optional<int64_t> fallback) const {
  if (fallback && !has(name)) return *fallback;
  return to_integer(name, value(name));
}

double PlanArguments::number(const std::string& name) const { return to_number(name, value(name)); }

bool PlanArguments::to_flag(const std::string& name, const PlanValue& value) const {
  const auto* const flag = value.as<bool>();
  if (flag == nullptr) refuse_kind(name, value, "true or false");
  return *flag;
}

std::string PlanArguments::to_text(const std::string& name, const PlanValue& value) const {
  const auto* const text = value.as<std::string>();
  if (text == nullptr) refuse_kind(name, value, "a string");
  return *text;
}

bool PlanArguments::flag(const std::string& name, bool fallback) const {
  return has(name) ? to_flag(name, value(name)) : fallback;
}

std::string PlanArguments::text(const std::string& name, const std::optional<std::string>& fallback) const {
  if (fallback && !has(name)) return *fallback;
  return to_text(name, value(name));
}

std::vector<std::string> PlanArguments::texts(const std::string& name) const {
  std::vector<std::string> all = texts_or_none(name);
  if (all.empty()) refuse(name, "is empty");
  return all;
}

std::vector<std::string> PlanArguments::texts_or_none(const std::string& name) const {
  std::vector<std::string> all;
  if (value(name).as<PlanList>() == nullptr) refuse_kind(name, value(name), "a list of strings");
  for (const PlanValue& one : list_or_none(name)) {
    const auto* const text = one.as<std::string>();
    if (text == nullptr) refuse_kind(name, one, "a list of strings");
    all.push_back(*text);
  }
  return all;
}

Dataset PlanArguments::chain(const std::string& name) const {
  if (!chains_) refuse(name, "names a chain, and there are none here");
  return chains_(text(name), line(name));
}

char PlanArguments::letter(const std::string& name, char fallback) const {
  if (!has(name)) return fallback;
  const std::string given = text(name);
  if (given.size() > 1) refuse(name, fmt::format("is '{}', more than one byte", given));
  return given.empty() ? '\0' : given[0];
}

size_t PlanArguments::choice(const std::string& name, const std::vector<std::string>& words) const {
  if (!has(name)) return 0;
  const std::string given = text(name);
  const auto found = std::find(words.begin(), words.end(), given);
  if (found == words.end()) refuse(name, fmt::format("is '{}'{}", given, suggestion(given, words)));
  return static_cast<size_t>(found - words.begin());
}

const PlanList& PlanArguments::list(const std::string& name) const {
  const PlanList& all = list_or_none(name);
  if (all.empty()) refuse(name, "is empty");
  return all;
}

const PlanList& PlanArguments::list_or_none(const std::string& name) const {
  const auto* const list = value(name).as<PlanList>();
  if (list == nullptr) refuse_kind(name, value(name), "a list");
  return *list;
}

PlanArguments PlanArguments::nested(const std::string& name, const PlanValue& table,
                                    const std::vector<std::string>& known) const {
  if (table.as<PlanTable>() == nullptr) refuse_kind(name, table, "a list of tables");
  return {file_, table.line, fmt::format("{}: {}", op_, name), &table, known, chains_};
}

}  // namespace headpond::plan
