// SPDX-License-Identifier: Apache-2.0
// Calls that wait look for interrupts, and keep their place meanwhile.
#include <gtest/gtest.h>

#include <stop_token>
#include <thread>

#include "headpond/base/interrupt/interrupt.h"
#include "headpond/queue/queue.h"
#include "headpond/queue/queue_test_internal.h"
#include "headpond/queue/runner/coordinator.h"
#include "headpond/queue/staging/staging_area.h"

namespace headpond {
namespace {

using QueueInterrupt = internal::QueueTest;
using CoordinatorInterrupt = internal::QueueTest;

QueueOptions of_integers(int64_t capacity) { return {.capacity = capacity, .dtypes = {DType::i64}, .shapes = {{}}}; }

TEST_F(QueueInterrupt, ALookThatRequestsTheStopEndsTheCall) {
  const FIFOQueue queue(of_integers(1));
  std::stop_source stop;
  const InterruptLook look([&] { return stop.request_stop(); });
  EXPECT_EQ(queue.dequeue({.stop = stop.get_token()}).error().kind(), ErrorKind::Cancelled);
  StagingArea area({.dtypes = {DType::i64}});
  std::stop_source other;
  const InterruptLook second([&] { return other.request_stop(); });
  EXPECT_EQ(area.get({.stop = other.get_token()}).error().kind(), ErrorKind::Cancelled);
}

TEST_F(QueueInterrupt, ACallThatLooksKeepsItsPlace) {
  const FIFOQueue queue(of_integers(4));
  const auto put = [&](int64_t value) { ASSERT_TRUE(queue.enqueue(Element(Tensor::scalar(value)))); };
  int looks = 0;
  std::thread later;
  // The second consumer comes while the first one looks, and the elements after both.
  const InterruptLook look([&] {
    if (++looks == 1) later = std::thread([&] { EXPECT_EQ((*queue.dequeue())[0].item<int64_t>(), 1); });
    if (queue.stats().waiting_dequeues == 2 && queue.stats().enqueued == 0) {
      put(0);
      put(1);
    }
    return false;
  });
  EXPECT_EQ((*queue.dequeue())[0].item<int64_t>(), 0);
  later.join();
  EXPECT_GE(looks, 1);
}

TEST_F(CoordinatorInterrupt, EndsJoinAndTheWaitForAStop) {
  Coordinator coordinator;
  coordinator.start("waits", [](std::stop_token stop) -> Result<void> {
    while (!stop.stop_requested()) std::this_thread::yield();
    return {};
  });
  {
    const InterruptLook look([] { return true; });
    EXPECT_FALSE(coordinator.wait_for_stop());
    EXPECT_EQ(coordinator.join().error().kind(), ErrorKind::Cancelled);
    EXPECT_FALSE(coordinator.joined());
  }
  (void)coordinator.request_stop();
  EXPECT_TRUE(coordinator.join());
}

}  // namespace
}  // namespace headpond
