// SPDX-License-Identifier: Apache-2.0
#include "headpond/monitor/run/run_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <functional>
#include <map>
#include <string_view>
#include <tuple>
#include <vector>

#include "headpond/base/html/html.h"
#include "headpond/engine/verdict/profile.h"

namespace headpond {
namespace {

constexpr size_t kPieces = 240, kMostCharts = 24, kMostRows = 200, kNameLength = 52;

constexpr const char* kStyle = R"(
:root{--bg:#fff;--text:#1d1f23;--soft:#5b616b;--line:#d5d9e0;--box:#f5f6f8;--mark:#b3261e;--busy:#2f6fde;
--startup:#9aa3b2;--edge:#7d5bbe;--burst:#d98a1f;--sustained:#b3261e;--work:#3f8f5b}
@media (prefers-color-scheme:dark){:root{--bg:#15171b;--text:#e7e9ee;--soft:#a3abb8;--line:#363b45;--box:#1e2127;--mark:#ff8a80;
--busy:#6ea0ff;--startup:#7f8899;--edge:#a98be6;--burst:#e5a64b;--sustained:#ff8a80;--work:#6fc08b}}
@media print{:root{--bg:#fff;--text:#000;--soft:#333;--line:#999;--box:#fff;--mark:#a00;--busy:#2f6fde}
section,tr,figure{break-inside:avoid}}
*{box-sizing:border-box;-webkit-print-color-adjust:exact;print-color-adjust:exact}
body{margin:0 auto;padding:1rem;max-width:72rem;background:var(--bg);color:var(--text);font:15px/1.45 system-ui,sans-serif}
h1{font-size:1.5rem;margin:.2rem 0}h2{font-size:1.15rem;margin:1.6rem 0 .4rem}p{margin:.3rem 0}.soft{color:var(--soft)}
.verdict{border-left:.35rem solid var(--mark);background:var(--box);padding:.7rem 1rem;margin:.6rem 0}
.verdict.fine{border-color:var(--work)}.verdict.open{border-color:var(--soft)}.verdict b{font-size:1.1rem}
.bar{display:flex;height:1.5rem;border-radius:.2rem;overflow:hidden;margin:.4rem 0}.bar span{display:block;height:100%}
.key span{display:inline-block;margin-right:1rem}.key i{display:inline-block;width:.8rem;height:.8rem;margin-right:.3rem;vertical-align:-.05rem}
.charts{display:grid;grid-template-columns:repeat(auto-fill,minmax(15rem,1fr));gap:.8rem}figure{margin:0;background:var(--box);padding:.5rem}
figcaption{font-size:.85rem;color:var(--soft);overflow-wrap:anywhere}figure svg{display:block;width:100%;height:3rem}
.plan{max-width:100%;height:auto}.scroll{overflow-x:auto;margin-bottom:.8rem}table{border-collapse:collapse;font-size:.9rem}
th,td{text-align:left;padding:.2rem .9rem .2rem 0;border-bottom:1px solid var(--line);vertical-align:top}
td.n,th.n{text-align:right}td.n{white-space:nowrap}pre{overflow-x:auto;background:var(--box);padding:.6rem;font-size:.85rem}
polyline{fill:none;stroke:var(--busy);stroke-width:1.5;vector-effect:non-scaling-stroke}text{fill:var(--text);font:13px system-ui,sans-serif}
@media print{.scroll{overflow:visible}table{font-size:7pt}th,td,td.n{padding-right:.5rem;white-space:normal}
td{overflow-wrap:anywhere}td.n{overflow-wrap:normal}pre{white-space:pre-wrap}}
)";

// Whole UTF-8 characters.
std::string shortened(const std::string& text) {
  if (text.size() <= kNameLength) return text;
  size_t end = kNameLength - 1;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) --end;
  return text.substr(0, end) + "…";
}

std::string bytes_text(double bytes) {
  const double size = std::abs(bytes);
  return size >= 1e9   ? fmt::format("{:.2f} GB", bytes / 1e9)
         : size >= 1e6 ? fmt::format("{:.1f} MB", bytes / 1e6)
                       : fmt::format("{:.1f} kB", bytes / 1e3);
}

std::string seconds_text(double seconds) {
  return seconds >= 1 ? fmt::format("{:.2f} s", seconds) : fmt::format("{:.2f} ms", 1e3 * seconds);
}

// At most kPieces values: means of equal pieces of the time.
std::vector<double> in_pieces(const std::vector<double>& values) {
  if (values.size() <= kPieces) return values;
  std::vector<double> pieces(kPieces, 0);
  for (size_t i = 0; i < kPieces; ++i) {
    const size_t from = i * values.size() / kPieces, to = (i + 1) * values.size() / kPieces;
    for (size_t k = from; k < to; ++k) pieces[i] += values[k] / static_cast<double>(to - from);
  }
  return pieces;
}

std::string section(const std::string& title, const std::string& content) {
  return content.empty() ? "" : fmt::format("<section>\n<h2>{}</h2>\n{}</section>\n", html_escaped(title), content);
}

// ---- the verdict

std::string waits_bar(const Verdict& verdict) {
  const Verdict::Waits& waits = verdict.waits;
  const double working = std::max(1 - waits.startup - waits.epoch_edge - waits.burst - waits.sustained, 0.0);
  const std::vector<std::tuple<const char*, const char*, double>> parts = {
      {"work", "the program's own work", working},
      {"startup", "waiting: the start", waits.startup},
      {"edge", "waiting: beginnings of epochs", waits.epoch_edge},
      {"burst", "waiting: bursts", waits.burst},
      {"sustained", "waiting: sustained", waits.sustained}};
  std::string bar = "<div class=\"bar\">", key = "<p class=\"key\">";
  for (const auto& [color, what, share] : parts) {
    if (share > 0) bar += fmt::format("<span style=\"width:{:.2f}%;background:var(--{})\"></span>", 100 * share, color);
    key += fmt::format("<span><i style=\"background:var(--{})\"></i>{}: {:.1f} %</span>", color, what, 100 * share);
  }
  return bar + "</div>\n" + key + "</p>\n";
}

std::string change_html(const Change& change, std::string_view begin) {
  std::string setting = change.setting.empty() ? "" : fmt::format(" ({} = {}", change.setting, change.value);
  if (change.setting == "memory") setting += ": " + bytes_text(std::strtod(change.value.c_str(), nullptr));
  if (!setting.empty()) setting += ")";
  return fmt::format("<p>{}: <b>{}{}</b>: <b>{:.2f} times as fast</b> ({:.2f} to {:.2f})</p>\n", begin,
                     html_escaped(change.what), html_escaped(setting), change.gain, change.low, change.high);
}

std::string place_html(const Verdict& verdict) {
  if (verdict.stage.empty()) return "";
  const std::string stage = "<b>" + html_escaped(verdict.stage) + "</b>";
  const std::string& op = verdict.op_title.empty() ? verdict.op : verdict.op_title;
  if (op.empty() || op == verdict.stage) return "<p>Where: " + stage + "</p>\n";
  return fmt::format("<p>Where: <b>{}</b>, which takes most of the stage {}</p>\n", html_escaped(op), stage);
}

// How sure the verdict is, in a word; empty without a reason.
std::string sureness_html(const Verdict& verdict) {
  if (verdict.code == ReasonCode::none) return "";
  const double sure = verdict.confidence;
  const char* const word = sure >= 0.8 ? "high" : sure >= 0.5 ? "medium" : "low: it is only the most likely reason";
  return fmt::format("; confidence {:.2f}, {}", sure, word);
}

// The report begins with the advice and its gain.
std::string verdict_box(const Verdict& verdict) {
  const bool is_fine = verdict.code == ReasonCode::device_bound, is_open = verdict.code == ReasonCode::none;
  const std::string text = verdict.to_string();
  std::string html = fmt::format("<div class=\"verdict{}\">\n", is_fine ? " fine" : is_open ? " open" : "");
  for (const Change& change : verdict.changes) {
    html += change_html(change, &change == verdict.changes.data() ? "What to change" : "Or");
  }
  if (is_fine && verdict.changes.empty()) html += "<p>What to change: <b>nothing in the input</b></p>\n";
  html += "<p>Why: <b>" + html_escaped(std::string_view(text).substr(0, text.find('\n'))) + "</b></p>\n";
  html += place_html(verdict);
  for (std::string finding : verdict.findings) {
    if (!finding.empty() && finding[0] >= 'a' && finding[0] <= 'z') finding[0] -= 'a' - 'A';
    html += "<p>" + html_escaped(finding) + ".</p>\n";
  }
  return html + fmt::format("<p class=\"soft\">waiting {:.1f} % of the time after the start{}</p></div>\n",
                            100 * verdict.wait_share, sureness_html(verdict));
}

std::string verdict_html(const Verdict& verdict) {
  std::string rows;
  for (const Evidence& one : verdict.evidence) {
    rows += fmt::format("<tr><td>{}</td><td class=\"n\">{:.3f}</td><td>{}</td></tr>\n", html_escaped(one.figure),
                        one.value, one.limit());
  }
  std::string html = verdict_box(verdict) + waits_bar(verdict);
  if (rows.empty()) return html;
  return html +
         "<div class=\"scroll\"><table><tr><th>evidence</th><th "
         "class=\"n\">value</th><th>limit</th></tr>\n" +
         rows + "</table></div>\n";
}

// How long calls for a batch took, by what made them wait.
std::string kinds_table(const StepStats& steps) {
  std::string rows;
  for (const auto& [kind, all_ns, times] : {std::tuple{"start", steps.startup_ns, steps.startup},
                                            {"beginnings of epochs", steps.edge_ns, steps.edge},
                                            {"others", steps.burst_ns, steps.burst},
                                            {"where most calls waited", steps.sustained_ns, steps.sustained}}) {
    if (times.calls == 0) continue;
    rows += fmt::format(
        "<tr><td>{}</td><td class=\"n\">{}</td><td class=\"n\">{}</td><td class=\"n\">{}</td><td "
        "class=\"n\">{}</td></tr>\n",
        kind, times.calls, seconds_text(1e-9 * all_ns), seconds_text(1e-9 * static_cast<double>(times.p50_ns)),
        seconds_text(1e-9 * static_cast<double>(times.p99_ns)));
  }
  if (rows.empty()) return "";
  return "<div class=\"scroll\"><table><tr><th>calls for a batch</th><th class=\"n\">number</th><th "
         "class=\"n\">time</th><th class=\"n\">p50</th><th class=\"n\">p99</th></tr>\n" +
         rows + "</table></div>\n";
}

// ---- the plan

// `at_once`: threads' worth of work, below 0: not known; `most`: what the fullest colour stands for.
std::string box(const std::string& name, double at_once, double most, bool limits, size_t place) {
  const double top = 4 + 54 * static_cast<double>(place);
  const std::string work = at_once < 0 ? "not measured by itself" : fmt::format("{:.2f} threads at once", at_once);
  std::string svg = fmt::format(
      "<rect x=\"4\" y=\"{0}\" width=\"512\" height=\"40\" rx=\"4\" fill=\"var(--busy)\" fill-opacity=\"{1:.2f}\" "
      "stroke=\"var(--{2})\" stroke-width=\"{3}\"/>\n<text x=\"14\" y=\"{4}\">{5}</text>\n"
      "<text x=\"14\" y=\"{6}\">{7}{8}</text>\n",
      top, 0.05 + 0.55 * std::clamp(at_once / most, 0.0, 1.0), limits ? "mark" : "line", limits ? 3 : 1, top + 17,
      html_escaped(shortened(name)), top + 33, work, limits ? " — limits" : "");
  if (place > 0) {
    svg += fmt::format("<path d=\"M260 {} v10 m-4 -5 l4 5 l4 -5\" fill=\"none\" stroke=\"var(--soft)\"/>\n", top - 14);
  }
  return svg;
}

bool is_measured(const ProfileRow& row) { return row.calls > 0 || row.self_s > 0; }

const std::string& name_for_people(const ProfileRow& row) { return row.title.empty() ? row.name : row.title; }

bool limits(const Verdict& verdict, const ProfileRow& row) {
  if (verdict.stage.empty() || row.stage != verdict.stage) return false;
  if (row.name == row.stage) return true;
  return row.name == verdict.op && (row.title.empty() || verdict.op_title.empty() || row.title == verdict.op_title);
}

// Its operators from the sources down to the program, as busy as they were.
std::string plan_svg(const PipelineRecord& pipeline) {
  const auto rows = profile_of(pipeline.loader, {.view = ProfileView::scope});
  if (!rows || rows->empty() || pipeline.seconds <= 0) return "";
  double most = std::max(pipeline.loader.threads, 1);
  for (const ProfileRow& row : *rows) most = std::max(most, row.self_s / pipeline.seconds);
  const size_t count = std::min(rows->size(), kMostRows);
  std::string svg = fmt::format(
      "<svg class=\"plan\" width=\"520\" viewBox=\"0 0 520 {}\" role=\"img\" aria-label=\"the plan\">\n", 54 * count);
  for (size_t i = 0; i < count; ++i) {
    const ProfileRow& row = (*rows)[i];
    svg += box(name_for_people(row), is_measured(row) ? row.self_s / pipeline.seconds : -1, most,
               limits(pipeline.verdict, row), i);
  }
  return svg + "</svg>\n<p class=\"soft\">From the source to the program; the fuller the colour, the busier.</p>\n";
}

std::string profile_table(const PipelineRecord& pipeline) {
  const auto rows = profile_of(pipeline.loader, {.view = ProfileView::scope});
  if (!rows || rows->empty()) return "";
  std::string html =
      "<div class=\"scroll\"><table><tr><th>operator</th><th>stage</th><th class=\"n\">elements</th><th "
      "class=\"n\">self</th><th class=\"n\">~CPU</th><th class=\"n\">~blocked</th><th class=\"n\">share</th><th "
      "class=\"n\">held at peak</th><th class=\"n\">~read</th><th>~blocked in</th></tr>\n";
  for (size_t i = 0; i < std::min(rows->size(), kMostRows); ++i) {
    const ProfileRow& row = (*rows)[i];
    if (!is_measured(row)) {
      html += fmt::format(
          "<tr><td>{}</td><td>{}</td><td colspan=\"5\">not measured by itself</td><td class=\"n\">{}</td><td "
          "colspan=\"2\"></td></tr>\n",
          html_escaped(shortened(name_for_people(row))), html_escaped(shortened(row.stage)),
          bytes_text(static_cast<double>(row.peak_bytes)));
      continue;
    }
    html += fmt::format(
        "<tr><td>{}</td><td>{}</td><td class=\"n\">{}</td><td class=\"n\">{}</td><td class=\"n\">{}</td><td "
        "class=\"n\">{}</td><td class=\"n\">{:.1f} %</td><td class=\"n\">{}</td><td "
        "class=\"n\">{}</td><td>{}</td></tr>\n",
        html_escaped(shortened(name_for_people(row))), html_escaped(shortened(row.stage)), row.calls,
        seconds_text(row.self_s), seconds_text(row.cpu_s), seconds_text(row.blocked_s), 100 * row.share,
        bytes_text(static_cast<double>(row.peak_bytes)), bytes_text(row.read_bytes), blocked_in(row.seen));
  }
  return html +
         "</table></div>\n<p class=\"soft\">~: estimated from samples. Blocked: it slept, in a file, a network, a lock "
         "or a "
         "timer.</p>\n";
}

std::string waits_text(double all_ns, int64_t p50_ns, int64_t p99_ns) {
  std::string all = seconds_text(1e-9 * all_ns);
  if (p99_ns == 0) return all;
  return fmt::format("{} ({}, {})", all, seconds_text(1e-9 * static_cast<double>(p50_ns)),
                     seconds_text(1e-9 * static_cast<double>(p99_ns)));
}

std::string stages_table(const LoaderStats& stats) {
  std::string rows;
  for (auto stage = stats.stages.rbegin(); stage != stats.stages.rend(); ++stage) {
    rows += fmt::format(
        "<tr><td>{}</td><td class=\"n\">{}</td><td class=\"n\">{}</td><td class=\"n\">{:.1f}</td><td "
        "class=\"n\">{}</td><td class=\"n\">{}</td><td class=\"n\">{}</td><td class=\"n\">{}</td></tr>\n",
        html_escaped(shortened(stage->name)), stage->totals.takes, stage->target, stage->mean_ready,
        bytes_text(static_cast<double>(stage->unit_bytes)),
        waits_text(stage->totals.starved_ns, stage->starved_p50_ns, stage->starved_p99_ns),
        waits_text(stage->totals.full_ns + stage->totals.refused_ns, stage->idle_p50_ns, stage->idle_p99_ns),
        seconds_text(1e-9 * stage->totals.refused_ns));
  }
  if (rows.empty()) return "";
  const std::string limit = stats.memory_limit > 0 ? fmt::format("; they may take {} (memory)",
                                                                 bytes_text(static_cast<double>(stats.memory_limit)))
                                                   : "";
  return fmt::format("<p>Elements took {} at most, {} at the end{}.</p>\n",
                     bytes_text(static_cast<double>(stats.memory_peak)),
                     bytes_text(static_cast<double>(stats.memory_in_use)), limit) +
         "<div class=\"scroll\"><table><tr><th>stage</th><th class=\"n\">work items</th><th class=\"n\">ahead at "
         "most</th><th class=\"n\">ready</th><th class=\"n\">largest</th><th class=\"n\">waited for (p50, p99)</th><th "
         "class=\"n\">no room (p50, p99)</th><th class=\"n\">of that no memory</th></tr>\n" +
         rows + "</table></div>\n";
}

// What queues and staging areas counted in the whole run.
std::string queues_table(const RunRecord& run) {
  std::string rows;
  const std::vector<QueueRecord> all = last_hand_offs(run);
  for (size_t i = 0; i < std::min(all.size(), kMostRows); ++i) {
    const QueueFigures& one = all[i].figures;
    rows += fmt::format(
        "<tr><td>{}</td><td class=\"n\">{}</td><td class=\"n\">{}</td><td class=\"n\">{}</td><td "
        "class=\"n\">{:.1f}</td><td class=\"n\">{:.1f}</td><td class=\"n\">{}</td><td class=\"n\">{}</td><td "
        "class=\"n\">{}</td></tr>\n",
        html_escaped(shortened(all[i].name)), one.capacity < 0 ? "none" : fmt::to_string(one.capacity),
        one.min_after_dequeue > 0 ? fmt::to_string(one.min_after_dequeue) : "", one.size_peak, one.put_size_mean,
        one.take_size_mean, bytes_text(static_cast<double>(one.bytes_peak)),
        waits_text(static_cast<double>(one.starved_ns), one.starved_p50_ns, one.starved_p99_ns),
        waits_text(static_cast<double>(one.full_ns), one.full_p50_ns, one.full_p99_ns));
  }
  if (rows.empty()) return "";
  return "<div class=\"scroll\"><table><tr><th>queue</th><th class=\"n\">capacity</th><th class=\"n\">minimum "
         "that stays</th><th class=\"n\">most inside</th><th class=\"n\">inside after a put</th><th class=\"n\">inside "
         "before a take</th><th "
         "class=\"n\">most bytes</th><th class=\"n\">waits for elements (p50, p99)</th><th class=\"n\">waits for room "
         "(p50, p99)</th></tr>\n" +
         rows + "</table></div>\n";
}

// When the process took most, of the moments at which that was looked at.
std::string memory_table(const RunRecord& run) {
  const RunPoint* const most = fullest_point(run);
  if (most == nullptr) return "";
  const auto all = static_cast<double>(most->pss - run.machine.idle_pss);
  std::string html = fmt::format(
      "<p>After {:.0f} s the process took {} more than at its start.</p>\n<div class=\"scroll\"><table><tr><th>held "
      "by</th><th class=\"n\">bytes</th><th class=\"n\">share</th></tr>\n",
      most->seconds, bytes_text(all));
  for (size_t i = 0; i < std::min(most->memory.size(), kMostRows); ++i) {
    const MemoryUse& use = most->memory[i];
    const auto bytes = static_cast<double>(use.bytes);
    html += fmt::format("<tr><td>{}</td><td class=\"n\">{}</td><td class=\"n\">{:.1f} %</td></tr>\n",
                        html_escaped(shortened(use.who)), bytes_text(bytes), all > 0 ? 100 * bytes / all : 0);
  }
  const bool is_counted_twice = !most->memory.empty() && most->memory.back().bytes < 0;
  return html +
         "</table></div>\n<p class=\"soft\">An operator holds the blocks that it allocated; batches that the "
         "program got are its own; what none of them holds is outside" +
         (is_counted_twice ? "; negative here: blocks that are not written yet, or counted twice, as a batch in a queue"
                           : "") +
         ".</p>\n";
}

// What threads took in the whole run.
std::string threads_table(const RunRecord& run) {
  if (run.points.empty() || run.points.back().threads.empty()) return "";
  const RunPoint& last = run.points.back();
  std::string rows;
  for (size_t i = 0; i < std::min(last.threads.size(), kMostRows); ++i) {
    const ThreadUse& use = last.threads[i];
    const double at_once = last.seconds > 0 ? use.cpu_s / last.seconds : 0;
    rows += fmt::format(
        "<tr><td>{}</td><td class=\"n\">{}</td><td class=\"n\">{}</td><td class=\"n\">{:.2f}</td><td "
        "class=\"n\">{}</td></tr>\n",
        html_escaped(use.name), use.threads, seconds_text(use.cpu_s), at_once, use.major_faults);
  }
  return "<div class=\"scroll\"><table><tr><th>threads named</th><th class=\"n\">at the end</th><th "
         "class=\"n\">CPU</th><th class=\"n\">processors</th><th class=\"n\">major faults</th></tr>\n" +
         rows +
         "</table></div>\n<p class=\"soft\">A major fault: the thread waited for a page of a mapped file, or of swap, "
         "to be read.</p>\n";
}

// ---- the time

std::string number_text(double value) {
  return std::abs(value) >= 1000 ? fmt::format("{:.0f}", value) : fmt::format("{:.3g}", value);
}

// What happened at the end of a run, just after a moment that was looked at, is not a moment like the others.
std::vector<RunPoint> moments(const RunRecord& run) {
  constexpr double kLeast = 0.2;  // Of the moment before.
  std::vector<RunPoint> points = run.points;
  if (points.size() < 3) return points;
  const auto last = points.end() - 1;
  const double before = (last - 1)->seconds - (last - 2)->seconds;
  if (last->seconds - (last - 1)->seconds < kLeast * before) points.pop_back();
  return points;
}

std::string chart(const std::string& name, const std::vector<double>& values, double unit, const std::string& of) {
  const std::vector<double> pieces = in_pieces(values);
  const double most = *std::max_element(pieces.begin(), pieces.end()), scale = std::max(most, 1e-12);
  std::string points;
  const double step = 100.0 / static_cast<double>(std::max<size_t>(pieces.size() - 1, 1));
  for (size_t i = 0; i < pieces.size(); ++i) {
    points += fmt::format("{:.1f},{:.1f} ", step * static_cast<double>(i), 29 - 28 * pieces[i] / scale);
  }
  return fmt::format(
      "<figure><svg viewBox=\"0 0 100 30\" preserveAspectRatio=\"none\" role=\"img\" aria-label=\"{0}\"><polyline "
      "points=\"{1}\"/></svg><figcaption>{0}: at most {2}{3}, at the end {4}{3}</figcaption></figure>\n",
      html_escaped(name), points, number_text(most / unit), of, number_text(pieces.back() / unit));
}

// The points of each series, in order of their first.
class Series {
 public:
  void add(const std::string& name, double value, double unit = 1, const std::string& of = "") {
    const auto found = std::find_if(all_.begin(), all_.end(), [&](const One& one) { return one.name == name; });
    (found != all_.end() ? *found : all_.emplace_back(One{name, {}, unit, of})).values.push_back(value);
  }
  std::string html() const {
    std::string text;
    for (size_t i = 0; i < std::min(all_.size(), kMostCharts); ++i) {
      text += chart(all_[i].name, all_[i].values, all_[i].unit, all_[i].of);
    }
    return text.empty() ? "" : "<div class=\"charts\">\n" + text + "</div>\n";
  }

 private:
  struct One {
    std::string name;
    std::vector<double> values;
    double unit;
    std::string of;
  };
  std::vector<One> all_;
};

std::string charts(const RunRecord& run) {
  Series series;
  const auto any = [&](double RunPoint::*field) {
    return std::any_of(run.points.begin(), run.points.end(), [=](const RunPoint& point) { return point.*field > 0; });
  };
  const bool stolen = any(&RunPoint::stolen_cpus), throttled = any(&RunPoint::throttled_cpus);
  for (const RunPoint& point : moments(run)) {
    for (const PipelinePoint& one : point.pipelines) {
      const std::string name = one.name.empty() ? "" : " of " + one.name;
      series.add("waiting" + name, one.wait_share, 0.01, " %");
      if (one.ready >= 0) series.add("ready batches" + name, one.ready);
      if (one.ready >= 0) series.add("memory" + name, static_cast<double>(one.memory_bytes), 1e6, " MB");
    }
    for (const QueuePoint& one : point.queues) series.add(one.tag, one.value);
    series.add("processors used by this process", point.own_cpus);
    series.add("processors used by others", point.other_cpus);
    if (stolen) series.add("processors taken by the host", point.stolen_cpus);
    if (throttled) series.add("processors refused by the control group", point.throttled_cpus);
    series.add("resident memory of the process", static_cast<double>(point.rss), 1e6, " MB");
  }
  return series.html();
}

// A strip: the darker, the more of that moment the program waited for this pipeline.
std::string stalls(const RunRecord& run, const std::string& name) {
  std::vector<double> shares;
  for (const RunPoint& point : moments(run)) {
    for (const PipelinePoint& one : point.pipelines) {
      if (one.name == name) shares.push_back(one.wait_share);
    }
  }
  if (shares.empty()) return "";
  const std::vector<double> pieces = in_pieces(shares);
  const double width = 100.0 / static_cast<double>(pieces.size());
  std::string svg =
      "<svg viewBox=\"0 0 100 6\" preserveAspectRatio=\"none\" style=\"width:100%;height:1.6rem\" role=\"img\" "
      "aria-label=\"when it waited\"><rect width=\"100\" height=\"6\" fill=\"var(--box)\"/>\n";
  for (size_t i = 0; i < pieces.size(); ++i) {
    if (pieces[i] < 0.005) continue;
    svg += fmt::format(
        "<rect x=\"{:.2f}\" width=\"{:.2f}\" height=\"6\" fill=\"var(--sustained)\" fill-opacity=\"{:.2f}\"/>\n",
        width * static_cast<double>(i), width, pieces[i]);
  }
  return svg +
         "</svg>\n<p class=\"soft\">From the start to the end: the fuller the colour, the more of that time the "
         "program "
         "waited.</p>\n";
}

std::string pipeline_html(const RunRecord& run, const PipelineRecord& pipeline) {
  const std::string of = pipeline.name.empty() ? "" : " of " + pipeline.name;
  const std::string waits_for = pipeline.name.empty() ? "" : " for " + pipeline.name;
  const LoaderStats& stats = pipeline.loader;
  const std::string settings = stats.stages.empty()
                                   ? ""
                                   : fmt::format("<p>{} compute threads, {} I/O threads; {} batches in {:.1f} s.</p>\n",
                                                 stats.threads, stats.io_threads, stats.batches, pipeline.seconds);
  const char* const first =
      pipeline.verdict.code == ReasonCode::device_bound ? "The program hardly waits" : "Why the program waits";
  return section(first + waits_for, verdict_html(pipeline.verdict) + kinds_table(stats.steps)) +
         section("When it waited" + waits_for, stalls(run, pipeline.name)) +
         section("The plan" + of, plan_svg(pipeline)) + section("Profile" + of, profile_table(pipeline)) +
         section("Memory" + of, stages_table(stats)) +
         section("Settings" + of,
                 settings + (pipeline.plan.empty() ? "" : "<pre>" + html_escaped(pipeline.plan) + "</pre>\n"));
}

}  // namespace

std::string report_html(const RunRecord& run) {
  const double seconds = run.points.empty() ? 0 : run.points.back().seconds;
  const int64_t steps = run.points.empty() ? 0 : run.points.back().step;
  const PipelineRecord* const most = most_waited_for(run.pipelines);
  std::string html = fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<meta name=\"viewport\" "
      "content=\"width=device-width,initial-scale=1\">\n<meta name=\"color-scheme\" content=\"light "
      "dark\">\n<title>Headpond: {7}a run of {0}</title>\n<style>{1}</style>\n</head>\n<body>\n<h1>A run of "
      "{0}</h1>\n<p class=\"soft\">{2:.1f} s, {3} steps{4}; {5} processors, {6}</p>\n",
      html_escaped(run.machine.started), kStyle, seconds, steps, run.is_whole ? "" : "; it did not end by itself",
      run.machine.processors, html_escaped(run.machine.simd),
      most == nullptr ? "" : std::string(to_string(most->verdict.code)) + ", ");
  if (most != nullptr) html += pipeline_html(run, *most);
  for (const PipelineRecord& one : run.pipelines) {
    if (&one != most) html += pipeline_html(run, one);
  }
  return html + section("Queues", queues_table(run)) + section("Who holds the memory", memory_table(run)) +
         section("Threads", threads_table(run)) + section("Over time", charts(run)) + "</body>\n</html>\n";
}

}  // namespace headpond
