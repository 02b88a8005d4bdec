// SPDX-License-Identifier: Apache-2.0
#include "headpond/queue/queue.h"

#include <gtest/gtest.h>

#include "headpond/base/thread.h"
#include "headpond/queue/queue_runner.h"

namespace headpond {
namespace {

TEST(FIFOQueue, PassesElementsInOrderBetweenThreads) {
  FIFOQueue queue({.capacity = 4, .dtypes = {i64}});
  Thread producer("producer", [&] {
    for (int64_t i = 0; i < 100000; ++i) ASSERT_TRUE(queue.enqueue(Element{{Tensor::scalar(i)}}));
    ASSERT_TRUE(queue.close());
  });
  int64_t expected = 0;
  for (const Element& element : queue) ASSERT_EQ(element[0].as<int64_t>()[0], expected++);
  EXPECT_EQ(expected, 100000);
}

}  // namespace
}  // namespace headpond
