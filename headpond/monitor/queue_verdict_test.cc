// SPDX-License-Identifier: Apache-2.0
#include "headpond/monitor/queue_verdict.h"

#include <gmock/gmock.h>

namespace headpond {
namespace {

constexpr int64_t kMillisecond = 1'000'000;

// 200 calls of a consumer that works 20 ms and waits `wait_ms` for each batch of 32.
WaitSummary waits(int64_t wait_ms, int64_t first_ms = 0) {
  return {.calls = 201,
          .wait_ns = (200 * wait_ms + first_ms) * kMillisecond,
          .work_ns = 200 * 20 * kMillisecond,
          .first_wait_ns = first_ms * kMillisecond,
          .p50_ns = wait_ms * kMillisecond,
          .p99_ns = wait_ms * kMillisecond};
}

QueueStats stats(int64_t capacity, int64_t minimum = 0, int64_t enqueue_wait_ms = 0) {
  QueueStats stats{};
  stats.capacity = capacity;
  stats.min_after_dequeue = minimum;
  stats.enqueue_wait_ns = enqueue_wait_ms * kMillisecond;
  return stats;
}

Verdict verdict(const QueueStats& queue, const QueueSummary& summary, const WaitSummary& wait, int64_t producers = 1) {
  return diagnose(queue, summary, wait, {.batch = 32, .producers = producers});
}

const QueueSummary kHeldBack{.samples = 60, .empty_share = 0.9, .waiting_samples = 30, .held_back_share = 0.9};

TEST(QueueVerdict, AMinimumThatLeavesNoRoom) {
  // Producers need 16 ms a batch, of 31 ms: 15 of them they wait for room.
  const Verdict tight = verdict(stats(1010, 1000, 200 * 15), kHeldBack, waits(11));
  EXPECT_EQ(tight.code, ReasonCode::min_fill_too_large);
  ASSERT_EQ(tight.changes.size(), 1U);
  EXPECT_EQ(tight.changes[0].value, "1128");
  EXPECT_NEAR(tight.changes[0].gain, 31.0 / 20, 0.01);
  EXPECT_NE(verdict(stats(2000, 1000, 200 * 15), kHeldBack, waits(11)).code, ReasonCode::min_fill_too_large)
      << "there is room";
  QueueSummary empty = kHeldBack;
  empty.held_back_share = 0.1;
  EXPECT_NE(verdict(stats(1010, 1000, 200 * 15), empty, waits(11)).code, ReasonCode::min_fill_too_large)
      << "nothing is inside";
}

TEST(QueueVerdict, AMinimumOfDecodedElementsThatFillsTheMemory) {
  QueueStats decoded = stats(2000, 1000, 200 * 15);
  decoded.size_peak = 500;
  decoded.bytes_peak = 500 * 1'000'000;
  const auto with_memory = [&](int64_t bytes) {
    return diagnose(decoded, kHeldBack, waits(11), {.batch = 32, .producers = 1, .memory = bytes});
  };
  const Verdict heavy = with_memory(1'900'000'000);
  EXPECT_EQ(heavy.code, ReasonCode::min_fill_too_large) << "1000 elements of 1 MB";
  ASSERT_EQ(heavy.changes.size(), 1U);
  EXPECT_THAT(heavy.changes[0].what, testing::HasSubstr("decode them after it"));
  EXPECT_THAT(heavy.findings, testing::Contains(testing::HasSubstr("the minimum takes 53 % of the memory: lower it")));
  EXPECT_EQ(heavy.evidence.at(1).figure, "share of the memory that the minimum takes");
  EXPECT_NEAR(heavy.evidence.at(1).value, 1000.0 / 1900, 1e-6);
  EXPECT_NE(with_memory(2'100'000'000).code, ReasonCode::min_fill_too_large) << "control: less than half";
  decoded.bytes_peak = 500 * 3000;
  EXPECT_NE(with_memory(1'900'000'000).code, ReasonCode::min_fill_too_large) << "control: encoded records";
  decoded.bytes_peak = int64_t{500} << 40;
  EXPECT_EQ(with_memory(-1).code, ReasonCode::min_fill_too_large) << "no machine has 1000 TiB";
}

TEST(QueueVerdict, AQueueThatIsAlternatelyFullAndEmpty) {
  const QueueSummary uneven{.samples = 60, .empty_share = 0.3, .full_share = 0.3, .waiting_samples = 20};
  EXPECT_EQ(verdict(stats(64, 0, 100), uneven, waits(11)).code, ReasonCode::window_too_small);
  QueueStats pauses = stats(64, 0, 200 * 15);
  EXPECT_EQ(verdict(pauses, uneven, waits(11)).changes.at(0).value, "256");
  pauses.dequeue_wait_p99_ns = 800'000'000;  // 40 steps of 20 ms.
  EXPECT_EQ(verdict(pauses, uneven, waits(11)).changes.at(0).value, "2048");
  QueueSummary never_full = uneven;
  never_full.full_share = 0;
  EXPECT_NE(verdict(stats(64, 0, 100), never_full, waits(11)).code, ReasonCode::window_too_small);
}

TEST(QueueVerdict, OneProducerThatIsTooSlow) {
  const QueueSummary empty{.samples = 60, .empty_share = 1, .waiting_samples = 40};
  const Verdict slow = verdict(stats(64), empty, waits(40));
  EXPECT_EQ(slow.code, ReasonCode::serial_stage);
  ASSERT_EQ(slow.changes.size(), 1U);
  EXPECT_EQ(slow.changes[0].setting + "=" + slow.changes[0].value, "producers=3");
  EXPECT_NEAR(slow.changes[0].gain, 3, 0.01);
  EXPECT_THAT(slow.findings, testing::ElementsAre("its only producer needs 60.0 ms for a batch, a step 20.0 ms"));
  const Verdict several = verdict(stats(64), empty, waits(40), 2);
  EXPECT_EQ(several.code, ReasonCode::none);
  EXPECT_THAT(several.findings, testing::ElementsAre(testing::HasSubstr("slower than the consumer")));
  EXPECT_THAT(several.changes, testing::IsEmpty()) << "without a reason there is no change";
}

TEST(QueueVerdict, AProducerThatOftenWaitsForRoomIsNotTooSlow) {
  const QueueSummary empty{.samples = 60, .empty_share = 1, .waiting_samples = 40};
  const auto in_room_for = [&](int64_t of_a_step_ms, int64_t producers = 1) {
    return verdict(stats(64, 0, 200 * of_a_step_ms), empty, waits(40), producers);
  };
  const Verdict busy = in_room_for(5);  // Of 60 ms.
  EXPECT_EQ(busy.code, ReasonCode::serial_stage);
  ASSERT_EQ(busy.changes.size(), 1U);
  EXPECT_NEAR(busy.changes[0].gain, 60.0 / 20, 0.01) << "three producers need 55 / 3 ms, the step 20";
  EXPECT_THAT(busy.findings, testing::ElementsAre("its only producer needs 55.0 ms for a batch, a step 20.0 ms"));
  EXPECT_EQ(in_room_for(7).code, ReasonCode::none) << "control: for more than a tenth of its time it waits";
  EXPECT_THAT(in_room_for(7).findings, testing::ElementsAre(testing::HasSubstr("nothing in particular limits")));
  EXPECT_THAT(in_room_for(7, 2).findings, testing::ElementsAre(testing::HasSubstr("slower than the consumer")))
      << "of two, each for half of that";
}

TEST(QueueVerdict, AConsumerThatHardlyWaits) {
  EXPECT_EQ(verdict(stats(64), {}, waits(0)).code, ReasonCode::device_bound);
  EXPECT_EQ(verdict(stats(64), {}, waits(0, 5000)).code, ReasonCode::startup);
  EXPECT_TRUE(verdict(stats(64), {}, waits(0)).changes.empty());
  WaitSummary hour = waits(0, 70'000);
  hour.work_ns = 3600 * 1000 * kMillisecond;
  const Verdict slow_start = verdict(stats(64), {}, hour);
  EXPECT_EQ(slow_start.code, ReasonCode::startup);
  EXPECT_EQ(slow_start.evidence.at(0).value, 70) << "the figure that decided";
}

TEST(QueueVerdict, TooFewCallsGiveNoReason) {
  WaitSummary few = waits(40);
  few.calls = 20;
  const Verdict none = verdict(stats(64), kHeldBack, few);
  EXPECT_EQ(none.code, ReasonCode::none);
  EXPECT_THAT(none.findings, testing::ElementsAre(testing::HasSubstr("too little was seen")));
  EXPECT_THAT(none.to_string(), testing::StartsWith("none: too little was seen"));
}

TEST(QueueVerdict, NamesTheQueue) {
  const FIFOQueue queue({.capacity = 64, .dtypes = {i64}, .name = "digits"});
  const QueueSummary empty{.samples = 60, .empty_share = 1, .waiting_samples = 40};
  EXPECT_EQ(diagnose(queue, empty, waits(40), {}).stage, "digits");
  EXPECT_EQ(diagnose(queue, {}, waits(0), {}).stage, "");
}

}  // namespace
}  // namespace headpond
