// SPDX-License-Identifier: Apache-2.0
// Rows that wait for a lock which later ones get first: see ReorderBuffer::later_rows_win().
#include <condition_variable>
#include <mutex>
#include <vector>

#include "headpond/engine/loader.h"
#include "headpond/engine/stages/reorder_buffer_test_internal.h"
#include "headpond/engine/testing/engine_test_internal.h"

namespace headpond::internal {
namespace {

int64_t number_itself(int64_t x) { return x; }

// A stage of rows that wait, each an item. `begun` have begun, all but the first `unmade` are made, and one more is
// open.
struct Waiting {
  Waiting(int begun, int unmade, bool are_locked) {
    host.threads_are_locked = are_locked;
    Context context;
    const Locked locked(host.lock);
    std::vector<Task> tasks;
    for (int i = 0; i < begun; ++i) tasks.push_back(buffer->begin());
    for (int i = unmade; i < begun; ++i) (void)buffer->run(tasks[static_cast<size_t>(i)], context);
    left.assign(tasks.begin(), tasks.begin() + unmade);
    (void)buffer->open_item();
  }
  ~Waiting() { buffer->close(); }

  bool begins_more() {
    const Locked locked(host.lock);
    Task task;
    const bool has_begun = buffer->claim(ThreadRole::worker, false, task);
    EXPECT_EQ(has_begun, task.item != nullptr) << "no more is opened";
    return has_begun;
  }
  void make_first() {
    Context context;
    const Locked locked(host.lock);
    (void)buffer->run(left.front(), context);
  }

  PlainHost host{{}, 8};
  const Dataset dataset = range(100) | map(&number_itself, {.blocking = true});
  std::shared_ptr<ByHand> buffer = std::make_shared<ByHand>(host, dataset);
  std::vector<Task> left;
};

TEST(LaterRows, AreNotBegunWhileTheyGetALockBeforeTheNextOne) {
  Waiting waiting(2, 1, true);
  EXPECT_FALSE(waiting.begins_more());
  waiting.make_first();
  EXPECT_TRUE(waiting.begins_more()) << "the next one is ready";
  EXPECT_TRUE(Waiting(2, 1, false).begins_more()) << "control: threads are not seen in a lock";
  EXPECT_TRUE(Waiting(3, 2, true).begins_more()) << "fewer are made than threads still make";
  EXPECT_TRUE(Waiting(2, 0, true).begins_more()) << "none is unmade";
}

TEST(LaterRows, AreBegunAfterAllIfNoneReturns) {
  Waiting waiting(2, 1, true);
  EXPECT_FALSE(waiting.begins_more());
  EXPECT_TRUE(becomes_true([&] { return waiting.begins_more(); }));
}

// An unfair lock: of the threads that wait, the last to arrive gets it first.
class LastFirst {
 public:
  void lock() {
    std::unique_lock lock(mu_);
    const int mine = ++asked_;
    waiting_.push_back(mine);
    changed_.wait(lock, [&] { return !is_held_ && waiting_.back() == mine; });
    waiting_.pop_back();
    is_held_ = true;
  }
  void unlock() {
    {
      const std::lock_guard lock(mu_);
      is_held_ = false;
    }
    changed_.notify_all();
  }

 private:
  std::mutex mu_;
  std::condition_variable changed_;
  std::vector<int> waiting_;
  int asked_ = 0;
  bool is_held_ = false;
};

TEST(LaterRows, OfALoaderAreFewBeforeTheNextOne) {
  constexpr int64_t kBatch = 4, kMany = 200;
  const auto lock = std::make_shared<LastFirst>();
  const auto begun = std::make_shared<std::atomic<int64_t>>(0);
  const auto slow = [=](int64_t x) {
    ++*begun;
    const std::lock_guard held(*lock);
    pause_ms(1);
    return x;
  };
  Loader loader(range(1 << 30) | map(slow, {.blocking = true}) | batch(kBatch), {.threads = 2, .io_threads = 8});
  // Until threads were seen in the lock often enough, any number may be begun.
  EXPECT_TRUE(becomes_true([&] {
    int64_t most = 0;
    for (int64_t i = 0; i < 50; ++i) {
      const int64_t taken = kBatch * (loader.next()->index() + 1);
      most = std::max(most, *begun - taken);
    }
    return most < kMany;
  })) << "else those of thousands of batches are";
}

TEST(LaterRows, MayBeWaitedForByTheNextOne) {
  constexpr int64_t kWaits = 600, kFor = 30;
  const auto lock = std::make_shared<LastFirst>();
  const auto ended = std::make_shared<std::atomic<int64_t>>(0);
  const auto slow = [=](int64_t x) {
    if (x == kWaits) {
      EXPECT_TRUE(becomes_true([&] { return *ended >= kWaits + kFor; }));
    }
    {
      const std::lock_guard held(*lock);
      pause_ms(1);
    }
    ++*ended;
    return x;
  };
  Loader loader(range(800) | map(slow, {.blocking = true}), {.epochs = 1, .threads = 2, .io_threads = 16});
  for (int64_t x = 0; x < 800; ++x) ASSERT_EQ(loader.next()->element()[0].as<int64_t>()[0], x);
}

}  // namespace
}  // namespace headpond::internal
