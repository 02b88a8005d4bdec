// SPDX-License-Identifier: Apache-2.0
#include "headpond/plan/shown/explain_format.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <string_view>
#include <vector>

#include "headpond/base/html/html.h"

namespace headpond::plan {
namespace {

std::string replaced(std::string_view text, char what, std::string_view by) {
  std::string made;
  for (const char c : text) made += c == what ? std::string(by) : std::string(1, c);
  return made;
}

std::string for_dot(std::string_view text) { return replaced(replaced(text, '\\', "\\\\"), '"', "\\\""); }

// Calls edge(from, to, fields) with numbers of nodes.
template <class Edge>
void for_edges(const std::vector<const Node*>& nodes, Edge edge) {
  for (size_t to = 0; to < nodes.size(); ++to) {
    for (const Node::Ref& input : nodes[to]->facts().inputs) {
      const auto from = std::find(nodes.begin(), nodes.end(), input.get()) - nodes.begin();
      edge(from, to, to_string(input->spec()));
    }
  }
}

std::string count_text(const Dataset& dataset) {
  const auto count = dataset.cardinality();
  if (!count) return "unknown until the epoch has ended";
  return *count == kEndless ? "no end" : fmt::format("{}", *count);
}

// In the order in which stages stand: from the sources to the program.
std::vector<StageStats> in_plan_order(const LoaderStats& stats) { return {stats.stages.rbegin(), stats.stages.rend()}; }

std::string analysis_text(const Analysis& analysis) {
  const LoaderStats& stats = analysis.stats;
  std::string text = fmt::format(
      "a run of {:.1f} s: {} elements, waiting {:.1f} % of the time, {} threads\n", analysis.seconds, analysis.elements,
      1e-7 * static_cast<double>(stats.wait_ns) / std::max(analysis.seconds, 1e-9), stats.threads);
  for (const StageStats& stage : in_plan_order(stats)) {
    text += fmt::format("  {}: {} elements, {:.1f} us each; {} work items, {:.1f} us each, {:.1f} of {} ready\n",
                        stage.name, stage.elements, stage.element_ns / 1000, stage.units, stage.unit_ns / 1000,
                        stage.mean_ready, stage.target);
    for (const OperatorCost& cost : stage.operators)
      text += fmt::format("    {}: {:.2f} us\n", cost.op, cost.ns / 1000);
  }
  return text;
}

void write_analysis(JsonWriter& json, const Analysis& analysis) {
  const LoaderStats& stats = analysis.stats;
  json.key("analysis").begin_object().member("seconds", analysis.seconds).member("elements", analysis.elements);
  json.member("wait_share",
              std::min(1.0, static_cast<double>(stats.wait_ns) * 1e-9 / std::max(analysis.seconds, 1e-9)));
  json.member("memory_peak", stats.memory_peak).member("threads", stats.threads).key("stages").begin_array();
  for (const StageStats& stage : in_plan_order(stats)) {
    json.begin_object().member("name", stage.name).member("blocking", stage.blocking).member("units", stage.units);
    json.member("elements", stage.elements).member("element_ns", stage.element_ns).member("unit_ns", stage.unit_ns);
    json.member("target", stage.target)
        .member("mean_ready", stage.mean_ready)
        .member("unit_bytes", stage.unit_bytes)
        .member("read_bytes", stage.totals.read_bytes)
        .key("operators")
        .begin_array();
    for (const OperatorCost& cost : stage.operators) {
      json.begin_object().member("op", cost.op).member("ns", cost.ns).end_object();
    }
    json.end_array().end_object();
  }
  json.end_array().end_object();
}

template <class Note>
void write_notes(JsonWriter& json, std::string_view key, const std::vector<Note>& notes) {
  json.key(key).begin_array();
  for (const Note& note : notes) json.begin_object().member("what", note.what).member("why", note.why).end_object();
  json.end_array();
}

// Its stages, its rewrites, what a restored run cannot check or does again, and what epochs have in common or not.
void write_parts(JsonWriter& json, const Explanation& explanation) {
  json.member("plan", explanation.plan).key("levels").begin_array();
  for (const Stage& stage : explanation.stages) {
    json.begin_object().member("how", stage.how).member("what", stage.what).member("why", stage.why);
    json.member("grouping", stage.grouping).end_object();
  }
  json.end_array().key("rewrites").begin_array();
  for (const Rewrite& rewrite : explanation.rewrites) {
    json.begin_object().member("rule", rewrite.rule).member("applied", rewrite.applied);
    json.member("reason", rewrite.reason).end_object();
  }
  json.end_array();
  write_notes(json, "restore", explanation.restore);
  write_notes(json, "frozen", explanation.frozen);
  write_notes(json, "moving", explanation.moving);
}

std::string row(std::string_view cell, const std::vector<std::string>& texts) {
  std::string text = "<tr>";
  for (const std::string& one : texts) text += fmt::format("<{}>{}</{}>", cell, html_escaped(one), cell);
  return text + "</tr>\n";
}

template <class Note>
std::string notes_table(std::string_view heading, const std::vector<Note>& notes) {
  std::string rows;
  for (const Note& note : notes) rows += row("td", {note.what, note.why});
  return rows.empty() ? "" : fmt::format("<h2>{}</h2>\n<table>\n{}</table>\n", heading, rows);
}

}  // namespace

std::string explain_text(const ExplainReport& report) {
  return report.explanation.to_string() +
         fmt::format("an element: {}\nelements in an epoch: {}\n", to_string(report.dataset.spec()),
                     count_text(report.dataset)) +
         (report.analysis ? analysis_text(*report.analysis) : "");
}

void write_explanation(JsonWriter& json, const ExplainReport& report) {
  write_parts(json, report.explanation);
  const auto count = report.dataset.cardinality();
  json.key("estimates").begin_object().member("spec", to_string(report.dataset.spec())).key("cardinality");
  if (count && *count != kEndless) {
    json.value(*count);
  } else {
    json.value(nullptr);
  }
  json.member("endless", count == kEndless).key("element_bytes");
  if (report.explanation.batch_bytes >= 0) {
    json.value(report.explanation.batch_bytes);
  } else {
    json.value(nullptr);
  }
  json.end_object();
  if (report.analysis) write_analysis(json, *report.analysis);
}

std::string explain_dot(const ExplainReport& report) {
  const auto nodes = nodes_of(*report.dataset.node());
  std::string text = "digraph pipeline {\n  node [shape=box];\n";
  for (size_t i = 0; i < nodes.size(); ++i) {
    text +=
        fmt::format("  n{} [label=\"{}\\n{}\"];\n", i, for_dot(nodes[i]->facts().op), for_dot(nodes[i]->facts().args));
  }
  for_edges(nodes, [&](auto from, auto to, const std::string& fields) {
    text += fmt::format("  n{} -> n{} [label=\"{}\"];\n", from, to, for_dot(fields));
  });
  return text + "}\n";
}

std::string explain_mermaid(const ExplainReport& report) {
  const auto nodes = nodes_of(*report.dataset.node());
  const auto quoted = [](const std::string& text) { return replaced(replaced(text, '#', "#35;"), '"', "#quot;"); };
  std::string text = "flowchart TD\n";
  for (size_t i = 0; i < nodes.size(); ++i) {
    text += fmt::format("  n{}[\"{}\"]\n", i, quoted(nodes[i]->title()));
  }
  for_edges(nodes, [&](auto from, auto to, const std::string& fields) {
    text += fmt::format("  n{} -->|\"{}\"| n{}\n", from, quoted(fields), to);
  });
  return text;
}

std::string explain_fragment(const ExplainReport& report) {
  std::string stages = row("th", {"how", "operators", "why", "at a time"});
  for (const Stage& stage : report.explanation.stages) {
    stages += row("td", {stage.how, stage.what, stage.why, stage.grouping});
  }
  std::string rewrites = row("th", {"rule", "applied", "reason"});
  for (const Rewrite& rewrite : report.explanation.rewrites) {
    rewrites += row("td", {rewrite.rule, rewrite.applied ? "yes" : "no", rewrite.reason});
  }
  return fmt::format(
             "<div class=\"headpond-plan\">\n<style>.headpond-plan {{ font-family: sans-serif; max-width: 60em }} "
             ".headpond-plan td, .headpond-plan th {{ text-align: left; vertical-align: top; padding: 0.3em 1em 0.3em "
             "0 "
             "}}</style>\n<pre>{}</pre>\n",
             html_escaped(report.explanation.plan)) +
         fmt::format("<h2>How it is run</h2>\n<table>\n{}</table>\n<h2>Rewrites</h2>\n<table>\n{}</table>\n", stages,
                     rewrites) +
         notes_table("On restore", report.explanation.restore) +
         notes_table("The same in every epoch", report.explanation.frozen) +
         notes_table("Other elements in each epoch", report.explanation.moving) +
         fmt::format("<h2>Estimates</h2>\n<p>An element: {}. Elements in an epoch: {}.</p>\n",
                     html_escaped(to_string(report.dataset.spec())), count_text(report.dataset)) +
         (report.analysis
              ? fmt::format("<h2>Analysis</h2>\n<pre>{}</pre>\n", html_escaped(analysis_text(*report.analysis)))
              : "") +
         "</div>\n";
}

std::string explain_html(const ExplainReport& report) {
  const std::string title = report.file.empty() ? "Pipeline" : html_escaped(report.file);
  return fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head><meta charset=\"utf-8\"><title>{}</title>\n<style>body {{ "
      "font-family: "
      "sans-serif; max-width: 60em; margin: 2em auto }}</style></head>\n<body>\n<h1>{}</h1>\n{}</body>\n</html>\n",
      title, title, explain_fragment(report));
}

std::string explain_as(const ExplainReport& report, const std::string& format) {
  if (format == "text") return explain_text(report);
  if (format == "dot") return explain_dot(report);
  if (format == "mermaid") return explain_mermaid(report);
  if (format == "html") return explain_html(report);
  if (format != "json") refuse("explain", fmt::format("no format '{}': text, json, dot, mermaid, html", format));
  JsonWriter json;
  json.begin_object();
  write_explanation(json, report);
  json.end_object();
  return json.take() + "\n";
}

}  // namespace headpond::plan
