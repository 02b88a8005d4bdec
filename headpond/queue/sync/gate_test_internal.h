// SPDX-License-Identifier: Apache-2.0
// A put or a take of one element at a gate, without storage.
#pragma once

#include <chrono>

#include "headpond/queue/sync/gate_internal.h"

namespace headpond::internal {

inline Pass put(Gate& gate, const Wait& wait = {}) {
  Patience patience(wait);
  if (const Pass pass = gate.begin_put(patience); pass != Pass::go) return pass;
  const Pass pass = gate.await_room(patience);
  if (pass == Pass::go) gate.commit_put(1);
  gate.end_put();
  return pass;
}
inline Pass take(Gate& gate, const Wait& wait = {}) {
  Patience patience(wait);
  if (const Pass pass = gate.begin_take(patience); pass != Pass::go) return pass;
  const Pass pass = gate.await_obtainable(1, patience);
  if (pass == Pass::go) gate.commit_take(1);
  gate.end_take();
  return pass;
}
inline const Wait kNow{.timeout = std::chrono::nanoseconds(0)};
// What a batch does that fails; `meanwhile` it has the elements. REQUIRES: nobody else takes, and so many are inside.
template <class Function>
inline void take_and_give_back(Gate& gate, int64_t count, Function&& meanwhile) {
  Patience patience(kNow);
  (void)gate.begin_take(patience);
  gate.commit_take(count);
  meanwhile();
  gate.give_back(count);
  gate.end_take();
}

}  // namespace headpond::internal
