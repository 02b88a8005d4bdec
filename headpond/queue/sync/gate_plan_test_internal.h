// SPDX-License-Identifier: Apache-2.0
// A few threads, each with a few calls at one gate, as a seed chooses them.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "headpond/base/clock.h"
#include "headpond/base/random.h"

namespace headpond::internal {

inline constexpr size_t kMostThreads = 4;
inline constexpr size_t kMostSteps = 6;
inline constexpr size_t kMostElements = 3;

struct Step {
  enum Kind : uint8_t { put, take, take_many, take_at_once, close, cancel, stop } kind;
  int64_t n;
  std::chrono::nanoseconds timeout;
  bool stoppable;
};
using Script = std::vector<Step>;

struct Plan {
  int64_t capacity;
  int64_t minimum;
  uint32_t row_for_owner;
  std::vector<Script> scripts;
};

inline constexpr std::array kKinds = {Step::put,       Step::put,          Step::put,   Step::take,   Step::take,
                                      Step::take_many, Step::take_at_once, Step::close, Step::cancel, Step::stop};

inline Step random_step(Step::Kind kind, headpond::Random& random) {
  constexpr std::array timeouts = {kForever, kForever, std::chrono::nanoseconds(0),
                                   std::chrono::nanoseconds(1'000'000)};
  return {kind, 1 + static_cast<int64_t>(random.below(kMostElements)), timeouts[random.below(4)], random.below(3) == 0};
}

inline Plan random_plan(uint64_t seed) {
  headpond::Random random(RandomKey{seed});
  constexpr std::array capacities = {1, 2, 3, -1};
  Plan plan{.capacity = capacities[random.below(4)], .minimum = 0, .row_for_owner = 0, .scripts = {}};
  if (plan.capacity != 1) plan.minimum = static_cast<int64_t>(random.below(2));
  plan.row_for_owner = static_cast<uint32_t>(random.below(2));
  plan.scripts.resize(2 + random.below(kMostThreads - 1));
  // In half of the plans threads want the same lock again and again, as threads do that become owners in turns.
  const bool is_contended = random.below(2) == 0;
  const Step::Kind wanted = random.below(2) == 0 ? Step::put : Step::take;
  for (Script& script : plan.scripts) {
    const bool contends = is_contended && random.below(4) != 0;
    const bool repeats = contends || random.below(2) == 0;
    Step::Kind kind = wanted;
    for (uint64_t steps = 1 + random.below(repeats ? kMostSteps : 4); steps > 0; --steps) {
      if (!contends && (script.empty() || !repeats)) kind = kKinds[random.below(kKinds.size())];
      script.push_back(random_step(kind, random));
    }
  }
  return plan;
}

inline std::string to_text(const Plan& plan) {
  constexpr std::array names = {"put", "take", "take_many", "take_at_once", "close", "cancel", "stop"};
  std::string text = "capacity " + std::to_string(plan.capacity) + ", minimum " + std::to_string(plan.minimum) +
                     ", row for owner " + std::to_string(plan.row_for_owner);
  for (const Script& script : plan.scripts) {
    text += "\n ";
    for (const Step& step : script) {
      text.append(" ").append(names[step.kind]).append(" ").append(std::to_string(step.n));
      if (step.timeout != kForever) text.append(step.timeout.count() == 0 ? " now" : " soon");
      text.append(step.stoppable ? " stoppable;" : ";");
    }
  }
  return text;
}

}  // namespace headpond::internal
