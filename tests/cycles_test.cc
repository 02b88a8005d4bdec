// SPDX-License-Identifier: Apache-2.0
// A process that starts and stops producers again and again, most times by leaving early, must stay as it was: the same
// threads and descriptors, and after cycle 1,000 at most 1 MiB more memory than after cycle 100: resident memory, or in
// a sanitizer's build, whose own records grow with each thread, what is allocated. HEADPOND_CYCLES sets another number
// of cycles.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <sstream>
#include <string>
#include <thread>

#include "headpond/base/log.h"
#include "headpond/queue/runner/queue_runner.h"

// Of a sanitizer's allocator; null without one.
extern "C" [[gnu::weak]] size_t __sanitizer_get_current_allocated_bytes();

namespace headpond {
namespace {

struct Footprint {
  int64_t threads = 0;
  int64_t descriptors = 0;
  int64_t memory = 0;  // Bytes.
};

int64_t entries(const char* folder) {
  return std::distance(std::filesystem::directory_iterator(folder), std::filesystem::directory_iterator());
}

int64_t memory() {
  if (__sanitizer_get_current_allocated_bytes != nullptr) {
    return static_cast<int64_t>(__sanitizer_get_current_allocated_bytes());
  }
  std::ifstream statm("/proc/self/statm");
  int64_t pages = 0;
  statm >> pages >> pages;
  return pages * sysconf(_SC_PAGESIZE);
}

// A thread that has ended stays listed for a moment after others joined it.
bool ends(const std::filesystem::path& thread) {
  constexpr uint64_t kExiting = 4;  // PF_EXITING of the kernel.
  std::string all;
  std::getline(std::ifstream(thread / "stat"), all);
  std::istringstream after_the_name(all.substr(std::min(all.rfind(')') + 1, all.size())));
  std::string skipped;
  for (int field = 0; field < 6; ++field) after_the_name >> skipped;
  uint64_t flags = kExiting;  // It is gone.
  after_the_name >> flags;
  return (flags & kExiting) != 0;
}

// The least of several looks: a thread may be gone between them.
int64_t threads() {
  int64_t least = INT64_MAX;
  for (int look = 0; look < 50; ++look) {
    const std::filesystem::directory_iterator all("/proc/self/task");
    least = std::min<int64_t>(least, std::count_if(begin(all), end(all), [](const auto& one) { return !ends(one); }));
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  return least;
}

Footprint footprint() { return {threads(), entries("/proc/self/fd"), memory()}; }

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
  std::cout << cycles << " cycles: memory grew by " << late.memory - early.memory << " bytes\n";
  EXPECT_EQ(late.threads, early.threads);
  EXPECT_EQ(late.descriptors, early.descriptors);
  EXPECT_LE(late.memory - early.memory, 1 << 20);
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
  EXPECT_GE(after.threads, before.threads + 1);  // ThreadSanitizer starts one of its own with the first.
  EXPECT_EQ(after.descriptors, before.descriptors + 1);
  EXPECT_GT(after.memory - before.memory, 1 << 20);
}

}  // namespace
}  // namespace headpond
