// SPDX-License-Identifier: Apache-2.0
// The arguments of a step in a pipeline file.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "headpond/dataset/dataset.h"
#include "headpond/plan/plan_value.h"

namespace headpond::plan {

/// Getters throw PlanError, with the line of the value, for a value of another kind, and for a missing value without a
/// fallback.
class PlanArguments {
 public:
  /// The dataset of a chain, by its name; throws PlanError at the line.
  using Chains = std::function<Dataset(const std::string& name, int64_t line)>;

  /// `table`: null or a table. Throws PlanError for a name that is not among `known`.
  PlanArguments(const std::string& file, int64_t line, const std::string& op, const PlanValue* table,
                const std::vector<std::string>& known, Chains chains = {});

  bool has(const std::string& name) const { return find(name) != nullptr; }
  int64_t integer(const std::string& name, std::optional<int64_t> fallback = {}) const;
  double number(const std::string& name) const;  ///< A float, or an integer.
  bool flag(const std::string& name, bool fallback) const;
  std::string text(const std::string& name, const std::optional<std::string>& fallback = {}) const;
  std::vector<std::string> texts(const std::string& name) const;          ///< One or more.
  std::vector<std::string> texts_or_none(const std::string& name) const;  ///< Also of an empty list.
  Dataset chain(const std::string& name) const;                           ///< The chain that the value names.
  char letter(const std::string& name, char fallback) const;              ///< One byte; "" is 0.
  /// The index of the value in `words`; 0 if it is missing.
  size_t choice(const std::string& name, const std::vector<std::string>& words) const;
  const PlanValue& value(const std::string& name) const;
  const PlanList& list(const std::string& name) const;          ///< One value or more.
  const PlanList& list_or_none(const std::string& name) const;  ///< Also an empty one.
  /// `table`, which is a part of the value of `name`, as arguments.
  PlanArguments nested(const std::string& name, const PlanValue& table, const std::vector<std::string>& known) const;

  /// The line of the argument, or of the step if it is missing.
  int64_t line(const std::string& name) const;
  int64_t line() const { return line_; }
  const std::string& file() const { return file_; }
  /// Throws PlanError at the argument: "op: name ...".
  [[noreturn]] void refuse(const std::string& name, const std::string& what) const;

  /// `value` itself; the name is for the error.
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
  const Chains chains_;
};

}  // namespace headpond::plan
