// SPDX-License-Identifier: Apache-2.0
// PriorityQueue: the element with the smallest priority comes first; of equal priorities the earliest. Use it where
// some work is more urgent: short sentences before long ones, samples with a large loss again.
#include <headpond/headpond.h>

#include <cstdio>
#include <string>
#include <string_view>

namespace hp = headpond;

int main() {
  // The priority, an int64 scalar, is component 0 of each element; dtypes and shapes describe the others.
  hp::PriorityQueue queue({.capacity = 32, .dtypes = {hp::bytes}, .shapes = {{}}, .name = "jobs"});
  // Three producers, each with an urgent job, a normal one and one that can wait.
  const auto producer = [queue](int number) {
    return [queue, number, job = 0](std::stop_token stop) mutable -> hp::Result<void> {
      if (job == 3) return hp::fail(hp::ErrorKind::OutOfRange, "no more jobs");
      const auto priority = int64_t{10} * (2 - job++) + number;
      const std::string text = "job of producer " + std::to_string(number);
      return queue.enqueue({hp::Tensor::scalar(priority), hp::Tensor::scalar(std::string_view(text))}, {.stop = stop});
    };
  };
  hp::Coordinator coordinator;
  hp::QueueRunner(queue, {producer(1), producer(2), producer(3)}).start(coordinator);
  if (!coordinator.join()) return 1;  // All jobs are inside, and the queue is closed.

  int64_t last = -1;
  bool rising = true;
  for (const hp::Element& job : queue) {  // Until the queue is closed and empty.
    const int64_t priority = job[0].as<int64_t>()[0];
    const std::string_view text = job[1].bytes_at(0);
    std::printf("priority %2d: %.*s\n", static_cast<int>(priority), static_cast<int>(text.size()), text.data());
    rising &= priority > last;
    last = priority;
  }
  return rising && queue.stats().dequeued == 9 ? 0 : 1;
}
