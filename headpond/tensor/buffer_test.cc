// SPDX-License-Identifier: Apache-2.0
#include "headpond/tensor/buffer.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <latch>
#include <memory>
#include <new>
#include <optional>
#include <thread>
#include <vector>

#include "headpond/base/status.h"
#include "headpond/base/thread.h"
#include "headpond/tensor/memory_account.h"
#include "headpond/tensor/tensor.h"

namespace headpond {
namespace {

TEST(BufferPool, AlignsEveryBlockAndHoldsItsSize) {
  BufferPool pool;
  for (size_t size = 0; size < 5000; size += 37) {
    BufferRef buffer = pool.allocate(size);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(buffer->data()) % 64, 0U);
    EXPECT_EQ(buffer->size(), size);
    std::memset(buffer->data(), 1, size);
  }
  BufferRef large = pool.allocate((size_t{4} << 20) + 1);
  std::memset(large->data(), 1, large->size());
}

TEST(BufferPool, UsesTheWarmestBlockAgain) {
  BufferPool pool;
  BufferRef first = pool.allocate(1000);
  BufferRef second = pool.allocate(1000);
  Buffer* const last_returned = second.get();
  first = {};
  second = {};
  EXPECT_EQ(pool.allocate(1001).get(), last_returned);
  EXPECT_EQ(pool.stats().allocations, 2);
  EXPECT_EQ(pool.stats().reuses, 1);
}

TEST(BufferPool, SharesABlockUntilTheLastOwnerLeaves) {
  BufferPool pool;
  BufferRef one = pool.allocate(10);
  EXPECT_TRUE(one->is_unique());
  BufferRef two = one;
  EXPECT_FALSE(one->is_unique());
  one = {};
  EXPECT_TRUE(two->is_unique());
  EXPECT_GT(pool.stats().bytes_in_use, 0);
  two = {};
  EXPECT_EQ(pool.stats().bytes_in_use, 0);
}

TEST(BufferPool, KeepsNoMoreThanItMay) {
  BufferPool pool(1000);
  std::vector<BufferRef> held;
  for (int i = 0; i < 20; ++i) held.push_back(pool.allocate(100));
  held.clear();
  EXPECT_LE(pool.stats().bytes_cached, 1000);
  EXPECT_GT(pool.stats().bytes_cached, 0);
  pool.trim();
  EXPECT_EQ(pool.stats().bytes_cached, 0);
}

TEST(BufferPool, GivesFreeBlocksBackWhenAllTogetherAreTooMany) {
  BufferPool pool(1 << 20, 5000);
  {
    const BufferRef small = pool.allocate(1000);
    const BufferRef large = pool.allocate(2500);
  }
  EXPECT_GT(pool.stats().bytes_cached, 3500) << "both fit";
  const BufferRef other = pool.allocate(1500);
  EXPECT_EQ(pool.stats().bytes_cached, 0) << "no room for it and the free ones";
  { const BufferRef beyond = pool.allocate(4000); }
  EXPECT_EQ(pool.stats().bytes_cached, 0) << "too much to be kept beside the one in use";
}

// How many pages of these bytes are in memory; nothing if they do not all belong to the process.
std::optional<size_t> resident_pages(const std::byte* bytes, size_t size) {
  constexpr size_t kPage = 4096;
  const std::byte* const first = bytes - reinterpret_cast<uintptr_t>(bytes) % kPage;
  std::vector<unsigned char> pages((static_cast<size_t>(bytes - first) + size + kPage - 1) / kPage);
  if (mincore(const_cast<std::byte*>(first), pages.size() * kPage, pages.data()) != 0) return std::nullopt;
  return static_cast<size_t>(std::count_if(pages.begin(), pages.end(), [](unsigned char page) { return page & 1; }));
}

TEST(BufferPool, LargeBlocksThatGoBackAreGoneFromTheProcess) {
  constexpr size_t kSize = size_t{3} << 20;
  BufferPool keeps, gives_back(0);
  for (BufferPool* const pool : {&keeps, &gives_back}) {
    BufferRef block = pool->allocate(kSize);
    std::memset(block->data(), 1, kSize);
    const std::byte* const bytes = block->data();
    EXPECT_GE(resident_pages(bytes, kSize).value_or(0), kSize / 4096);
    block = BufferRef();
    EXPECT_EQ(resident_pages(bytes, kSize).has_value(), pool == &keeps) << "control: what is kept stays";
  }
}

TEST(BufferPool, ALargeFreeBlockServesAnyRequestThatWastesAQuarterOfItAtMost) {
  constexpr size_t kMiB = size_t{1} << 20, kHeader = 64;
  BufferPool pool, other;
  Buffer* const another = other.allocate(3 * kMiB - kHeader).get();
  EXPECT_NE(other.allocate(2 * kMiB + kMiB / 4 - kHeader).get(), another) << "it would waste a third of the request";
  Buffer* const large = pool.allocate(3 * kMiB - kHeader).get();
  const BufferRef again = pool.allocate(2 * kMiB + kMiB / 2 - kHeader);
  EXPECT_EQ(again.get(), large) << "it wastes a fifth";
  EXPECT_EQ(again->size(), 2 * kMiB + kMiB / 2 - kHeader);
  EXPECT_EQ(pool.stats().bytes_in_use, 3 << 20) << "all of it is in use";
}

TEST(BufferPool, ASmallFreeBlockServesItsOwnClassOnly) {
  BufferPool pool;
  Buffer* const small = pool.allocate(3072 - 64).get();
  EXPECT_NE(pool.allocate(2560 - 64).get(), small);
  EXPECT_EQ(pool.allocate(2561 - 64).get(), small);
}

// Blocks of 1 MiB that are kept after four were in use at once, and then one at a time, `times` times.
int64_t kept_after(BufferPool& pool, int times) {
  constexpr size_t kSize = (size_t{1} << 20) - 64;
  {
    std::vector<BufferRef> four;
    for (int i = 0; i < 4; ++i) four.push_back(pool.allocate(kSize));
  }
  for (int i = 0; i < times; ++i) (void)pool.allocate(kSize);
  EXPECT_EQ(pool.stats().allocations, 4);
  EXPECT_EQ(pool.stats().reuses, times);
  return pool.stats().bytes_cached >> 20;
}

TEST(BufferPool, LargeBlocksThatAreNotNeededGoBack) {
  BufferPool pool, soon;
  EXPECT_EQ(kept_after(soon, 31), 4) << "control: they may be needed yet";
  EXPECT_EQ(kept_after(pool, 1000), 1);
}

struct MostMiB {
  int64_t in_use = 0, in_use_and_free = 0, of_first_round = 0;
};

// While a pool serves buffers of 1 to 8 MiB, of which the newest `at_once` are in use.
MostMiB most_of(BufferPool& pool, size_t at_once, int rounds) {
  MostMiB most;
  std::deque<BufferRef> in_use;
  uint64_t random = 1;
  for (int round = 0; round < rounds; ++round) {
    for (int i = 0; i < 200; ++i) {
      random = random * 6364136223846793005 + 1442695040888963407;
      in_use.push_back(pool.allocate((size_t{1} << 20) + (random >> 33) % (size_t{7} << 20)));
      if (in_use.size() > at_once) in_use.pop_front();
      const BufferPoolStats stats = pool.stats();
      most.in_use = std::max(most.in_use, stats.bytes_in_use >> 20);
      most.in_use_and_free = std::max(most.in_use_and_free, (stats.bytes_in_use + stats.bytes_cached) >> 20);
    }
    if (round == 0) most.of_first_round = most.in_use_and_free;
  }
  return most;
}

void expect_free_blocks_near_what_is_in_use(BufferPool& pool) {
  const MostMiB most = most_of(pool, 64, 8);
  EXPECT_GT(most.in_use_and_free, most.in_use) << "some are kept";
  EXPECT_LE(most.in_use_and_free, (most.in_use + 32) * 9 / 8);
  EXPECT_EQ(most.in_use_and_free, most.of_first_round) << "it does not grow with the number of requests";
  EXPECT_GT(pool.stats().reuses, 2 * pool.stats().allocations);
}

TEST(BufferPool, FreeBlocksOfManySizesStayNearWhatWasInUseAtOnce) {
  BufferPool pool;
  expect_free_blocks_near_what_is_in_use(pool);
}

TEST(BufferPool, ABlockThatTheSystemRefusedWasNeverInUse) {
  BufferPool pool;
  EXPECT_THROW(pool.allocate(size_t{1} << 60), std::bad_alloc);
  expect_free_blocks_near_what_is_in_use(pool);
}

int64_t allocations_of_three_sizes_in_turn(BufferPool& pool) {
  const int64_t before = pool.stats().allocations;
  for (int round = 0; round < 10; ++round) {
    for (const size_t mib : {1, 3, 7}) (void)pool.allocate(mib << 20);
  }
  return pool.stats().allocations - before;
}

TEST(BufferPool, ALittleOfSeveralSizesInTurnStaysFree) {
  BufferPool pool;
  EXPECT_EQ(allocations_of_three_sizes_in_turn(pool), 3);
}

TEST(BufferPool, ManySmallFreeBlocksDoNotSendLargeOnesBack) {
  BufferPool pool;
  for (int thread = 0; thread < 8; ++thread) {  // One after the other: little is in use at once.
    Thread("small", [&pool] {
      std::vector<BufferRef> small;
      for (int i = 0; i < 1000; ++i) small.push_back(pool.allocate(16 << 10));
    }).join();
  }
  EXPECT_GT(pool.stats().bytes_cached, 8 * (int64_t{16000} << 10)) << "control: more than is kept of large ones";
  EXPECT_EQ(allocations_of_three_sizes_in_turn(pool), 3);
}

// Hooks that count their blocks, and give at most `most` bytes of them.
struct CountedBlocks {
  std::atomic<int64_t> bytes = 0, given = 0;
  int64_t most = INT64_MAX;
  BlockHooks hooks() {
    return {.allocate = [this](size_t size) -> void* {
              if (bytes + static_cast<int64_t>(size) > most) return nullptr;
              bytes += static_cast<int64_t>(size);
              ++given;
              return std::aligned_alloc(64, (size + 63) / 64 * 64);
            },
            .release =
                [this](void* block, size_t size) {
                  bytes -= static_cast<int64_t>(size);
                  std::free(block);
                }};
  }
};

TEST(BufferPool, TakesItsBlocksFromHooksAndGivesEachBack) {
  CountedBlocks blocks;
  BufferRef survivor;
  {
    BufferPool pool(blocks.hooks());
    for (int i = 0; i < 3; ++i) {
      const BufferRef small = pool.allocate(1000), large = pool.allocate(size_t{3} << 20);
      EXPECT_EQ(reinterpret_cast<uintptr_t>(large->data()) % 64, 0U);
      std::memset(large->data(), 1, large->size());
    }
    EXPECT_EQ(blocks.given, 2) << "the others were kept";
    EXPECT_EQ(blocks.bytes, pool.stats().bytes_cached);
    pool.trim();
    EXPECT_EQ(blocks.bytes, 0);
    survivor = pool.allocate(10);
  }
  EXPECT_GT(blocks.bytes, 0);
  survivor = {};
  EXPECT_EQ(blocks.bytes, 0) << "also after the pool's end";
}

TEST(BufferPool, BlocksOfHooksStayAsTheyMayBeSlowToGet) {
  CountedBlocks blocks;
  BufferPool pool(blocks.hooks());
  EXPECT_EQ(kept_after(pool, 1000), 4);
}

TEST(BufferPool, AHookThatHasNoBlocksIsTheSystemThatRefuses) {
  CountedBlocks blocks{.most = 5000};
  BufferPool pool(blocks.hooks());
  const BufferRef held = pool.allocate(3000);
  EXPECT_THROW(pool.allocate(3000), std::bad_alloc);
  EXPECT_EQ(pool.stats().bytes_in_use, blocks.bytes);
  EXPECT_THROW(BufferPool(BlockHooks{}), Exception);
}

TEST(BufferPool, ALimitThatIsLoweredHoldsFromThenOn) {
  BufferPool pool;
  { const BufferRef block = pool.allocate(3000); }
  EXPECT_GT(pool.stats().bytes_cached, 3000) << "control: it was kept before";
  pool.limit(1 << 19);
  EXPECT_GT(pool.stats().bytes_cached, 3000) << "control: it still may";
  pool.limit(2000);
  EXPECT_EQ(pool.stats().bytes_cached, 0);
  pool.limit(1 << 20);
  { const BufferRef block = pool.allocate(3000); }
  EXPECT_EQ(pool.stats().bytes_cached, 0);
}

TEST(BufferPool, ACurrentOneServesTheThreadThatNamedIt) {
  BufferPool outer, inner;
  EXPECT_EQ(&BufferPool::current(), &BufferPool::shared());
  {
    const CurrentPool first(outer);
    {
      const CurrentPool second(inner);
      EXPECT_EQ(&BufferPool::current(), &inner);
    }
    EXPECT_EQ(&BufferPool::current(), &outer);
    std::thread([] { EXPECT_EQ(&BufferPool::current(), &BufferPool::shared()); }).join();
  }
  EXPECT_EQ(&BufferPool::current(), &BufferPool::shared());
}

TEST(BufferPool, ItsBuffersMayOutliveIt) {
  BufferRef survivor;
  {
    BufferPool pool;
    survivor = pool.allocate(100);
  }
  std::memset(survivor->data(), 7, 100);
  EXPECT_EQ(survivor->data()[99], std::byte{7});
}

// The last two buffers of a pool that is gone come back at once: neither may end the pool before the other one's block
// is freed by it.
TEST(BufferPool, LivesUntilTheLastBlockIsFreed) {
  std::latch is_inside(1), other_is_back(1);
  auto token = std::make_shared<int>(0);
  const std::weak_ptr<int> hooks_live = token;
  std::atomic<int> releases = 0;
  bool lived = false;
  BufferRef first, second;
  {
    BufferPool pool(BlockHooks{.allocate = [](size_t size) { return std::aligned_alloc(64, (size + 63) / 64 * 64); },
                               .release =
                                   [&, token](void* block, size_t) {
                                     std::free(block);
                                     if (releases++ > 0) return;
                                     is_inside.count_down();
                                     other_is_back.wait();
                                     lived = !hooks_live.expired();
                                   }});
    first = pool.allocate(size_t{1} << 20);
    second = pool.allocate(size_t{1} << 20);
  }
  token.reset();
  EXPECT_FALSE(hooks_live.expired()) << "control: buffers keep the pool";
  std::thread other([&] { first = {}; });
  is_inside.wait();
  second = {};
  other_is_back.count_down();
  other.join();
  EXPECT_TRUE(lived);
  EXPECT_TRUE(hooks_live.expired()) << "control: the pool ends with its last buffer";
}

TEST(BufferPool, RefusesWhatCannotBe) {
  BufferPool pool;
  EXPECT_THROW(pool.allocate(SIZE_MAX - 100), std::bad_alloc);
  EXPECT_EQ(pool.stats().bytes_in_use, 0);
}

TEST(BufferPool, ServesManyThreads) {
  BufferPool pool;
  {
    std::vector<Thread> threads;
    for (int t = 0; t < 4; ++t) {
      threads.emplace_back("allocator", [&pool] {
        std::vector<BufferRef> held;
        for (size_t i = 0; i < 2000; ++i) {
          held.push_back(pool.allocate(i % 700));
          if (held.size() > 10) held.erase(held.begin());
        }
      });
    }
  }
  EXPECT_EQ(pool.stats().bytes_in_use, 0);
}

TEST(BlockBytes, AreWhatThePoolCounts) {
  for (const int64_t bytes : {17, 64, 65, 192, 193, 4032, 4096, 5000, 1 << 20, (2 << 20) - 64, 3 << 20}) {
    BufferPool pool;
    const BufferRef held = pool.allocate(static_cast<size_t>(bytes));
    EXPECT_EQ(internal::block_bytes(bytes), pool.stats().bytes_in_use) << bytes;
  }
  for (const int64_t bytes : {0, 1, 16, 17}) {
    const Tensor tensor = Tensor::empty(DType::u8, {bytes});
    EXPECT_EQ(internal::block_bytes(bytes) > 0, tensor.owner() != nullptr) << bytes;
  }
  EXPECT_GE(internal::block_bytes(INT64_MAX - 1), INT64_MAX - 1);
}

// Whoever is at the pool when the process forks is not in the child, and the child is not held up by it.
TEST(BufferPool, ServesAChildProcessToo) {
  constexpr size_t kLarge = 40 << 10;  // What all threads take from one place.
  BufferPool pool;
  std::atomic<bool> stop = false;
  const Thread other("allocator", [&] {
    while (!stop) (void)pool.allocate(kLarge);
  });
  bool all = true;
  for (int i = 0; i < 100 && all; ++i) {
    const BufferRef held = pool.allocate(kLarge);
    const pid_t child = fork();
    if (child == 0) {
      alarm(10);
      { const BufferRef gone = held; }
      (void)pool.allocate(2 * kLarge);
      _exit(0);
    }
    int status = -1;
    all = waitpid(child, &status, 0) == child && status == 0;
  }
  stop = true;
  EXPECT_TRUE(all);
}

}  // namespace
}  // namespace headpond
