// SPDX-License-Identifier: Apache-2.0
// The rules of a verdict, in their order: the first that holds names the reason.
#pragma once

#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "headpond/engine/verdict/figures_internal.h"
#include "headpond/engine/verdict/model_internal.h"
#include "headpond/engine/verdict/verdict.h"

namespace headpond::internal {

/// What a rule looks at.
struct Question {
  const Figures& figures;
  const StageFigures* limiting;  ///< Null: no stage ran.
  Model model;
};
Question question_of(const Figures& figures);

/// What a rule found. Its changes have no interval yet.
struct Finding {
  std::vector<Evidence> evidence = {};
  std::vector<Change> changes = {};
  std::vector<std::string> findings = {};
  std::optional<double> sure_gain = {};  ///< Of its changes: what they gain at least, where that is less than usual.
};

/// How sure a rule can be.
enum class Sureness : uint8_t {
  stated,    ///< It only reports.
  figures,   ///< Its figures decide by themselves.
  by_model,  ///< The model must agree with what was measured.
};

struct Rule {
  ReasonCode code;
  Sureness sureness;
  std::optional<Finding> (*holds)(const Question& question);
};
std::span<const Rule> rules();

/// The last stage, from the program down, whose taker waited for it in more than half of the program's wait.
const StageFigures* limiting_stage(const Figures& figures);
/// The operator in it that takes most, as far as that is known.
OperatorName top_operator(const StageFigures& stage);

Verdict judge(const Figures& figures);

/// "the processors are busy".
std::string_view in_words(ReasonCode code);

}  // namespace headpond::internal
