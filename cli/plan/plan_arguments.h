// SPDX-License-Identifier: Apache-2.0
// The arguments of a step in a pipeline file, as their operator asks for them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cli/plan/plan_value.h"

namespace headpond::cli {

/// What a step says. Getters throw PlanError, with the line of the value, for one of another kind, and for one that is
/// not there unless there is a fallback.
class PlanArguments {
 public:
  /// `table`: null or a table. Throws PlanError for a name that is not among `known`.
  PlanArguments(const std::string& file, int64_t line, const std::string& op, const PlanValue* table,
                const std::vector<std::string>& known);

  bool has(const std::string& name) const { return find(name) != nullptr; }
  int64_t integer(const std::string& name, std::optional<int64_t> fallback = {}) const;
  double number(const std::string& name) const;  ///< A float, or an integer.
  bool flag(const std::string& name, bool fallback) const;
  std::string text(const std::string& name, const std::optional<std::string>& fallback = {}) const;
  std::vector<std::string> texts(const std::string& name) const;  ///< At least one.
  char letter(const std::string& name, char fallback) const;      ///< One byte; "" is 0.
  /// Which of `words` it is; 0 if it is not there.
  size_t choice(const std::string& name, const std::vector<std::string>& words) const;
  const PlanValue& value(const std::string& name) const;
  const PlanList& list(const std::string& name) const;  ///< At least one value.
  /// `table`, a part of the value of `name`, as arguments.
  PlanArguments nested(const std::string& name, const PlanValue& table, const std::vector<std::string>& known) const;

  /// Of the argument, else of the step.
  int64_t line(const std::string& name) const;
  int64_t line() const { return line_; }
  const std::string& file() const { return file_; }
  /// Throws PlanError at the argument: "op: name ...".
  [[noreturn]] void refuse(const std::string& name, const std::string& what) const;

  /// `value` as such; the name is for the error.
  int64_t to_integer(const std::string& name, const PlanValue& value) const;
  double to_number(const std::string& name, const PlanValue& value) const;
  std::string to_text(const std::string& name, const PlanValue& value) const;
  bool to_flag(const std::string& name, const PlanValue& value) const;

 private:
  const PlanValue* find(const std::string& name) const;
  [[noreturn]] void refuse_kind(const std::string& name, const PlanValue& value, const char* expected) const;

  const std::string file_, op_;
  const int64_t line_;
  const PlanTable* const table_;
};

}  // namespace headpond::cli
