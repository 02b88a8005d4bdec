// SPDX-License-Identifier: Apache-2.0
#include "headpond/engine/verdict/verdict.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <ostream>

#include "headpond/engine/verdict/rules_internal.h"

namespace headpond {
namespace {

constexpr size_t kMostEvidence = 2, kMostChanges = 2, kMostLines = 8;

std::string sureness(double confidence) {
  return confidence >= 0.8 ? "" : confidence >= 0.5 ? ", medium confidence" : ", unclear, most likely";
}

std::string text_of(const Change& change) {
  std::string text = change.what;
  if (!change.setting.empty()) text += fmt::format(" ({} = {})", change.setting, change.value);
  return text + fmt::format(": {:.2f} times as fast ({:.2f} to {:.2f})", change.gain, change.low, change.high);
}

// Where too little was seen for a reason, that is the first finding.
bool saw_too_little(const Verdict& verdict) {
  return verdict.code == ReasonCode::none && !verdict.findings.empty() &&
         verdict.findings[0].starts_with(kTooLittleWasSeen);
}

std::string title_of(const Verdict& verdict) {
  if (saw_too_little(verdict)) return fmt::format("{}: {}", to_string(verdict.code), verdict.findings[0]);
  return fmt::format("{}: {}{}", to_string(verdict.code), internal::in_words(verdict.code),
                     verdict.code == ReasonCode::none ? "" : sureness(verdict.confidence));
}

}  // namespace

namespace internal {

std::string_view in_words(ReasonCode code) {
  switch (code) {
    case ReasonCode::none:
      return "no reason found";
    case ReasonCode::device_bound:
      return "the program's own step limits";
    case ReasonCode::startup:
      return "only the start took long";
    case ReasonCode::epoch_edge:
      return "the first batches of epochs take long";
    case ReasonCode::stalled:
      return "no thread makes progress, and the program waits";
    case ReasonCode::machine_busy:
      return "other processes, or the host, use the processors";
    case ReasonCode::memory_limited:
      return "memory limits how much is made ahead";
    case ReasonCode::min_fill_too_large:
      return "the queue has elements, but must keep its minimum";
    case ReasonCode::oversubscribed:
      return "more threads compute than there are processors";
    case ReasonCode::user_lock:
      return "calls wait for each other in a lock";
    case ReasonCode::single_file:
      return "one file is read in order";
    case ReasonCode::serial_stage:
      return "one thread at a time can do this work";
    case ReasonCode::slow_batch_function:
      return "a function of whole batches takes the time";
    case ReasonCode::window_too_small:
      return "too few batches are made ahead of uneven work";
    case ReasonCode::bandwidth_bound:
      return "a shared disk, network or limit gives no more";
    case ReasonCode::latency_bound:
      return "each call waits for an answer, and too few run at once";
    case ReasonCode::cpu_bound:
      return "the processors are busy";
  }
  return "";
}

}  // namespace internal

std::string_view to_string(ReasonCode code) {
  switch (code) {
    case ReasonCode::none:
      return "none";
    case ReasonCode::device_bound:
      return "device_bound";
    case ReasonCode::startup:
      return "startup";
    case ReasonCode::epoch_edge:
      return "epoch_edge";
    case ReasonCode::stalled:
      return "stalled";
    case ReasonCode::machine_busy:
      return "machine_busy";
    case ReasonCode::memory_limited:
      return "memory_limited";
    case ReasonCode::min_fill_too_large:
      return "min_fill_too_large";
    case ReasonCode::oversubscribed:
      return "oversubscribed";
    case ReasonCode::user_lock:
      return "user_lock";
    case ReasonCode::single_file:
      return "single_file";
    case ReasonCode::serial_stage:
      return "serial_stage";
    case ReasonCode::slow_batch_function:
      return "slow_batch_function";
    case ReasonCode::window_too_small:
      return "window_too_small";
    case ReasonCode::bandwidth_bound:
      return "bandwidth_bound";
    case ReasonCode::latency_bound:
      return "latency_bound";
    case ReasonCode::cpu_bound:
      return "cpu_bound";
  }
  return "";
}

std::string Evidence::limit() const {
  if (threshold == 0) return "";
  return fmt::format("{} {:.4g}", value > threshold ? "above" : value < threshold ? "below" : "exactly", threshold);
}

std::string Verdict::to_string() const {
  std::vector<std::string> lines = {title_of(*this)};
  lines.push_back(fmt::format(
      "waiting: {:.1f} % of the time after the start (of all time: start {:.1f} %, epochs {:.1f} %, bursts {:.1f} %, "
      "sustained {:.1f} %)",
      100 * wait_share, 100 * waits.startup, 100 * waits.epoch_edge, 100 * waits.burst, 100 * waits.sustained));
  if (!stage.empty())
    lines.push_back("stage: " + stage + (op.empty() ? "" : "; operator: " + (op_title.empty() ? op : op_title)));
  for (size_t i = 0; i < std::min(evidence.size(), kMostEvidence); ++i) {
    const std::string limit = evidence[i].limit();
    const double value = evidence[i].value;
    const std::string shown = std::abs(value) < 100 ? fmt::format("{:.2f}", value) : fmt::format("{:.0f}", value);
    lines.push_back(fmt::format("{}: {}{}{}", evidence[i].figure, shown, limit.empty() ? "" : ", ", limit));
  }
  const size_t told = std::min(changes.size(), kMostChanges);
  for (size_t i = saw_too_little(*this) ? 1 : 0; i < findings.size() && lines.size() + told < kMostLines; ++i)
    lines.push_back(findings[i]);
  for (size_t i = 0; i < told; ++i) lines.push_back("change: " + text_of(changes[i]));
  return fmt::format("{}\n", fmt::join(lines, "\n  "));
}

std::ostream& operator<<(std::ostream& out, const Verdict& verdict) { return out << verdict.to_string(); }

}  // namespace headpond
