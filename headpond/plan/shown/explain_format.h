// SPDX-License-Identifier: Apache-2.0
// How a pipeline is run, and what a short run of it measured, as text, JSON, graphs and HTML.
#pragma once

#include <optional>
#include <string>

#include "headpond/base/json.h"
#include "headpond/dataset/dataset.h"
#include "headpond/engine/explain.h"
#include "headpond/plan/shown/analysis.h"

namespace headpond::plan {

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
/// What explain_html() has below its title, for a page of someone else's, as a notebook: its style is for itself only.
std::string explain_fragment(const ExplainReport& report);
/// "text", "json", "dot", "mermaid" or "html". Throws Exception(InvalidArgument) for another format.
std::string explain_as(const ExplainReport& report, const std::string& format);

}  // namespace headpond::plan
