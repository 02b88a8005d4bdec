// SPDX-License-Identifier: Apache-2.0
// For tests: what a pipeline file delivers.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "headpond/dataset/sequence.h"
#include "headpond/plan/element_json.h"
#include "headpond/plan/plan_file.h"

namespace headpond::plan {

/// The "fields" of each element, as Sequence delivers them. An error is "!" and its text, and is the last one.
inline std::vector<std::string> delivered(const std::string& text, SequenceOptions options = {}) {
  const PlanFile plan = parse_plan(text, "f.toml");
  if (plan.seed) options.seed = *plan.seed;
  Sequence sequence(plan.dataset, options);
  std::vector<std::string> all;
  while (all.size() < 1000) {
    const auto next = sequence.next();
    if (!next && !next.error().is_end()) all.push_back("!" + next.error().message());
    if (!next) break;
    const std::string line = element_json(plan.dataset.spec(), *next, 0, 0);
    all.push_back(line.substr(30, line.size() - 32));
  }
  return all;
}

/// The same without the braces.
inline void expect(const std::string& text, const std::vector<std::string>& elements) {
  std::vector<std::string> braced;
  braced.reserve(elements.size());
  for (const std::string& one : elements) braced.push_back(one[0] == '!' ? one : "{" + one + "}");
  EXPECT_EQ(delivered(text), braced) << text;
}

/// The error of a file that cannot be used.
inline std::string refused(const std::string& text) {
  try {
    parse_plan(text, "f.toml");
    return "no error";
  } catch (const PlanError& error) {
    return error.error().message();
  }
}

/// "[[step]]\nop = ...\nargs = { ... }\n"; without args if they are empty.
inline std::string step(const std::string& op, const std::string& args = "", const std::string& key = "step") {
  return "[[" + key + "]]\nop = '" + op + "'\n" + (args.empty() ? "" : "args = { " + args + " }\n");
}

}  // namespace headpond::plan
