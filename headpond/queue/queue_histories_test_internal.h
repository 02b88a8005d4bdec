// SPDX-License-Identifier: Apache-2.0
// Checks whether a history of overlapping calls is linearizable: whether a queue that makes one step at a time, each
// between the begin and the return of its call, could have given the same results. The search is that of Wing and Gong,
// "Testing and Verifying Concurrent Objects" (1993), with the memory of states of Lowe, "Testing for Linearizability"
// (2017).
//
// A step puts or takes one element. A call of many makes several while it holds its side's lock: between them come
// steps of the other side, not steps of other calls of its own side. Where a queue promises less than one step, so does
// the model:
// - What a dequeue_many has taken does not count as inside. If it fails, all of it is in front again a moment later,
//   even above the capacity; a put that saw room before that still goes in.
// - A PriorityQueue chooses elements at one moment and removes them later; until then they count as inside.
// - close(true) refuses puts, and is done when the put that holds the lock is done.
// - A timeout above 0 may end a call at any moment, since a history has no clock; nor does it say which call waited
//   first.
#pragma once

#include <algorithm>
#include <compare>
#include <cstdint>
#include <ostream>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "headpond/queue/queue_form_test_internal.h"

namespace headpond::internal {

/// cancel is close(true); stop requests a stop of the calls that wait until_stopped.
enum class What : uint8_t { put, take, take_up_to, close, cancel, stop, size, is_closed };
enum class Waits : uint8_t { not_at_all, a_time, until_stopped };
enum class Outcome : uint8_t { done, timed_out, cancelled, out_of_range, another_error };

struct Call {
  What what = What::put;
  Waits waits = Waits::not_at_all;
  int64_t n = 0;                       ///< Elements to put or asked for; the answer of size and is_closed.
  std::vector<int64_t> elements = {};  ///< Elements that were put, or that came out.
  Outcome outcome = Outcome::done;
  int64_t begin = 0;  ///< Time stamps: a call whose return is below another's begin came before it.
  int64_t end = 0;
};

struct History {
  std::string type;
  int64_t capacity = 1;
  int64_t minimum = 0;
  std::vector<Call> calls = {};
};

inline std::ostream& operator<<(std::ostream& out, const History& history) {
  constexpr const char* kWhat[] = {"put", "take", "take up to", "close", "cancel", "stop", "size", "is closed"};
  constexpr const char* kWaits[] = {"at once", "some time", "until stopped"};
  constexpr const char* kOutcome[] = {"done", "timed out", "cancelled", "out of range", "another error"};
  out << history.type << " of capacity " << history.capacity << ", minimum " << history.minimum << '\n';
  for (const Call& call : history.calls) {
    out << '[' << call.begin << ", " << call.end << "] " << kWhat[static_cast<size_t>(call.what)] << ' ' << call.n;
    if (call.what <= What::take_up_to) out << ' ' << kWaits[static_cast<size_t>(call.waits)];
    out << ": " << kOutcome[static_cast<size_t>(call.outcome)];
    for (const int64_t element : call.elements) out << ' ' << element;
    out << '\n';
  }
  return out;
}

class LinearizabilityCheck {
 public:
  /// Calls that returned early are tried early: most histories are explained nearly in that order.
  explicit LinearizabilityCheck(History history) : history_(std::move(history)) {
    std::ranges::sort(history_.calls, {}, &Call::end);
    for (Call& call : history_.calls) {
      if (history_.type == "PriorityQueue" && call.what == What::take_up_to)
        call.n = std::min(call.n, history_.capacity);
    }
  }

  bool holds() {
    State state;
    for (const Call& call : history_.calls) state.phase += call.waits == Waits::until_stopped ? kCalled : kWaiting;
    return search(state);
  }

 private:
  // How far a call is: it has to look at its stop token; it waits for the lock; it holds the lock and has moved 0, 1,
  // ... elements; it has failed and gives back what it took; it is done.
  static constexpr char kCalled = 0;
  static constexpr char kWaiting = 1;
  static constexpr char kAtTurn = 2;
  static constexpr char kGivesBack = 126;
  static constexpr char kDone = 127;
  static constexpr size_t kNobody = SIZE_MAX;
  enum class Closing : uint8_t { open, cancelling, closed, cancelled };

  struct State {
    std::string phase = {};            // Of each call.
    std::vector<int64_t> inside = {};  // FIFO and priority: in the order in which they come out.
    int64_t drained = 0;      // How many of them the call that holds the take side's lock has taken, and may give back.
    int64_t room_seen = 0;    // By the call that holds the put side's lock, before elements were given back.
    size_t putter = kNobody;  // The calls that hold the locks.
    size_t taker = kNobody;
    Closing closing = Closing::open;
    bool stopped = false;

    int64_t size() const { return std::ssize(inside) - drained; }
    bool is_closed() const { return closing >= Closing::closed; }
    auto operator<=>(const State&) const = default;
  };

  bool search(const State& state) {
    if (!seen_.insert(state).second) return false;
    int64_t first_end = INT64_MAX;
    for (size_t i = 0; i < calls().size(); ++i) {
      if (state.phase[i] != kDone) first_end = std::min(first_end, calls()[i].end);
    }
    if (first_end == INT64_MAX) return true;
    for (size_t i = 0; i < calls().size(); ++i) {
      if (state.phase[i] == kDone || calls()[i].begin > first_end) continue;
      State next = state;
      if (go_on(next, i) && search(next)) return true;
      next = state;
      if (fail(next, i) && search(next)) return true;
    }
    return false;
  }

  static bool is_take(const Call& call) { return call.what == What::take || call.what == What::take_up_to; }
  static bool is_empty(const Call& call) { return (call.what == What::put || is_take(call)) && call.n == 0; }

  // Makes the call's next step. Returns false if that is impossible now; then the state must not be used any more.
  bool go_on(State& state, size_t i) const {
    const Call& call = calls()[i];
    if (is_empty(call)) return call.outcome == Outcome::done && finish(state, i);
    if (state.phase[i] == kCalled) {
      state.phase[i] = kWaiting;
      return !state.stopped;
    }
    switch (call.what) {
      case What::put:
        return put(state, i);
      case What::take:
      case What::take_up_to:
        return history_.type == "PriorityQueue" ? take_at_once(state, i) : take(state, i);
      case What::close:
        return close(state, i);
      case What::cancel:
        return cancel(state, i);
      case What::stop:
        state.stopped = true;
        return finish(state, i);
      case What::size:
        return call.n == state.size() && finish(state, i);
      default:
        return call.n == (state.closing == Closing::open ? 0 : 1) && finish(state, i);
    }
  }

  bool put(State& state, size_t i) const {
    const Call& call = calls()[i];
    const bool fails = call.outcome != Outcome::done;
    if (state.phase[i] == kWaiting) {
      if (state.putter != kNobody || state.closing != Closing::open) return false;
      state.putter = i;
      state.phase[i] = kAtTurn;
      return true;
    }
    const int64_t moved = state.phase[i] - kAtTurn;
    if (fails && moved + 1 == call.n) return false;
    if (!has_room(state)) return false;
    insert(state.inside, call.elements[static_cast<size_t>(moved)]);
    state.room_seen = std::max<int64_t>(0, state.room_seen - 1);
    ++state.phase[i];
    return moved + 1 < call.n || finish(state, i);
  }

  bool has_room(const State& state) const { return state.size() < history_.capacity || state.room_seen > 0; }

  void insert(std::vector<int64_t>& inside, int64_t element) const {
    auto place = inside.end();
    if (history_.type == "PriorityQueue") place = std::ranges::upper_bound(inside, priority(element), {}, priority);
    if (history_.type == "RandomShuffleQueue") place = std::ranges::upper_bound(inside, element);
    inside.insert(place, element);
  }

  bool begin_take(State& state, size_t i) const {
    if (state.taker != kNobody) return false;
    state.taker = i;
    state.phase[i] = kAtTurn;
    return true;
  }

  int64_t obtainable(const State& state) const { return state.size() - (state.is_closed() ? 0 : history_.minimum); }

  // For a call that will fail only the number of elements matters: all are in front again before the next call takes.
  bool take(State& state, size_t i) const {
    const Call& call = calls()[i];
    if (state.phase[i] == kWaiting) return begin_take(state, i);
    if (state.phase[i] == kGivesBack) return finish(state, i);
    const int64_t moved = state.phase[i]++ - kAtTurn;
    if (call.outcome != Outcome::done) {
      ++state.drained;
      return moved + 1 < call.n && obtainable(state) >= 0;
    }
    if (moved == std::ssize(call.elements)) {
      return moved > 0 && call.what == What::take_up_to && state.is_closed() && state.size() == 0 && finish(state, i);
    }
    if (obtainable(state) < 1) return false;
    const auto place = history_.type == "RandomShuffleQueue"
                           ? std::ranges::find(state.inside, call.elements[static_cast<size_t>(moved)])
                           : state.inside.begin();
    if (place == state.inside.end() || *place != call.elements[static_cast<size_t>(moved)]) return false;
    state.inside.erase(place);
    return moved + 1 < call.n || finish(state, i);
  }

  // Of a PriorityQueue.
  bool take_at_once(State& state, size_t i) const {
    const Call& call = calls()[i];
    if (state.phase[i] == kWaiting) return begin_take(state, i);
    if (call.outcome != Outcome::done) return false;
    const int64_t count = std::ssize(call.elements);
    if (state.phase[i]++ == kAtTurn) {
      const bool is_rest = call.what == What::take_up_to && state.is_closed() && count > 0 && count == state.size();
      return (count == call.n || (is_rest && count < call.n)) && count <= state.size() &&
             std::equal(call.elements.begin(), call.elements.end(), state.inside.begin());
    }
    std::erase_if(state.inside, [&](int64_t each) { return std::ranges::count(call.elements, each) > 0; });
    return finish(state, i);
  }

  // Waits with the puts.
  bool close(State& state, size_t i) const {
    if (calls()[i].outcome != Outcome::done) return false;
    if (state.phase[i] == kWaiting) {
      state.phase[i] = kAtTurn;
      return state.closing == Closing::open;
    }
    if (state.closing == Closing::open && state.putter == kNobody) {
      state.closing = Closing::closed;
      return finish(state, i);
    }
    return (state.closing == Closing::cancelling || state.closing == Closing::cancelled) && finish(state, i);
  }

  bool cancel(State& state, size_t i) const {
    if (calls()[i].outcome != Outcome::done) return false;
    if (state.phase[i] == kWaiting) {
      if (state.is_closed()) return finish(state, i);
      state.closing = Closing::cancelling;
      state.phase[i] = kAtTurn;
      return true;
    }
    if (state.putter != kNobody) return false;
    state.closing = Closing::cancelled;
    return finish(state, i);
  }

  // Ends the call with its error, if the error is true now.
  bool fail(State& state, size_t i) const {
    const Call& call = calls()[i];
    bool is_true = false;
    if (is_empty(call)) return false;
    if (call.outcome == Outcome::cancelled) {
      is_true =
          (call.waits == Waits::until_stopped && state.stopped) || (!is_take(call) && state.closing != Closing::open);
    } else if (call.outcome == Outcome::timed_out) {
      is_true = call.waits != Waits::until_stopped && (is_take(call) ? is_late_take(state, i) : is_late_put(state, i));
    } else if (call.outcome == Outcome::out_of_range) {
      is_true = is_take(call) && state.phase[i] != kCalled && is_out_of_range(state, i);
    }
    if (!is_true || state.taker != i || state.drained == 0) return is_true && finish(state, i);
    return std::exchange(state.phase[i], kGivesBack) != kGivesBack;
  }

  // A call that does not wait fails if the call in front of it would have to wait.
  bool is_late_put(const State& state, size_t i) const {
    return !state.is_closed() && (calls()[i].waits == Waits::a_time || state.size() >= history_.capacity);
  }
  bool is_late_take(const State& state, size_t i) const {
    if (calls()[i].waits == Waits::a_time) return true;
    const int64_t wanted = calls()[state.taker == kNobody ? i : state.taker].n;
    return !state.is_closed() && obtainable(state) < (history_.type == "PriorityQueue" ? wanted : 1);
  }

  bool is_out_of_range(const State& state, size_t i) const {
    if (!state.is_closed()) return false;
    return calls()[i].what == What::take_up_to ? state.inside.empty() : std::ssize(state.inside) < calls()[i].n;
  }

  bool finish(State& state, size_t i) const {
    state.phase[i] = kDone;
    if (state.putter == i) {
      state.putter = kNobody;
      state.room_seen = 0;
    }
    if (state.taker == i) {
      state.taker = kNobody;
      if (state.putter != kNobody) state.room_seen = std::max(state.room_seen, history_.capacity - state.size());
      state.drained = 0;
    }
    return true;
  }

  const std::vector<Call>& calls() const { return history_.calls; }

  History history_;
  std::set<State> seen_;
};

}  // namespace headpond::internal
