// SPDX-License-Identifier: Apache-2.0
#include "headpond/engine/stages/reorder_buffer_test_internal.h"

namespace headpond::internal {
namespace {

TEST(ReorderWork, WhatASampleTakesIsNotTheCostOfARow) {
  PlainHost host;
  const Dataset dataset = range(10);
  const auto buffer = std::make_shared<ByHand>(host, dataset);
  host.lock.lock();
  buffer->end(buffer->begin());
  const double before = buffer->stats().element_ns;
  Task sampled = buffer->begin(), plain = buffer->begin();
  sampled.is_sampled = true;
  EXPECT_TRUE(buffer->rows_made(sampled, 1'000'000));
  EXPECT_EQ(buffer->stats().element_ns, before);
  EXPECT_TRUE(buffer->rows_made(plain, 1'000'000));
  EXPECT_GT(buffer->stats().element_ns, before) << "control: of another task";
  host.lock.unlock();
  buffer->close();
}

TEST(ReorderWork, ReservesMemoryUntilAnItemIsReadyAndCountsItUntilItIsTaken) {
  PlainHost host;
  const auto as_it_is = [](const Tensor& number) { return number; };
  const Dataset dataset = range(10) | map(as_it_is, {.output = {{"", DType::i64, {kUnknown}}}});
  const auto buffer = std::make_shared<ByHand>(host, dataset);
  host.lock.lock();
  buffer->end(buffer->begin());
  EXPECT_EQ(host.memory.ready(), kItemBytes);
  EXPECT_EQ(host.memory.reserved(), 0);
  const Task second = buffer->begin();
  EXPECT_GE(host.memory.reserved(), kItemBytes) << "as large as the first";
  buffer->end(second);
  EXPECT_EQ(host.memory.reserved(), 0);
  EXPECT_EQ(host.memory.ready(), 2 * kItemBytes);
  host.lock.unlock();
  EXPECT_EQ(taken(*buffer), "0");
  EXPECT_EQ(host.memory.ready(), kItemBytes);
  buffer->close();
  EXPECT_EQ(host.memory.ready(), 0) << "what nobody takes any more";
  EXPECT_EQ(host.closed_count, 1);
}

TEST(ReorderWork, OfSeveralErrorsThatLoseItemsGivesTheFirstInPlaceNotInTime) {
  PlainHost host;
  const Dataset dataset = range(10);
  const auto buffer = std::make_shared<ByHand>(host, dataset);
  host.lock.lock();
  const Task first = buffer->begin(), second = buffer->begin(), third = buffer->begin();
  buffer->item_lost(second, Error(ErrorKind::DataLoss, "second"));
  buffer->item_lost(third, Error(ErrorKind::DataLoss, "third"));
  buffer->item_lost(first, Error(ErrorKind::DataLoss, "first"));
  host.lock.unlock();
  EXPECT_EQ(taken(*buffer), "first");
  EXPECT_EQ(taken(*buffer), "end");
  buffer->close();
}

// So that it runs as far ahead as the wait needs.
TEST(ReorderWork, AnItemWasAskedForBeforeALongWaitForItsInput) {
  PlainHost host;
  const Dataset dataset = range(10);
  const auto buffer = std::make_shared<ByHand>(host, dataset);
  constexpr int64_t kMs = 1'000'000;
  const Locked locked(host.lock);
  EXPECT_EQ(buffer->asked_for_it(Got::value, 1 * kMs), 1 * kMs);
  EXPECT_EQ(buffer->asked_for_it(Got::pending, 2 * kMs), 2 * kMs);
  EXPECT_EQ(buffer->asked_for_it(Got::pending, 5 * kMs), 5 * kMs);
  EXPECT_EQ(buffer->asked_for_it(Got::value, 9 * kMs), 2 * kMs) << "since the first time that there was none";
  EXPECT_EQ(buffer->asked_for_it(Got::value, 10 * kMs), 10 * kMs) << "the next one was there";
  EXPECT_EQ(buffer->asked_for_it(Got::pending, 11 * kMs), 11 * kMs);
  EXPECT_EQ(buffer->asked_for_it(Got::value, 11 * kMs + kMs / 2), 11 * kMs + kMs / 2) << "a short wait is none";
}

}  // namespace
}  // namespace headpond::internal
