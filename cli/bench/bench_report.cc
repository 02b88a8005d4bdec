// SPDX-License-Identifier: Apache-2.0
#include "cli/bench/bench_report.h"

#include <fmt/core.h>

#include <algorithm>

#include "cli/text_table.h"
#include "headpond/monitor/run/verdict_json.h"

namespace headpond::cli {
namespace {

void write_spread(JsonWriter& json, const Spread& spread) {
  json.member("median", spread.median).member("min", spread.min).member("max", spread.max);
}

void write_row(JsonWriter& json, const BenchRow& row, size_t i, const BenchResult& result) {
  json.begin_object().member("case", row.name).key("params").begin_object();
  for (const auto& [name, value] : row.params) {
    std::visit([&, &key = name](const auto& held) { json.member(key, held); }, value);
  }
  json.end_object().member("system", row.system).member("system_version", row.system_version);
  json.member("metric", row.metric).member("unit", row.unit).member("better", row.lower_is_better ? "lower" : "higher");
  write_spread(json, result.row(i));
  json.key("samples").begin_array();
  double cpu_s = 0, pss_mib = 0;
  for (const BenchRound& round : result.rounds) {
    json.value(round.values[i]);
    cpu_s += round.cpu_s[i];
    if (i < round.pss_mib.size()) pss_mib = std::max(pss_mib, round.pss_mib[i]);
  }
  json.end_array().member("cpu_s", cpu_s).member("pss_peak_mib", pss_mib > 0 ? pss_mib : result.pss_peak_mib);
  json.member("noisy", result.noisy()).end_object();
}

void write_target(JsonWriter& json, const BenchTarget& target, const BenchResult& result) {
  const double value = target.value(result);
  json.begin_object().member("id", target.id).member("text", target.text).member("value", value);
  json.member("op", target.at_least ? ">=" : "<=").member("bound", target.bound).member("pass", meets(target, value));
  json.end_object();
}

std::string rows_table(const Bench& bench, const BenchResult& result) {
  std::vector<std::vector<std::string>> cells;
  for (size_t i = 0; i < bench.rows.size(); ++i) {
    const BenchRow& row = bench.rows[i];
    const Spread spread = result.row(i);
    cells.push_back({row.name, row.system, row.metric, fmt::format("{:.4g}", spread.median),
                     fmt::format("{:.4g}", spread.min), fmt::format("{:.4g}", spread.max), row.unit});
  }
  return format_table({{"case"},
                       {"system"},
                       {"metric"},
                       {.head = "median", .right = true},
                       {.head = "min", .right = true},
                       {.head = "max", .right = true},
                       {"unit"}},
                      cells);
}

std::string ratios_table(const Bench& bench, const BenchResult& result) {
  std::vector<std::vector<std::string>> cells;
  for (size_t i = 0; i < bench.ratios.size(); ++i) {
    const BenchRow &of = bench.rows[bench.ratios[i].of], &to = bench.rows[bench.ratios[i].to];
    const Spread spread = result.ratio(i);
    cells.push_back({of.name, of.system, to.system, fmt::format("{:.3f}", spread.median),
                     fmt::format("{:.3f}", spread.min), fmt::format("{:.3f}", spread.max)});
  }
  return format_table({{"case"},
                       {"times better"},
                       {"than"},
                       {.head = "median", .right = true},
                       {.head = "min", .right = true},
                       {.head = "max", .right = true}},
                      cells);
}

std::string targets_table(const Bench& bench, const BenchResult& result) {
  std::vector<std::vector<std::string>> cells;
  for (const BenchTarget& target : bench.targets) {
    const double value = target.value(result);
    cells.push_back({target.id, target.text, fmt::format("{:.3f}", value),
                     fmt::format("{} {}", target.at_least ? ">=" : "<=", target.bound),
                     meets(target, value) ? "met" : "MISSED"});
  }
  return format_table({{"target"}, {""}, {.head = "value", .right = true}, {"bound"}, {""}}, cells);
}

const std::map<std::string, Verdict>& verdicts_of(const Bench& bench) {
  static const std::map<std::string, Verdict> none;
  return bench.verdicts ? *bench.verdicts : none;
}

void write_verdicts(JsonWriter& json, const Bench& bench) {
  json.key("verdicts").begin_array();
  for (const auto& [name, verdict] : verdicts_of(bench)) {
    json.begin_object().member("case", name);
    write_verdict(json, verdict);
    json.end_object();
  }
  json.end_array();
}

}  // namespace

std::string order_of(const Bench& bench) {
  std::vector<std::string> systems;
  std::string letters;
  for (const BenchRow& row : bench.rows) {
    const auto known = std::find(systems.begin(), systems.end(), row.system);
    const char letter = static_cast<char>('A' + (known - systems.begin()) % 26);
    if (known == systems.end()) systems.push_back(row.system);
    if (letters.empty() || letters.back() != letter) letters += letter;
  }
  return letters + letters;
}

void write_bench(JsonWriter& json, const Bench& bench, const BenchResult& result) {
  json.member("name", bench.name).member("rounds", result.rounds.size()).member("order", order_of(bench));
  json.member("consume", bench.consume).key("consume_ns_per_kib");
  if (result.consume_ns_per_kib) {
    json.value(*result.consume_ns_per_kib);
  } else {
    json.value(nullptr);
  }
  json.key("rows").begin_array();
  for (size_t i = 0; i < bench.rows.size(); ++i) write_row(json, bench.rows[i], i, result);
  json.end_array().key("ratios").begin_array();
  for (size_t i = 0; i < bench.ratios.size(); ++i) {
    const BenchRow &of = bench.rows[bench.ratios[i].of], &to = bench.rows[bench.ratios[i].to];
    json.begin_object()
        .member("case", of.name)
        .member("of", of.system)
        .member("to", to.system)
        .member("metric", of.metric);
    write_spread(json, result.ratio(i));
    json.end_object();
  }
  json.end_array().key("targets").begin_array();
  for (const BenchTarget& target : bench.targets) write_target(json, target, result);
  json.end_array().key("other_cores").begin_array();
  for (const BenchRound& round : result.rounds) json.value(round.other_cores);
  json.end_array().key("repeats").begin_array();
  for (const BenchRound& round : result.rounds) json.value(round.repeats);
  json.end_array().member("noisy", result.noisy()).key("digest_equal");
  if (result.digest_equal) {
    json.value(*result.digest_equal);
  } else {
    json.value(nullptr);
  }
  json.member("pass", passes(bench, result)).member("bench_s", result.wall_s);
  write_verdicts(json, bench);
}

std::string format_bench(const Bench& bench, const BenchResult& result) {
  std::string text = fmt::format("\n{}: {} rounds{} in {:.1f} s{}\n\n", bench.name, result.rounds.size(),
                                 result.interrupted ? ", then interrupted," : "", result.wall_s,
                                 result.noisy() ? ", NOISY: other processes used the machine" : "");
  text += rows_table(bench, result);
  if (!bench.ratios.empty()) text += "\n" + ratios_table(bench, result);
  if (!bench.targets.empty() && !result.interrupted) text += "\n" + targets_table(bench, result);
  if (result.digest_equal) text += *result.digest_equal ? "\noutputs agree\n" : "\nOUTPUTS DIFFER\n";
  for (const auto& [name, verdict] : verdicts_of(bench)) {
    if (verdict.code != ReasonCode::none) text += fmt::format("\n{}\n{}", name, verdict.to_string());
  }
  return text;
}

}  // namespace headpond::cli
