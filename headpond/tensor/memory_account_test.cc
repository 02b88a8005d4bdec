// SPDX-License-Identifier: Apache-2.0
#include "headpond/tensor/memory_account.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <optional>
#include <thread>
#include <vector>

#include "headpond/base/thread.h"

namespace headpond {
namespace {

constexpr size_t kLarge = 1 << 20;
constexpr int64_t kHead = 64;

BufferRef allocate_for(const MemoryAccount* account, BufferPool& pool, size_t size) {
  const MemoryAccount::Scope scope(account);
  return pool.allocate(size);
}

TEST(MemoryAccount, CountsBlocksUntilTheirPoolHasThemBack) {
  BufferPool pool;
  MemoryAccount account;
  BufferRef block = allocate_for(&account, pool, kLarge), small = allocate_for(&account, pool, 100);
  const BufferRef other = pool.allocate(kLarge);  // Outside of the scope.
  EXPECT_EQ(account.bytes(), static_cast<int64_t>(kLarge) + 100 + 2 * kHead);
  const BufferRef again = block;
  block = {};
  EXPECT_EQ(account.bytes(), static_cast<int64_t>(kLarge) + 100 + 2 * kHead) << "it has another owner";
  small = {};
  EXPECT_EQ(account.bytes(), static_cast<int64_t>(kLarge) + kHead);
}

TEST(MemoryAccount, TheInnermostScopeCounts) {
  BufferPool pool;
  MemoryAccount outer, inner;
  const MemoryAccount::Scope of_outer(&outer);
  const BufferRef first = allocate_for(&inner, pool, kLarge), none = allocate_for(nullptr, pool, kLarge),
                  second = pool.allocate(kLarge);
  EXPECT_EQ(inner.bytes(), static_cast<int64_t>(kLarge) + kHead);
  EXPECT_EQ(outer.bytes(), static_cast<int64_t>(kLarge) + kHead);
}

TEST(MemoryAccount, ThePeakStays) {
  BufferPool pool;
  MemoryAccount account;
  for (int round = 0; round < 3; ++round) {
    std::vector<BufferRef> blocks;
    for (int i = 0; i < 3; ++i) blocks.push_back(allocate_for(&account, pool, kLarge));
  }
  EXPECT_EQ(account.bytes(), 0);
  EXPECT_EQ(account.peak(), 3 * (static_cast<int64_t>(kLarge) + kHead));
}

TEST(MemoryAccount, APeakOfSmallBlocksIsNearlyRight) {
  constexpr int64_t kNearly = 16 << 10;
  constexpr size_t kBlocks = 4000, kSize = 1000;
  BufferPool pool;
  MemoryAccount account;
  {
    std::vector<BufferRef> blocks;
    for (size_t i = 0; i < kBlocks; ++i) blocks.push_back(allocate_for(&account, pool, kSize));
  }
  const auto most = static_cast<int64_t>(kBlocks * (kSize + kHead));
  EXPECT_LE(account.peak(), most);
  EXPECT_GE(account.peak(), most - kNearly);
}

TEST(MemoryAccount, ABlockGoesOverUnlessItIsKept) {
  BufferPool pool;
  MemoryAccount maker, keeper, program;
  const BufferRef given = allocate_for(&maker, pool, kLarge), kept = allocate_for(&maker, pool, kLarge);
  {
    const MemoryAccount::Scope scope(&keeper);
    MemoryAccount::keep(*kept.get());
  }
  EXPECT_EQ(keeper.bytes(), maker.bytes());
  program.take(*given.get());
  program.take(*kept.get());
  EXPECT_EQ(maker.bytes(), 0);
  EXPECT_EQ(program.bytes(), static_cast<int64_t>(kLarge) + kHead);
  EXPECT_EQ(keeper.bytes(), static_cast<int64_t>(kLarge) + kHead) << "others only see it";
}

TEST(MemoryAccount, ABlockThatNobodyCountsStaysSo) {
  BufferPool pool;
  MemoryAccount program;
  const BufferRef block = pool.allocate(kLarge);
  const BufferRef outside = BufferRef::calling([] {});
  program.take(*block.get());
  program.take(*outside.get());
  const MemoryAccount::Scope scope(&program);
  MemoryAccount::keep(*block.get());
  EXPECT_EQ(program.bytes(), 0);
}

TEST(MemoryAccount, BlocksMayOutliveIt) {
  BufferPool pool;
  std::optional<MemoryAccount> gone(std::in_place);
  BufferRef block = allocate_for(&*gone, pool, kLarge);
  gone.reset();
  MemoryAccount next;  // Has other counts, as the block is still there.
  EXPECT_EQ(next.bytes(), 0);
  block = {};
  EXPECT_EQ(next.bytes(), 0);
  const MemoryAccount later;
  EXPECT_EQ(later.peak(), 0);
}

TEST(MemoryAccount, ThreadsBeyondThoseThatHaveCellsCountToo) {
  constexpr int kThreads = 80;
  BufferPool pool;
  MemoryAccount account;
  std::vector<BufferRef> kept(kThreads);
  std::atomic<int> ready = 0;
  {
    std::vector<Thread> threads;
    for (size_t t = 0; t < kept.size(); ++t) {
      threads.emplace_back("counted", [&, t] {
        kept[t] = allocate_for(&account, pool, 1000);
        for (++ready; ready < kThreads;) std::this_thread::yield();  // All are there at once.
      });
    }
  }
  EXPECT_EQ(account.bytes(), kThreads * (1000 + kHead));
  kept.clear();
  EXPECT_EQ(account.bytes(), 0);
}

TEST(MemoryAccount, MayBeMadeInAChildProcess) {
  std::atomic<bool> stop = false;
  const Thread other("accounts", [&] {
    while (!stop) const MemoryAccount one;
  });
  bool all = true;
  for (int i = 0; i < 100 && all; ++i) {
    const pid_t child = fork();
    if (child == 0) {
      alarm(10);
      { const MemoryAccount own; }
      _exit(0);
    }
    int status = -1;
    all = waitpid(child, &status, 0) == child && status == 0;
  }
  stop = true;
  EXPECT_TRUE(all);
}

TEST(MemoryAccount, CountsOfSeveralThreadsAddUp) {
  BufferPool pool;
  MemoryAccount account;
  std::vector<BufferRef> kept(4);
  {
    std::vector<Thread> threads;
    for (size_t t = 0; t < kept.size(); ++t) {
      threads.emplace_back("counted", [&, t] {
        for (size_t i = 0; i < 500; ++i) (void)allocate_for(&account, pool, 100 + 50 * i);
        kept[t] = allocate_for(&account, pool, 1000);
      });
    }
  }
  EXPECT_EQ(account.bytes(), static_cast<int64_t>(kept.size()) * (1000 + kHead));
}

}  // namespace
}  // namespace headpond
