// SPDX-License-Identifier: Apache-2.0
// From the rule that holds to the verdict: how sure it is, and which changes are worth telling.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "headpond/engine/verdict/rule_parts_internal.h"

namespace headpond::internal {
namespace {

constexpr double kUnread = 0.85;
constexpr size_t kMostChanges = 3;

double by_model(const Question& q) {
  const double measured = measured_rate(q.figures);
  const double off = measured > 0 ? std::abs(q.model.rate() / measured - 1) : 1;
  return off <= 0.1 ? 1 : off <= 0.25 ? 0.7 : 0.4;
}

struct Demand {
  const char* of;
  double seconds;  // A step.
};

// The two largest ones.
std::array<Demand, 2> largest_demands(const Model& m) {
  std::array<Demand, 6> all = {{{"the program's own step", m.program},
                                {"computing", (m.cpu + m.program_cpu) / std::max(m.processors, 1.0)},
                                {"calls that wait", m.blocked / std::max(m.may_block, 1.0)},
                                {"work on one thread at a time", m.serial},
                                {"another part on one thread at a time", m.next_serial},
                                {"moving bytes", m.bandwidth}}};
  std::stable_sort(all.begin(), all.end(), [](const Demand& a, const Demand& b) { return a.seconds > b.seconds; });
  return {all[0], all[1]};
}

constexpr double kClearDemand = 1.25, kAlikeDemands = 1.05;

double ratio_of(const std::array<Demand, 2>& demands) {
  return demands[1].seconds > 0 ? demands[0].seconds / demands[1].seconds : 10;
}

double by_demand(const Model& m) {
  const double ratio = ratio_of(largest_demands(m));
  return ratio >= kClearDemand ? 1 : ratio >= kAlikeDemands ? 0.8 : 0.5;
}

// Both demands, where the larger one is not clearly larger; else empty.
std::string two_alike(const Rule& rule, const Question& q) {
  const auto demands = largest_demands(q.model);
  if (rule.sureness != Sureness::by_model || ratio_of(demands) >= kClearDemand) return "";
  const char* const how =
      ratio_of(demands) < kAlikeDemands ? "two parts limit about equally" : "a second part limits nearly as much";
  return fmt::format("{}: {} needs {:.3g} ms a step, {} {:.3g} ms", how, demands[0].of, 1e3 * demands[0].seconds,
                     demands[1].of, 1e3 * demands[1].seconds);
}

// Both halves of the last steps are alike.
double by_halves(const Figures& figures) {
  constexpr size_t kLeast = 16;
  constexpr double kAlike = 1.25, kAlikeShare = 0.1;
  const size_t half = figures.recent.size() / 2;
  if (half < kLeast) return 1;
  double whole[2] = {}, calls[2] = {};
  for (size_t i = 0; i < 2 * half; ++i) {
    whole[i / half] += figures.recent[i].call_ns + figures.recent[i].work_ns;
    calls[i / half] += figures.recent[i].call_ns;
  }
  const auto [less, more] = std::minmax(whole[0], whole[1]);
  const bool alike = more <= kAlike * less && std::abs(calls[0] / whole[0] - calls[1] / whole[1]) <= kAlikeShare;
  return alike ? 1 : 0.5;
}

double by_counters(const Figures& figures) {
  const auto is_unread = [](const StageFigures& stage) { return stage.seen > 0 && stage.seen_blocked < 0; };
  const bool looks = std::none_of(figures.stages.begin(), figures.stages.end(), is_unread);
  return (figures.others < 0 ? kUnread : 1) * (looks ? 1 : kUnread);
}

double confidence_of(const Rule& rule, const Question& q) {
  if (rule.sureness == Sureness::stated) return 1;
  double confidence = by_halves(q.figures) * by_counters(q.figures);
  if (rule.sureness == Sureness::by_model) confidence *= by_model(q) * by_demand(q.model);
  return confidence;
}

// Where the model is far off, only what a perfect input would gain is known.
void set_interval(Change& change, const Rule& rule, const Question& q) {
  const double most = 1 / std::max(1 - q.figures.wait_share(), 0.01);
  const bool is_known = rule.sureness != Sureness::by_model || by_model(q) > 0.5;
  change.low = is_known ? std::max(1.0, 1 + 0.8 * (change.gain - 1)) : 1;
  change.high = is_known ? std::min(1 + 1.2 * (change.gain - 1), std::max(most, change.gain)) : most;
}

std::vector<Change> worth_telling(const Finding& found, const Rule& rule, const Question& q) {
  std::vector<Change> changes = found.changes;
  std::erase_if(changes, [](const Change& one) { return one.gain < rule::kLeastGain; });
  std::stable_sort(changes.begin(), changes.end(), [](const Change& a, const Change& b) { return a.gain > b.gain; });
  if (changes.size() > kMostChanges) changes.resize(kMostChanges);
  for (Change& one : changes) {
    set_interval(one, rule, q);
    one.low = std::min(one.low, found.sure_gain.value_or(one.low));
  }
  return changes;
}

Verdict::Waits waits_of(const Figures& f) {
  const double all = std::max(f.time_ns + f.startup_ns + f.startup_work_ns, 1.0);
  return {f.startup_ns / all, f.kinds.edge_ns / all, f.kinds.burst_ns / all, f.kinds.sustained_ns / all};
}

bool names_a_stage(ReasonCode code) {
  switch (code) {
    case ReasonCode::none:
    case ReasonCode::device_bound:
    case ReasonCode::startup:
    case ReasonCode::epoch_edge:
    case ReasonCode::stalled:
    case ReasonCode::machine_busy:
    case ReasonCode::memory_limited:
      return false;
    default:
      return true;
  }
}

bool is_serial(ReasonCode code) { return code == ReasonCode::single_file || code == ReasonCode::serial_stage; }

double computed_ns(const StageFigures& stage) { return stage.totals.open.cpu_ns + stage.totals.make.cpu_ns; }

// All stages share the processors, so the one that computes most is meant where these limit, whichever is waited for.
const StageFigures* stage_for(ReasonCode code, const Question& q) {
  const StageFigures* meant = q.limiting;
  if (code != ReasonCode::cpu_bound || meant == nullptr) return meant;
  for (const StageFigures& stage : q.figures.stages) {
    if (computed_ns(stage) > computed_ns(*meant)) meant = &stage;
  }
  return meant;
}

OperatorName operator_for(ReasonCode code, const StageFigures& stage) {
  if (is_serial(code)) return stage.serial;
  const OperatorCost* most = nullptr;
  for (const OperatorCost& one : stage.operators) {
    if (one.cpu_ns > (most != nullptr ? most->cpu_ns : 0)) most = &one;
  }
  return code == ReasonCode::cpu_bound && most != nullptr ? name_of(*most) : top_operator(stage);
}

// The program's own step takes longest, of what the model knows; time in which threads wait for a processor is not part
// of it.
bool step_limits(const Model& m) {
  Model idle_program = m;
  idle_program.program = idle_program.program_cpu = 0;
  return m.program * idle_program.rate() >= 1;
}

// The time in which threads wait for a processor accounts for what the model makes too much of.
bool by_others_alone(const Question& q) {
  const double queue = std::max(rule::queue_share(q.figures), q.figures.program_queue_share);
  return q.model.rate() * (1 - std::clamp(queue, 0.0, 1.0)) <= 1.25 * measured_rate(q.figures);
}

std::string in_one_sentence(const Rule& rule, const Finding& found, const Question& q) {
  std::string text = fmt::format("besides: {}, {}", to_string(rule.code), in_words(rule.code));
  if (const StageFigures* const stage = stage_for(rule.code, q); names_a_stage(rule.code) && stage != nullptr) {
    text += fmt::format(", in {} ({})", stage->name, operator_for(rule.code, *stage).for_people());
  }
  const std::vector<Change> changes = worth_telling(found, rule, q);
  if (changes.empty()) return text;
  const Change& best = changes.front();
  text += "; change: " + best.what;
  return best.setting.empty() ? text : text + fmt::format(" ({} = {})", best.setting, best.value);
}

// What else holds while others have the processors. What that change gains is not known: it is measured among them.
std::string what_else_holds(std::span<const Rule> later, const Question& q) {
  for (const Rule& rule : later) {
    const auto found = rule.holds(q);
    if (!found) continue;
    if (rule.code == ReasonCode::none) return q.limiting != nullptr ? "besides: " + found->findings.back() : "";
    if (rule.sureness == Sureness::by_model && step_limits(q.model) && by_others_alone(q)) {
      return "without them the program would hardly wait: its own step takes longer";
    }
    return in_one_sentence(rule, *found, q);
  }
  return "";
}

}  // namespace

Verdict judge(const Figures& figures) {
  const Question question = question_of(figures);
  const std::span<const Rule> all = rules();
  for (const Rule& rule : all) {
    auto found = rule.holds(question);
    if (!found) continue;
    Verdict verdict{.code = rule.code, .confidence = confidence_of(rule, question)};
    verdict.wait_share = figures.wait_share();
    verdict.waits = waits_of(figures);
    if (names_a_stage(rule.code) && question.limiting != nullptr && figures.wait_share() >= 0.05) {
      const StageFigures& stage = *stage_for(rule.code, question);
      verdict.stage = stage.name;
      OperatorName limiting = operator_for(rule.code, stage);
      verdict.op = std::move(limiting.op);
      verdict.op_title = std::move(limiting.title);
    }
    if (rule.code == ReasonCode::stalled) verdict.stage = figures.stalled_stage;
    verdict.evidence = std::move(found->evidence);
    verdict.changes = worth_telling(*found, rule, question);
    verdict.findings = std::move(found->findings);
    if (std::string both = two_alike(rule, question); !both.empty()) verdict.findings.push_back(std::move(both));
    if (rule.code == ReasonCode::machine_busy) {
      std::string more = what_else_holds(all.subspan(static_cast<size_t>(&rule - all.data()) + 1), question);
      if (!more.empty()) verdict.findings.push_back(std::move(more));
    }
    return verdict;
  }
  return {};
}

}  // namespace headpond::internal
