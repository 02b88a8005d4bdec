// SPDX-License-Identifier: Apache-2.0
#include <cstring>

#include "cli/bench/handoff.h"
#include "headpond/queue/store/slots_internal.h"
#include "headpond/queue/sync/gate_internal.h"

namespace headpond::cli {
namespace {

HandoffTime run(const HandoffRun& asked) {
  Gate gate(asked.capacity, 0);
  internal::Slots slots(64, false, asked.capacity);
  const Wait wait;
  const auto put = [&](int, int64_t i) {
    WaitContext context(wait);
    if (gate.begin_put(context) != WaitResult::go) return;
    if (gate.await_room(context) == WaitResult::go) {
      std::memcpy(slots.write_slot(gate.known_room()), &i, sizeof(i));
      slots.advance_write();
      gate.commit_put(1);
    }
    gate.end_put();
  };
  const auto take = [&](int) {
    int64_t number = -1;
    WaitContext context(wait);
    if (gate.begin_take(context) != WaitResult::go) return number;
    if (gate.await_obtainable(1, context) == WaitResult::go) {
      std::memcpy(&number, slots.read_slot(gate.known_inside()), sizeof(number));
      slots.advance_read();
      gate.commit_take(1);
    }
    gate.end_take();
    return number;
  };
  return hand_off(asked, true, put, take);
}

}  // namespace

std::vector<HandoffSystem> gate_peer() {
  return {{.system = "gate", .version = HEADPOND_VERSION, .payload = "int64", .run = run}};
}

}  // namespace headpond::cli
