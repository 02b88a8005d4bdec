// SPDX-License-Identifier: Apache-2.0
// How a pipeline is run, and what a short run of it measured, as text, JSON, graphs and HTML.
#pragma once

#include <optional>
#include <string>

#include "headpond/base/json.h"
#include "headpond/dataset/dataset.h"
#include "headpond/engine/explain.h"
#include "headpond/engine/loader_stats.h"

namespace headpond::plan {

/// What a short run measured.
struct Analysis {
  double seconds = 0;
  int64_t elements = 0;  ///< Delivered.
  LoaderStats stats = {};
};

struct ExplainReport {
  std::string file;
  Dataset dataset;
  Explanation explanation;
  std::optional<Analysis> analysis = {};
};

std::string explain_text(const ExplainReport& report);
/// Writes the members plan, levels, rewrites, restore, estimates and, if there is one, analysis into the open object.
void write_explanation(JsonWriter& json, const ExplainReport& report);
/// A graph of the operators for Graphviz.
std::string explain_dot(const ExplainReport& report);
/// The same for Mermaid.
std::string explain_mermaid(const ExplainReport& report);
/// A page without external resources.
std::string explain_html(const ExplainReport& report);

}  // namespace headpond::plan
