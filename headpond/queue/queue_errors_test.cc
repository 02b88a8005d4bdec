// SPDX-License-Identifier: Apache-2.0
// The texts of queues, whole: they begin as TensorFlow's and go on with what is inside.
#include <gtest/gtest.h>

#include <stop_token>

#include "headpond/queue/queue.h"

namespace headpond {
namespace {

Element one(int64_t value) { return Element{Tensor::scalar(value)}; }

QueueOptions options(const char* name, int64_t capacity) {
  return {.capacity = capacity, .dtypes = {DType::i64}, .shapes = {Shape{}}, .name = name};
}

TEST(QueueErrors, SayWhatTheQueueHasAndWhatWasAskedFor) {
  const FIFOQueue pond(options("pond", 1));
  ASSERT_TRUE(pond.try_enqueue(one(0)));
  EXPECT_EQ(pond.try_enqueue(one(1)).error().to_string(),
            "DeadlineExceeded: Enqueue operation timed out after 0 ms: FIFOQueue 'pond' has 1 of 1 elements");
  const RandomShuffleQueue mix(options("mix", 4), 2);
  ASSERT_TRUE(mix.try_enqueue(one(0)));
  ASSERT_TRUE(mix.try_enqueue(one(1)));
  EXPECT_EQ(mix.try_dequeue().error().to_string(),
            "DeadlineExceeded: Dequeue operation timed out after 0 ms: RandomShuffleQueue 'mix' has 2 elements, "
            "requested 1 above its minimum of 2");
}

TEST(QueueErrors, NameTheQueueWhereAnElementDoesNotFit) {
  const FIFOQueue pond(options("pond", 1));
  EXPECT_EQ(pond.enqueue(Element{Tensor::scalar(int64_t{0}), Tensor::scalar(int64_t{1})}).error().to_string(),
            "InvalidArgument: FIFOQueue 'pond': expected 1 components, received 2");
  EXPECT_EQ(pond.dequeue_many(-1).error().to_string(),
            "InvalidArgument: FIFOQueue 'pond': expected a count of at least 0, received -1");
}

TEST(QueueErrors, TellWhoEndedACall) {
  const FIFOQueue pond(options("pond", 1));
  std::stop_source stop;
  stop.request_stop();
  EXPECT_EQ(pond.dequeue({.stop = stop.get_token()}).error().to_string(),
            "Cancelled: Dequeue operation was cancelled: FIFOQueue 'pond', a stop was requested");
  EXPECT_EQ(pond.enqueue(one(0), {.stop = stop.get_token()}).error().to_string(),
            "Cancelled: Enqueue operation was cancelled: FIFOQueue 'pond', a stop was requested");
  pond.close_with_error({ErrorKind::DataLoss, "a torn file"});
  EXPECT_EQ(pond.enqueue(one(0)).error().to_string(), "Cancelled: FIFOQueue 'pond' is closed.");
  EXPECT_EQ(pond.dequeue().error().to_string(),
            "OutOfRange: FIFOQueue 'pond' is closed and has insufficient elements (requested 1, current size 0); "
            "caused by DataLoss: a torn file");
}

}  // namespace
}  // namespace headpond
