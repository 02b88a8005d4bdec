// SPDX-License-Identifier: Apache-2.0
// RandomShuffleQueue: a dequeue takes a random element. Use it to get mixed batches from data that is read in order,
// for example from files sorted by class, and to mix the elements of several readers.
#include <headpond/headpond.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <vector>

namespace hp = headpond;

int main() {
  // Ten classes of 100 samples each, sorted by class. 200 samples stay in the queue to mix with, so that a batch is
  // drawn from at least two classes.
  hp::RandomShuffleQueue queue({.capacity = 300, .dtypes = {hp::i64}, .shapes = {{}}, .name = "shuffle"},
                               /*min_after_dequeue=*/200, /*seed=*/7);
  std::atomic<int64_t> next = 0;
  const auto read = [&](std::stop_token stop) -> hp::Result<void> {
    const int64_t sample = next++;
    if (sample >= 1000) return hp::fail(hp::ErrorKind::OutOfRange, "all samples were read");
    return queue.enqueue({hp::Tensor::scalar(sample)}, {.stop = stop});
  };
  hp::Coordinator coordinator;
  hp::QueueRunner(queue, {read, read}).start(coordinator);  // The last producer that ends closes the queue.

  std::vector<int64_t> samples;
  int batches = 0;
  while (const hp::Result<hp::Element> batch = queue.dequeue_up_to(8)) {
    ++batches;
    for (const int64_t sample : (*batch)[0].as<int64_t>()) samples.push_back(sample);
  }
  const hp::Result<void> ended = coordinator.join();

  const bool in_order = std::is_sorted(samples.begin(), samples.end());
  std::sort(samples.begin(), samples.end());
  const bool each_once = samples.size() == 1000 && samples.back() == 999 &&
                         std::adjacent_find(samples.begin(), samples.end()) == samples.end();
  std::printf("%d batches, %d samples, each once: %s, in the order of the file: %s\n", batches,
              static_cast<int>(samples.size()), each_once ? "yes" : "no", in_order ? "yes" : "no");
  return ended && each_once && !in_order ? 0 : 1;
}
