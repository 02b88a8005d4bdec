// SPDX-License-Identifier: Apache-2.0
// What a Loader's options and batches promise, each by itself.
#include <algorithm>
#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <thread>

#include "headpond/base/cpu.h"
#include "headpond/base/log.h"
#include "headpond/engine/executor/resources.h"
#include "headpond/engine/testing/loader_test_internal.h"
#include "headpond/engine/testing/plan_run_test_internal.h"

namespace headpond::internal {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Ne;

Dataset slow(int64_t count, std::chrono::microseconds time) {
  return range(count) | map([time](int64_t x) {
           std::this_thread::sleep_for(time);
           return x;
         });
}

// Which threads called a function.
struct MapThreads {
  std::mutex mu;
  std::set<std::thread::id> seen;
  Crowd crowd;
};
std::set<std::thread::id> threads_that_map(const LoaderOptions& options) {
  const auto callers = std::make_shared<MapThreads>();
  const Dataset dataset = range(60) | map([callers, threads = options.threads](int64_t x) {
                            if (x < threads) callers->crowd.meet(threads);
                            pause_ms(1);
                            const std::lock_guard lock(callers->mu);
                            callers->seen.insert(std::this_thread::get_id());
                            return x;
                          });
  EXPECT_EQ(loaded(dataset, options).size(), 60U);
  return callers->seen;
}

TEST(LoaderThreads, NoneMeansThatTheProgramDoesAllItself) {
  EXPECT_THAT(threads_that_map({.threads = 0}), ElementsAre(std::this_thread::get_id()));
  EXPECT_THAT(threads_that_map({.threads = 0, .io_threads = 1, .consumer_helps = false}),
              ElementsAre(std::this_thread::get_id()));
  EXPECT_THAT(threads_that_map({.threads = 2}), Contains(Ne(std::this_thread::get_id()))) << "control: two that met";
}

TEST(LoaderThreads, OptionsThatCannotBeAreRefused) {
  const auto kind = [](const LoaderOptions& options) {
    const Error error = refused([&] { (void)Loader(range(6) | batch(2), options); });
    EXPECT_TRUE(error) << to_string(options);
    return error ? error.kind() : ErrorKind::Unknown;
  };
  EXPECT_EQ(kind({.memory = 0}), ErrorKind::InvalidArgument);
  EXPECT_EQ(kind({.memory = -1}), ErrorKind::InvalidArgument);
  EXPECT_EQ(kind({.abandon_after = std::chrono::milliseconds(-1)}), ErrorKind::InvalidArgument);
  EXPECT_FALSE(refused([] { (void)Loader(range(5), {.abandon_after = std::chrono::milliseconds(0)}); })) << "at once";
  EXPECT_EQ(kind({.threads = 1, .io_threads = 0}), ErrorKind::InvalidArgument);
  EXPECT_EQ(kind({.memory = 15}), ErrorKind::ResourceExhausted) << "a batch has 16 bytes";
  EXPECT_FALSE(refused([] { (void)Loader(range(5), {.threads = 0, .io_threads = 0}); }));
  EXPECT_EQ(kind({.threads = 4097}), ErrorKind::InvalidArgument);
  EXPECT_EQ(kind({.io_threads = 4097}), ErrorKind::InvalidArgument);
}

TEST(LoaderRanks, ALoaderRefusesARankWithoutData) {
  const auto kind = [](const Dataset& dataset) {
    const Error error = refused([&] { (void)Loader(dataset, {.threads = 0}); });
    return error ? error.kind() : ErrorKind::Unknown;
  };
  for (const int64_t rank : {0, 3}) {
    EXPECT_EQ(kind(range(3) | batch(8) | distribute(4, rank, UnevenBatch::drop)), ErrorKind::FailedPrecondition);
    EXPECT_EQ(loaded(range(3) | batch(8) | distribute(4, rank, UnevenBatch::pad), {.threads = 0}).size(), 1U);
    EXPECT_EQ(loaded(range(4) | shard(4, rank) | batch(2), {.threads = 0}).size(), 1U) << "control";
  }
  EXPECT_EQ(kind(range(3) | shard(4, 3) | batch(2)), ErrorKind::FailedPrecondition);
  EXPECT_EQ(loaded(range(3) | shard(4, 0) | batch(2), {.threads = 0}).size(), 1U);
}

TEST(LoaderPlan, ALoaderRefusesPartsThatComeAgainTooOften) {
  for (const Dataset& source : {range(3), range(3) | unique()}) {
    Dataset high = source, low = source;
    const auto first_of = [](int64_t first, int64_t) { return first; };
    for (int i = 0; i < 40; ++i) high = zip({high, high}) | map(first_of);
    for (int i = 0; i < 6; ++i) low = zip({low, low}) | map(first_of);
    EXPECT_EQ(refused([&] { (void)Loader(high); }).kind(), ErrorKind::InvalidArgument);
    EXPECT_EQ(loaded(low, {.threads = 1}).size(), 3U) << "control";
  }
}

TEST(LoaderThreads, ALoaderThatIsMovedGoesOn) {
  Loader first(slow(20, std::chrono::microseconds(50)) | batch(2), {.threads = 2});
  EXPECT_EQ(rest(first, 3).size(), 3U);
  Loader second(std::move(first));
  EXPECT_THAT(rest(second, 1), ElementsAre("0/3 [6 7]"));
}

TEST(LoaderThreads, ALoaderMayBeAssigned) {
  Loader loader(range(20) | batch(2), {.threads = 2});
  EXPECT_EQ(rest(loader, 3).size(), 3U);
  loader = Loader(range(4) | batch(4));
  EXPECT_THAT(rest(loader), ElementsAre("0/0 [0 1 2 3]"));
}

TEST(LoaderThreads, OneThatWasMovedFromThrowsUntilItIsAssigned) {
  Loader first(range(4) | batch(2));
  Loader second(std::move(first));
  const auto kind = [](auto call) { return refused(call).kind(); };
  EXPECT_EQ(kind([&] { (void)first.next(); }), ErrorKind::FailedPrecondition);
  EXPECT_EQ(kind([&] { (void)first.next_in_epoch(); }), ErrorKind::FailedPrecondition);
  EXPECT_EQ(kind([&] { first.next_epoch(); }), ErrorKind::FailedPrecondition);
  EXPECT_EQ(kind([&] { (void)first.state(); }), ErrorKind::FailedPrecondition);
  EXPECT_EQ(kind([&] { (void)first.stats(); }), ErrorKind::FailedPrecondition);
  EXPECT_EQ(kind([&] { (void)first.begin(); }), ErrorKind::FailedPrecondition);
  EXPECT_EQ(kind([&] { (void)first.epochs(); }), ErrorKind::FailedPrecondition);
  first = std::move(second);
  EXPECT_EQ(rest(first).size(), 2U) << "control";
}

TEST(LoaderThreads, ASecondThreadInNextIsRefused) {
  const auto gate = std::make_shared<Gate>();
  Loader loader(range(8) | map([gate](int64_t x) {
                  gate->pass();
                  return x;
                }),
                {.threads = 2});
  std::vector<std::thread> threads;
  std::atomic<int> refusals = 0, values = 0;
  threads.reserve(4);
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      const auto next = loader.next();
      if (next) {
        ++values;
      } else if (next.error().kind() == ErrorKind::FailedPrecondition) {
        ++refusals;
      }
    });
  }
  EXPECT_TRUE(becomes_true([&] { return refusals == 3; })) << "while the first one waits";
  gate->open = true;
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(values, 1);
  EXPECT_EQ(rest(loader).size(), 7U) << "nothing was lost";
}

TEST(LoaderThreads, AreWhereTheSystemPutsThemIfTheyAreNotPinned) {
  const std::vector<int> all = allowed_cpus();
  for (const bool pins : {true, false}) {
    const auto most = std::make_shared<std::atomic<size_t>>(0), least = std::make_shared<std::atomic<size_t>>(1000);
    const Dataset dataset = range(50) | map([=](int64_t x) {
                              const size_t cpus = allowed_cpus().size();
                              if (cpus > *most) *most = cpus;
                              if (cpus < *least) *least = cpus;
                              return x;
                            });
    Loader loader(dataset, {.threads = static_cast<int>(all.size()), .consumer_helps = false, .pin_threads = pins});
    EXPECT_EQ(rest(loader).size(), 50U);
    EXPECT_EQ(*most, pins ? 1U : all.size());
    EXPECT_EQ(*least, pins ? 1U : all.size());
  }
}

TEST(LoaderThreads, StatsMayBeAskedForAnyTime) {
  Loader loader(slow(200, std::chrono::microseconds(20)) | batch(4), {.threads = 2});
  std::atomic<bool> stop = false;
  std::thread asking([&] {
    while (!stop) {
      const LoaderStats stats = loader.stats();
      EXPECT_LE(stats.batches, 50);
      EXPECT_LE(stats.threads, 2);
    }
  });
  EXPECT_EQ(rest(loader).size(), 50U);
  stop = true;
  asking.join();
  EXPECT_EQ(loader.stats().batches, 50);
}

TEST(LoaderRunAhead, NoneMeansThatNothingIsMadeBeforeItIsAskedFor) {
  const auto made = std::make_shared<std::atomic<int>>(0);
  const Dataset dataset = range(100) | map([made](int64_t x) {
                            ++*made;
                            return x;
                          }) |
                          batch(4);
  Loader loader(dataset, {.threads = 2, .run_ahead = 0});
  EXPECT_EQ(*made, 0);
  for (int batches = 1; batches <= 5; ++batches) {
    ASSERT_TRUE(loader.next());
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
    EXPECT_LE(*made, 4 * batches + 3) << "a sample of what it costs may be one more";
  }
}

TEST(LoaderBatch, GivesItsElementAway) {
  Loader loader(range(4) | batch(2));
  std::vector<Element> kept;
  for (auto& batch : loader) kept.push_back(std::move(batch).element());
  ASSERT_EQ(kept.size(), 2U);
  EXPECT_EQ(text_of(kept[1]), "[2 3]");
}

TEST(LoaderBatch, NamesItsFields) {
  Loader loader(range(3) | map([](int64_t x) { return x; }, {.output = {{"number", DType::i64, {}}}}) | batch(2));
  const auto one = loader.next();
  ASSERT_TRUE(one);
  EXPECT_EQ(one->size(), 1U);
  EXPECT_EQ(text_of((*one)["number"]), "[0 1]");
  EXPECT_EQ(refused([&] { (void)(*one)["digit"]; }).kind(), ErrorKind::InvalidArgument);
}

// How many elements were made, `least` or more, when the program had taken `taken`, and nothing more happens.
int64_t made_when_still(const LoaderOptions& options, int taken, bool blocking, int64_t least = 0) {
  const auto made = std::make_shared<std::atomic<int64_t>>(0);
  const auto counted = [made](int64_t x) {
    ++*made;
    return x;
  };
  Loader loader(range(100'000) | map(counted, {.blocking = blocking}), options);
  for (int i = 0; i < taken; ++i) EXPECT_TRUE(loader.next());
  EXPECT_TRUE(becomes_true([&] { return *made >= least; }));
  for (int64_t before = -1; before != *made;) {
    before = *made;
    std::this_thread::sleep_for(std::chrono::milliseconds(30));
  }
  return *made;
}

TEST(LoaderOptions, RunAheadCountsElementsThatNobodyAskedFor) {
  for (const bool blocking : {false, true}) {
    EXPECT_EQ(made_when_still({.threads = 2, .run_ahead = 0}, 5, blocking), 5);
    EXPECT_LE(made_when_still({.threads = 2, .run_ahead = 40}, 5, blocking), 5 + 40 + 20) << "and what is being given";
    (void)made_when_still({.threads = 2, .consumer_helps = false}, 5, blocking, 6);  // Control: without a ceiling.
  }
}

TEST(LoaderOptions, ACacheLeavesMemoryForWhatIsMadeAhead) {
  constexpr int64_t kRow = 4096, kMemory = 100 * kRow;
  const auto made = std::make_shared<std::atomic<int64_t>>(0);
  const auto large = [made](int64_t x) {
    ++*made;
    const std::vector<int64_t> row(kRow / 8, x);
    return Tensor::from(std::span<const int64_t>(row), {kRow / 8});
  };
  const Dataset dataset = range(200) | map(large, {.output = {{"", DType::i64, {kRow / 8}}}}) | cache();
  Loader loader(dataset, {.epochs = 3, .threads = 2, .memory = kMemory});
  const std::vector<std::string> all = rest(loader);
  EXPECT_EQ(all, sequential(dataset, {.epochs = 3}));
  EXPECT_LE(loader.stats().memory_peak, kMemory + 4 * kRow);
  EXPECT_GT(*made, 200 + 150) << "not all of it can be kept";
  EXPECT_LT(*made, 200 + 600) << "some of it is";
}

// Each of them is too small to be looked at by itself.
TEST(LoaderOptions, SmallBatchesThatTheProgramHoldsCountTogether) {
  constexpr int64_t kRow = 65'536, kMemory = 200 * kRow;
  const auto large = [](int64_t x) {
    const std::vector<int64_t> row(kRow / 8, x);
    return Tensor::from(std::span<const int64_t>(row), {kRow / 8});
  };
  const LogSink before = set_log_sink([](LogLevel, std::string_view) {});
  Loader loader(range(300) | map(large, {.output = {{"", DType::i64, {kRow / 8}}}}),
                {.threads = 2, .memory = kMemory, .consumer_helps = false});
  const auto target = [&] { return loader.stats().stages.at(0).target; };
  std::vector<Batch> held;
  for (int i = 0; i < 60; ++i) held.push_back(loader.next().value());
  EXPECT_GT(target(), 1) << "control: less than a third is held";
  for (int i = 0; i < 60; ++i) held.push_back(loader.next().value());
  EXPECT_EQ(target(), 1);
  held.clear();
  for (int i = 0; i < 20; ++i) EXPECT_TRUE(loader.next());
  EXPECT_GT(target(), 1);
  set_log_sink(before);
}

TEST(LoaderOptions, OneBatchIsMadeAheadWhileTheProgramHoldsHalfOfTheMemory) {
  constexpr int64_t kRow = 65'536, kMemory = 60 * kRow;
  std::mutex mu;
  std::vector<std::string> said;
  const LogSink before = set_log_sink([&](LogLevel, std::string_view line) {
    const std::lock_guard lock(mu);
    if (line.find("the program holds about") != std::string_view::npos) said.emplace_back(line);
  });
  const auto large = [](int64_t x) {
    pause_ms(1);
    const std::vector<int64_t> row(kRow / 8, x);
    return Tensor::from(std::span<const int64_t>(row), {kRow / 8});
  };
  Loader loader(range(300) | map(large, {.output = {{"", DType::i64, {kRow / 8}}}}),
                {.threads = 2, .memory = kMemory, .run_ahead = 8, .consumer_helps = false});
  const auto ahead = [&] { return loader.stats().stages.at(0).ready; };
  std::vector<Batch> held;
  const auto hold = [&](size_t count) {
    while (held.size() < count) held.push_back(loader.next().value());
  };
  hold(10);
  EXPECT_TRUE(becomes_true([&] { return ahead() > 1; })) << "control: a quarter is held";
  EXPECT_THAT(said, IsEmpty());
  hold(40);
  EXPECT_EQ(loader.stats().stages.at(0).target, 1);
  EXPECT_TRUE(becomes_true([&] { return ahead() == 1; }));
  pause_ms(20);
  EXPECT_EQ(ahead(), 1);
  hold(80);  // More than all of the memory.
  EXPECT_EQ(held.back()[0].as<int64_t>().front(), 79) << "it never stops";
  EXPECT_GT(loader.stats().stages.at(0).totals.refused_ns, 10'000'000) << "what a verdict says memory costs";
  held.clear();
  hold(1);
  EXPECT_TRUE(becomes_true([&] { return ahead() > 1; }));
  set_log_sink(before);
  ASSERT_EQ(said.size(), 1U);
  EXPECT_THAT(said[0], AllOf(HasSubstr("holds about 3"), HasSubstr("let go of batches, or raise memory")));
}

TEST(LoaderOptions, MemoryHoldsWhenElementsBecomeLarger) {
  constexpr int64_t kSmall = 1024, kLarge = 65'536, kMemory = 10 * kLarge;
  const auto grows = [](int64_t x) {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    const std::vector<int64_t> row(static_cast<size_t>((x < 200 ? kSmall : kLarge) / 8), x);
    return Tensor::from(std::span<const int64_t>(row), {static_cast<int64_t>(row.size())});
  };
  const Dataset dataset =
      range(400) | map(grows, {.output = {{"", DType::i64, {kUnknown}}}, .blocking = true}) | repeat(1);
  Loader loader(dataset, {.threads = 2, .io_threads = 8, .memory = kMemory});
  for (int i = 0; i < 400; ++i) {
    ASSERT_TRUE(loader.next());
    if (i == 190) std::this_thread::sleep_for(std::chrono::milliseconds(300));
  }
  EXPECT_LE(loader.stats().memory_peak, kMemory + 8 * 5 * kLarge / 4) << "one more for each thread at most";
}

// Blocks of memory that know whether an address is theirs.
class OwnBlocks {
 public:
  std::shared_ptr<BufferPool> pool() {
    return std::make_shared<BufferPool>(BlockHooks{.allocate = [this](size_t size) -> void* {
                                                     const std::lock_guard lock(mu_);
                                                     auto block = std::make_unique<Line[]>(size / sizeof(Line) + 1);
                                                     most_ = std::max(most_, bytes_ += size);
                                                     void* const begin = block.get();
                                                     blocks_[begin] = std::move(block);
                                                     return begin;
                                                   },
                                                   .release =
                                                       [this](void* block, size_t size) {
                                                         const std::lock_guard lock(mu_);
                                                         bytes_ -= size;
                                                         blocks_.erase(block);
                                                       }});
  }
  bool has(const void* address, size_t header) const {
    const std::lock_guard lock(mu_);
    return blocks_.contains(static_cast<const std::byte*>(address) - header);
  }
  size_t bytes() const { return bytes_; }
  size_t most() const { return most_; }

 private:
  struct alignas(64) Line {
    std::byte bytes[64];
  };
  mutable std::mutex mu_;
  std::map<const void*, std::unique_ptr<Line[]>> blocks_;
  size_t bytes_ = 0, most_ = 0;
};

TEST(LoaderOptions, BatchesAreMadeInThePoolThatIsGiven) {
  constexpr size_t kHeader = 64;
  constexpr int64_t kMemory = 200'000;
  const Dataset dataset = range(60'000) | map([](int64_t x) { return x + 1; }) | batch(100);
  OwnBlocks blocks;
  for (const bool shares : {false, true}) {
    const auto pool = blocks.pool();
    LoaderOptions options{.threads = 2, .memory = kMemory, .pool = pool};
    if (shares) options = {.resources = std::make_shared<Resources>(ResourcesOptions{.memory = kMemory, .pool = pool})};
    Loader loader(dataset, options), own(dataset, {.threads = 2});
    while (auto batch = loader.next()) {
      EXPECT_TRUE(blocks.has((*batch)[0].data(), kHeader));
      const auto other = own.next();
      EXPECT_FALSE(blocks.has((*other)[0].data(), kHeader)) << "control";
      EXPECT_TRUE(std::ranges::equal((*batch)[0].as<int64_t>(), (*other)[0].as<int64_t>()));
      EXPECT_GE(loader.stats().memory_in_use, 800);
    }
    EXPECT_GT(pool->stats().reuses, 300) << "no more than 250 of 600 batches lie in the memory at once";
  }
  EXPECT_EQ(blocks.bytes(), 0U);
  EXPECT_LE(blocks.most(), static_cast<size_t>(kMemory)) << "the pool was told";
  const Error error =
      refused([&] { (void)Loader(dataset, {.resources = std::make_shared<Resources>(), .pool = blocks.pool()}); });
  EXPECT_EQ(error.kind(), ErrorKind::InvalidArgument);
}

}  // namespace
}  // namespace headpond::internal
