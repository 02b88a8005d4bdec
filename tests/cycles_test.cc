// SPDX-License-Identifier: Apache-2.0
// A process that starts and stops producers again and again, most times by leaving early, must stay as it was: the same
// threads and descriptors, and after cycle 1,000 at most 1 MiB more memory than after cycle 100. HEADPOND_CYCLES sets
// another number of cycles.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <string>

#include "headpond/base/log.h"
#include "headpond/queue/queue_runner.h"

// A sanitizer keeps what was freed for a while: not here, where memory is counted.
extern "C" const char* __asan_default_options() {
  return "quarantine_size_mb=0:thread_local_quarantine_size_kb=0:malloc_context_size=0";
}

namespace headpond {
namespace {

struct Footprint {
  int64_t threads = 0;
  int64_t descriptors = 0;
  int64_t resident = 0;  // Bytes.
};

int64_t entries(const char* folder) {
  return std::distance(std::filesystem::directory_iterator(folder), std::filesystem::directory_iterator());
}

Footprint footprint() {
  std::ifstream statm("/proc/self/statm");
  int64_t pages = 0;
  statm >> pages >> pages;
  return {entries("/proc/self/task"), entries("/proc/self/fd"), pages * sysconf(_SC_PAGESIZE)};
}

Result<void> put_batch(Queue& queue) { return queue.enqueue(Element{{Tensor::empty(f32, {32, 100})}}); }

// By turns the consumer leaves, the data ends, a producer fails, somebody requests a stop.
void cycle(int64_t number) {
  RandomShuffleQueue shuffle({.capacity = 8, .dtypes = {f32}, .shapes = {Shape{32, 100}}}, 2, 1);
  FIFOQueue fifo({.capacity = 4, .dtypes = {f32}, .shapes = {Shape{32, 100}}});
  Queue queue = number % 2 == 0 ? Queue(shuffle) : Queue(fifo);
  Coordinator coordinator;
  const int64_t way = number % 4;
  const auto produce = [queue, way, left = 5](const std::stop_token&) mutable -> Result<void> {
    if (left-- > 0 || way == 0) return put_batch(queue);
    if (way == 3) return fail(ErrorKind::DataLoss, "damaged");
    return fail(ErrorKind::OutOfRange, "end");
  };
  QueueRunner(queue, {produce, produce}).start(coordinator);
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(queue.dequeue());
  if (way == 0) return;
  if (way == 1) (void)coordinator.request_stop();
  while (queue.dequeue_up_to(2)) {
  }
  ASSERT_EQ(coordinator.join().has_value(), way != 3);
}

TEST(Cycles, StartsStopsAndEarlyExitsLeaveNothingBehind) {
  set_log_sink([](LogLevel, std::string_view) {});
  const char* const given = std::getenv("HEADPOND_CYCLES");
  const int64_t cycles = std::max<int64_t>(200, given == nullptr ? 1000 : std::atoll(given));
  Footprint early;
  for (int64_t i = 0; i < cycles; ++i) {
    if (i == 100) early = footprint();
    cycle(i);
    if (HasFatalFailure()) return;
  }
  const Footprint late = footprint();
  std::cout << cycles << " cycles: resident memory grew by " << late.resident - early.resident << " bytes\n";
  EXPECT_EQ(late.threads, early.threads);
  EXPECT_EQ(late.descriptors, early.descriptors);
  EXPECT_LE(late.resident - early.resident, 1 << 20);
  set_log_sink({});
}

// The control: what the figures above would show if a cycle kept its batches, a descriptor and a thread.
TEST(Cycles, TheFootprintShowsWhatIsLeftBehind) {
  const Footprint before = footprint();
  std::vector<Tensor> kept;
  for (int i = 0; i < 200; ++i) {
    kept.push_back(Tensor::empty(f32, {32, 100}));
    std::fill_n(kept.back().mutable_data(), kept.back().byte_size(), std::byte{1});
  }
  const std::ifstream open("/proc/self/status");
  Coordinator coordinator;
  coordinator.start("stays", [](std::stop_token stop) -> Result<void> {
    while (!stop.stop_requested()) std::this_thread::yield();
    return {};
  });
  const Footprint after = footprint();
  EXPECT_EQ(after.threads, before.threads + 1);
  EXPECT_EQ(after.descriptors, before.descriptors + 1);
  EXPECT_GT(after.resident - before.resident, 1 << 20);
}

}  // namespace
}  // namespace headpond
