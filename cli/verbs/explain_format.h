// SPDX-License-Identifier: Apache-2.0
// What is known about a pipeline before and after a look at it running, as text, JSON, graphs and a page.
#pragma once

#include <optional>
#include <string>

#include "headpond/base/json.h"
#include "headpond/dataset/dataset.h"
#include "headpond/engine/explain.h"
#include "headpond/engine/loader_stats.h"

namespace headpond::cli {

/// What a short run showed.
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
/// The members plan, levels, rewrites, restore, estimates, and analysis if there is one, of the object that is open.
void write_explanation(JsonWriter& json, const ExplainReport& report);
/// Operators and what flows between them, for Graphviz.
std::string explain_dot(const ExplainReport& report);
/// The same for Mermaid.
std::string explain_mermaid(const ExplainReport& report);
/// A page that needs nothing else.
std::string explain_html(const ExplainReport& report);

}  // namespace headpond::cli
