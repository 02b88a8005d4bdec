// SPDX-License-Identifier: Apache-2.0
// StagingArea: a buffer of one or two batches between two stages; it is never closed. Use it to copy the next batch to
// the device while the step works on this one.
#include <headpond/headpond.h>

#include <algorithm>
#include <cstdio>
#include <utility>

namespace hp = headpond;

int main() {
  constexpr int64_t kSteps = 100;
  hp::FIFOQueue queue({.capacity = 64, .dtypes = {hp::i64}, .shapes = {{}}, .name = "samples"});
  hp::StagingArea area({.dtypes = {hp::i64}, .shapes = {{4}}, .capacity = 2, .name = "device"});

  hp::Coordinator coordinator;
  const auto read = [queue, sample = int64_t{0}](std::stop_token stop) mutable {
    return queue.enqueue({hp::Tensor::scalar(sample++)}, {.stop = stop});  // Endless: the stop ends it.
  };
  hp::QueueRunner(queue, {read}).start(coordinator);
  coordinator.start("copy", [queue, area](std::stop_token stop) -> hp::Result<void> {
    while (true) {
      hp::Result<hp::Element> batch = queue.dequeue_many(4, {.stop = stop});
      if (!batch) return hp::fail(batch.error());
      HEADPOND_TRY(area.put(std::move(*batch), {.stop = stop}));  // Waits while two batches are ahead.
    }
  });

  int64_t sum = 0, most = 0;
  for (int64_t step = 0; step < kSteps; ++step) {
    // An area is never closed: if a thread fails, the coordinator's stop ends this wait.
    const hp::Result<hp::Element> batch = area.get({.stop = coordinator.stop_token()});
    if (!batch) break;
    for (const int64_t sample : (*batch)[0].as<int64_t>()) sum += sample;
    most = std::max(most, area.size());
  }
  (void)coordinator.request_stop();
  const hp::Result<void> ended = coordinator.join();
  if (!ended) std::fprintf(stderr, "%s\n", ended.error().to_string().c_str());
  std::printf("%d steps, sum of the samples %d, at most two batches ahead: %s\n", static_cast<int>(kSteps),
              static_cast<int>(sum), most <= 2 ? "yes" : "no");
  return ended && most <= 2 && sum == 400 * 399 / 2 ? 0 : 1;
}
