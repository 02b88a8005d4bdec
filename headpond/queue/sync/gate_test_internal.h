// SPDX-License-Identifier: Apache-2.0
// A put or a take of one element at a gate, without storage.
#pragma once

#include <chrono>

#include "headpond/queue/sync/gate_internal.h"

namespace headpond::internal {

inline WaitResult put(Gate& gate, const Wait& wait = {}, WaitHost* host = nullptr) {
  WaitContext context(wait, host);
  if (const WaitResult waited = gate.begin_put(context); waited != WaitResult::go) return waited;
  const WaitResult waited = gate.await_room(context);
  if (waited == WaitResult::go) gate.commit_put(1);
  gate.end_put();
  return waited;
}
inline WaitResult take(Gate& gate, const Wait& wait = {}) {
  WaitContext context(wait);
  if (const WaitResult waited = gate.begin_take(context); waited != WaitResult::go) return waited;
  const WaitResult waited = gate.await_obtainable(1, context);
  if (waited == WaitResult::go) gate.commit_take(1);
  gate.end_take();
  return waited;
}
inline const Wait kNow{.timeout = std::chrono::nanoseconds(0)};
// What a batch does that fails; `meanwhile` it has the elements. REQUIRES: nobody else takes, and so many are inside.
template <class Function>
inline void take_and_give_back(Gate& gate, int64_t count, Function&& meanwhile) {
  WaitContext context(kNow);
  (void)gate.begin_take(context);
  gate.commit_take(count);
  meanwhile();
  gate.give_back(count);
  gate.end_take();
}

}  // namespace headpond::internal
