// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cstdint>
#include <optional>

#include "headpond/engine/stages/counts/crowding_internal.h"

namespace headpond::internal {
namespace {

// Calls that end one after the other.
class Calls {
 public:
  // So many, of which `inside` run at once, and each takes `ns`.
  void run(int64_t inside, int64_t ns, int count) {
    for (int i = 0; i < count; ++i) end(inside, ns / inside, ns);
  }
  void end(int64_t inside, int64_t after_ns, int64_t took_ns) {
    now_ns_ += after_ns;
    crowding_.add(now_ns_ - took_ns, now_ns_, inside, 1);
  }
  void nothing_runs(int64_t ns) { now_ns_ += ns; }
  // The last one that runs is not compared.
  void last_ends() { crowding_.none_left(now_ns_); }
  std::optional<double> exponent() const { return crowding_.exponent(); }

 private:
  int64_t now_ns_ = 1'000'000'000;
  Crowding crowding_;
};

// 1 to 8 run at once, each as long as `ns_of` says.
template <class NsOf>
std::optional<double> exponent_of(NsOf ns_of) {
  Calls calls;
  for (int64_t inside = 1; inside <= 8; ++inside) calls.run(inside, ns_of(inside), 30);
  return calls.exponent();
}

TEST(Crowding, TellsWhatIsSharedFromWhatIsNot) {
  EXPECT_NEAR(*exponent_of([](int64_t inside) { return 840'000 * inside; }), 1, 0.02) << "one disk for all";
  EXPECT_NEAR(*exponent_of([](int64_t) { return 840'000; }), 0, 0.02) << "each its own";
}

TEST(Crowding, SeesTheWayToANumberThatIsThenThereAllTheTime) {
  Calls calls;
  for (int64_t inside = 1; inside <= 256; ++inside) calls.run(inside, 100'000 * inside, 4);
  calls.run(256, 25'600'000, 10'000);
  EXPECT_NEAR(*calls.exponent(), 1, 0.1);
}

// 64 calls that sleep end together, and the next 64 begin.
TEST(Crowding, CallsThatEndTogetherDisturbNobody) {
  Calls calls;
  calls.run(1, 5'000'000, 20);
  for (int round = 0; round < 20; ++round) {
    calls.end(64, 5'000'000, 5'000'000);
    for (int i = 1; i < 64; ++i) calls.end(64 - i % 2, 0, 5'000'000);
  }
  EXPECT_NEAR(*calls.exponent(), 0, 0.1);
}

// One of two threads takes the lock again and again, while the other waits, and that one's call ends when the first has
// nothing left to do: alone, after the longest time of all.
TEST(Crowding, SeesALockThatIsTakenUnfairly) {
  constexpr int64_t kInside = 2'000'000, kMade = 100;
  Calls locked, apart;
  locked.run(1, kInside, 20);
  apart.run(1, kInside, 20);
  for (int i = 0; i < 10; ++i) {
    locked.run(2, kInside * 2, kMade);
    locked.end(1, kInside, (kMade + 1) * kInside);
    apart.run(2, kInside, kMade);
    apart.end(1, kInside, 2 * kInside);
  }
  EXPECT_NEAR(*locked.exponent(), 1, 0.1);
  EXPECT_LT(*apart.exponent(), 0.3) << "control";
}

// Two threads, and times that others make uneven: hardly anything was seen of one alone.
TEST(Crowding, IsUnknownWhereChanceWouldTell) {
  Calls uneven, even;
  for (int i = 0; i < 400; ++i) {
    const int64_t inside = i % 100 < 4 ? 1 : 2;
    even.run(inside, 1'000'000, 1);
    uneven.run(inside, i / 4 % 2 == 0 ? 300'000 : 3'000'000, 1);
  }
  EXPECT_FALSE(uneven.exponent());
  EXPECT_NEAR(even.exponent().value_or(-1), 0, 0.1) << "control";
}

// One call begins alone, others join it, and all end together with the next: of so few calls it counts which are done.
TEST(Crowding, TheFirstCallsAreNoMeasure) {
  constexpr int64_t kEach = 5'000'000;
  Calls calls;
  calls.end(1, kEach, kEach);
  calls.end(2, kEach, kEach);
  for (int i = 0; i < 2; ++i) calls.end(2, 0, kEach);
  calls.run(2, kEach, 4000);
  EXPECT_FALSE(calls.exponent());
}

// One descheduling in the first four would decide.
TEST(Crowding, TwoPointsAreNoMeasure) {
  Calls calls;
  calls.run(1, 1'000'000, 3);
  calls.run(1, 10'000'000, 1);
  calls.run(32, 1'000'000, 64);
  EXPECT_FALSE(calls.exponent());
}

TEST(Crowding, TimeWithoutCallsIsNone) {
  for (const bool last_is_compared : {true, false}) {
    Calls calls;
    for (int i = 0; i < 40; ++i) {
      calls.run(1 + i % 4, 120'000, 10);
      last_is_compared ? calls.end(1, 0, 120'000) : calls.last_ends();
      calls.nothing_runs(50'000'000);
    }
    EXPECT_NEAR(*calls.exponent(), 0, 0.3) << last_is_compared;
  }
}

TEST(Crowding, IsUnknownWhileAsManyCallsRunAllTheTime) {
  Calls same, few;
  same.run(4, 1'000'000, 200);
  for (int i = 1; i < 11; ++i) few.run(i, 1'000'000, 1);
  EXPECT_FALSE(same.exponent());
  EXPECT_FALSE(few.exponent());
}

}  // namespace
}  // namespace headpond::internal
