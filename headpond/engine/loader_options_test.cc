// SPDX-License-Identifier: Apache-2.0
// What a Loader's options, epochs, errors and states promise, each by itself.
#include <fmt/format.h>

#include <atomic>
#include <set>
#include <thread>

#include "headpond/base/cpu.h"
#include "headpond/base/log.h"
#include "headpond/engine/testing/engine_test_internal.h"
#include "headpond/engine/testing/plan_run_test_internal.h"

namespace headpond::internal {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Ne;

// "epoch/index values" of each batch, "!text" of each error, up to the end or `most` of them.
std::vector<std::string> rest(Loader& loader, size_t most = 1000) {
  std::vector<std::string> all;
  while (all.size() < most) {
    const auto next = loader.next();
    if (at_end(next)) break;
    all.push_back(next ? fmt::format("{}/{} {}", next->epoch(), next->index(), text_of(next->element()))
                       : "!" + next.error().message());
  }
  return all;
}
std::vector<std::string> sequential(const Dataset& dataset, const SequenceOptions& options) {
  std::vector<std::string> all;
  Sequence sequence(dataset, options);
  while (true) {
    const auto next = sequence.next();
    if (at_end(next)) return all;
    all.push_back(next ? fmt::format("{}/{} {}", sequence.epoch(), sequence.index(), text_of(*next))
                       : "!" + next.error().message());
  }
}
// The state of a Sequence over one epoch after so many calls.
std::string state_after(const Dataset& dataset, const SequenceOptions& options, size_t calls) {
  Sequence sequence(dataset, options);
  for (size_t i = 0; i < calls; ++i) (void)sequence.next();
  return sequence.state();
}

template <class Make>
Error refused(Make make) {
  try {
    make();
  } catch (const Exception& e) {
    return e.error();
  }
  return {};
}

Dataset slow(int64_t count, std::chrono::microseconds time) {
  return range(count) | map([time](int64_t x) {
           std::this_thread::sleep_for(time);
           return x;
         });
}

// Which threads called a function.
struct Callers {
  std::mutex mu;
  std::set<std::thread::id> seen;
  Crowd crowd;
};
std::set<std::thread::id> threads_that_map(const LoaderOptions& options) {
  const auto callers = std::make_shared<Callers>();
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

TEST(LoaderEpochs, EachIsItsOwn) {
  const Dataset dataset = range(5) | shuffle() | batch(2);
  for (const int64_t epochs : {0, 1, 3}) {
    Loader loader(dataset, {.epochs = epochs, .seed = 4});
    EXPECT_EQ(rest(loader), sequential(dataset, {.seed = 4, .epochs = epochs}));
    EXPECT_EQ(rest(loader).size(), 0U) << "the end stays";
    EXPECT_EQ(loader.state(), state_after(dataset, {.seed = 4, .epochs = epochs}, 100));
  }
}

TEST(LoaderEpochs, BelowZeroTheyGoOnForEver) {
  Loader loader(range(3) | shuffle(), {.epochs = -1, .seed = 4});
  const std::vector<std::string> twenty = sequential(range(3) | shuffle(), {.seed = 4, .epochs = 20});
  EXPECT_EQ(rest(loader, twenty.size()), twenty);
}

TEST(LoaderEpochs, AnEpochWithoutAnEndHasNoneBehindIt) {
  const Dataset dataset = range(3) | repeat() | batch(2);
  EXPECT_EQ(refused([&] { (void)Loader(dataset, {.epochs = 2}); }).kind(), ErrorKind::InvalidArgument);
  Loader loader(dataset, {.threads = 2});
  EXPECT_EQ(rest(loader, 500).back(), "0/499 [2 0]");
}

TEST(LoaderEpochs, OneAfterTheOtherByNextInEpoch) {
  const Dataset dataset = range(5) | shuffle() | batch(2);
  Loader loader(dataset, {.epochs = 3, .seed = 1});
  for (int64_t epoch = 0; epoch < 3; ++epoch) {
    for (int64_t index = 0; index < 3; ++index) {
      const auto next = loader.next_in_epoch();
      ASSERT_TRUE(next);
      EXPECT_EQ(next->epoch(), epoch);
      EXPECT_EQ(next->index(), index);
    }
    ASSERT_TRUE(at_end(loader.next_in_epoch()));
    EXPECT_EQ(loader.state(), state_after(dataset, {.seed = 1, .epochs = epoch + 1}, 100));
  }
  for (int i = 0; i < 2; ++i) EXPECT_TRUE(at_end(loader.next_in_epoch()));
}

TEST(LoaderEpochs, AnEmptyOneIsAnEpochToo) {
  Loader loader(range(0) | batch(2), {.epochs = 2});
  for (int i = 0; i < 2; ++i) EXPECT_TRUE(at_end(loader.next_in_epoch()));
  EXPECT_EQ(rest(loader).size(), 0U);
  EXPECT_EQ(loader.state(), state_after(range(0) | batch(2), {.epochs = 2}, 1));
}

TEST(LoaderEpochs, TheRestOfOneCanBeLeftOut) {
  const Dataset dataset = range(6) | shuffle() | batch(2);
  Loader loader(dataset, {.epochs = 3, .seed = 9, .threads = 2});
  EXPECT_EQ(rest(loader, 1).size(), 1U);
  loader.next_epoch();
  EXPECT_EQ(loader.state(), state_after(dataset, {.seed = 9, .epochs = 1}, 100));
  std::vector<std::string> expected = sequential(dataset, {.seed = 9, .epochs = 3});
  expected.erase(expected.begin(), expected.begin() + 3);
  EXPECT_EQ(rest(loader, 3), std::vector(expected.begin(), expected.begin() + 3));
  loader.next_epoch();
  EXPECT_EQ(loader.state(), state_after(dataset, {.seed = 9, .epochs = 2}, 100)) << "all of it was taken already";
  loader.next_epoch();
  EXPECT_EQ(rest(loader).size(), 0U) << "the third epoch was left out whole, before its first batch";
}

TEST(LoaderEpochs, AreRangesOfBatches) {
  const Dataset dataset = range(5) | shuffle() | batch(2);
  const std::vector<std::string> expected = sequential(dataset, {.seed = 3, .epochs = 3});
  Loader loader(dataset, {.epochs = 3, .seed = 3});
  std::vector<std::string> all;
  int64_t epochs = 0;
  for (auto epoch : loader.epochs()) {
    EXPECT_EQ(epoch.index(), epochs++);
    for (const Batch& one : epoch) {
      all.push_back(fmt::format("{}/{} {}", one.epoch(), one.index(), text_of(one.element())));
    }
  }
  EXPECT_EQ(epochs, 3);
  EXPECT_EQ(all, expected);
  Loader whole(dataset, {.epochs = 3, .seed = 3});
  all.clear();
  for (const Batch& one : whole) {
    all.push_back(fmt::format("{}/{} {}", one.epoch(), one.index(), text_of(one.element())));
  }
  EXPECT_EQ(all, expected);
}

TEST(LoaderEpochs, OneIsEmptyAfterItsEnd) {
  Loader loader(range(5) | batch(2), {.epochs = 2});
  std::vector<int> batches;
  for (const auto epoch : loader.epochs()) {
    for (int pass = 0; pass < 2; ++pass) {
      batches.push_back(0);
      for (const Batch& batch : epoch) {
        EXPECT_EQ(batch.epoch(), epoch.index());
        ++batches.back();
      }
    }
  }
  EXPECT_THAT(batches, ElementsAre(3, 0, 3, 0));
}

TEST(LoaderEpochs, GoOnInTheMiddleOfOne) {
  const Dataset dataset = range(5) | batch(2);
  Loader loader(dataset, {.epochs = 2});
  EXPECT_EQ(rest(loader, 2).size(), 2U);
  auto restored = Loader::restored(dataset, {.epochs = 2}, loader.state());
  ASSERT_TRUE(restored);
  std::vector<std::string> all;
  for (auto epoch : restored->epochs()) {
    for (const Batch& one : epoch) all.push_back(fmt::format("{}/{}", epoch.index(), one.index()));
  }
  EXPECT_THAT(all, ElementsAre("0/2", "1/0", "1/1", "1/2"));
}

Dataset failing_at(const std::vector<int64_t>& bad, int64_t count) {
  return range(count) | map(
                            [bad](int64_t x) -> Result<int64_t> {
                              if (std::find(bad.begin(), bad.end(), x) == bad.end()) return x;
                              return fail(ErrorKind::DataLoss, fmt::format("{} is bad", x));
                            },
                            {.name = "failing"});
}

TEST(LoaderErrors, StandInTheirPlaceAndTheRestComes) {
  for (const int threads : {0, 1, 3}) {
    const LoaderOptions options{.epochs = 2, .threads = threads};
    Loader each(failing_at({0, 3, 9}, 10), options);
    EXPECT_EQ(rest(each), sequential(failing_at({0, 3, 9}, 10), {.epochs = 2}));
    Loader batches(failing_at({0, 3, 9}, 10) | batch(2), options);
    const std::vector<std::string> all = rest(batches);
    ASSERT_EQ(all.size(), 14U);
    EXPECT_THAT(all[0], HasSubstr("0 is bad"));
    EXPECT_EQ(all[1], "0/0 [1 2]");
    EXPECT_EQ(all, sequential(failing_at({0, 3, 9}, 10) | batch(2), {.epochs = 2}));
  }
}

TEST(LoaderErrors, AnIteratorThrowsThemAndNextGoesOn) {
  Loader loader(failing_at({1}, 4), {.threads = 1});
  std::vector<std::string> all;
  const Error error = refused([&] {
    for (const Batch& one : loader) all.push_back(text_of(one.element()));
  });
  EXPECT_THAT(all, ElementsAre("0"));
  ASSERT_TRUE(error);
  EXPECT_EQ(error.kind(), ErrorKind::DataLoss);
  EXPECT_THAT(rest(loader), ElementsAre("0/1 2", "0/2 3"));
}

TEST(LoaderErrors, OfALostSourceComeAgain) {
  const auto two = [](uint64_t) -> Generator {
    return [next = int64_t{0}]() mutable -> Result<std::optional<Element>> {
      if (next == 2) return fail(ErrorKind::DataLoss, "the wire is cut");
      return Element{Tensor::scalar(next++)};
    };
  };
  Loader loader(from_generator(two, {{"", DType::i64, {}}}), {.threads = 2});
  const std::vector<std::string> all = rest(loader, 6);
  for (size_t i = 2; i < all.size(); ++i) EXPECT_THAT(all[i], HasSubstr("the wire is cut"));
  EXPECT_EQ(all[1], "0/1 1");
}

TEST(LoaderState, OfAnotherPipelineOrSeedIsRefusedWithTheDifference) {
  Loader loader(range(9) | batch(2), {.seed = 1});
  (void)loader.next();
  const std::string state = loader.state();
  const auto other = Loader::restored(range(9) | batch(3), {.seed = 1}, state);
  ASSERT_FALSE(other);
  EXPECT_EQ(other.error().kind(), ErrorKind::FailedPrecondition);
  EXPECT_THAT(other.error().message(), AllOf(HasSubstr("batch_size=2"), HasSubstr("batch_size=3")));
  const auto seed = Loader::restored(range(9) | batch(2), {.seed = 2}, state);
  ASSERT_FALSE(seed);
  EXPECT_EQ(seed.error().kind(), ErrorKind::FailedPrecondition);
  EXPECT_THAT(seed.error().message(), HasSubstr("seed 1"));
}

TEST(LoaderState, FunctionsThatCannotBeComparedAreNamedOnce) {
  const auto said_by = [](const Dataset& dataset) {
    std::string said;
    set_log_sink([&](LogLevel, std::string_view line) { said += line; });
    for (int i = 0; i < 2; ++i) {
      EXPECT_TRUE(Loader::restored(dataset, {.threads = 0}, Loader(dataset, {.threads = 0}).state()));
    }
    set_log_sink({});
    return said;
  };
  const auto same = [](int64_t x) { return x; };
  EXPECT_EQ(said_by(range(77) | map(same) | batch(3)),
            "a restored state cannot tell whether a function without a name has changed: map(opaque); give it a name");
  EXPECT_EQ(said_by(range(77) | map(same) | batch(3)), "") << "once";
  EXPECT_EQ(said_by(range(77) | map(same, {.name = "same"}) | batch(3)), "") << "control";
}

TEST(LoaderState, ThatIsDamagedIsRefused) {
  const Dataset dataset = range(9) | filter([](int64_t x) { return x != 3; }) | batch(2);
  Loader loader(dataset);
  (void)loader.next();
  const std::string state = loader.state();
  for (size_t i = 0; i < state.size(); ++i) {
    std::string damaged = state;
    damaged[i] = static_cast<char>(damaged[i] ^ 0x41);
    const auto flipped = Loader::restored(dataset, {}, damaged),
               cut = Loader::restored(dataset, {}, state.substr(0, i));
    ASSERT_FALSE(flipped) << "byte " << i;
    EXPECT_EQ(flipped.error().kind(), ErrorKind::DataLoss);
    ASSERT_FALSE(cut) << "cut to " << i;
    EXPECT_EQ(cut.error().kind(), ErrorKind::DataLoss);
  }
  EXPECT_TRUE(Loader::restored(dataset, {}, state)) << "control: the whole state";
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

TEST(LoaderOptions, EpochsWithoutAnEndOverNothingAreAnError) {
  Loader loader(range(0) | batch(2), {.epochs = -1});
  for (int i = 0; i < 2; ++i) {
    const auto next = loader.next();
    ASSERT_FALSE(next);
    EXPECT_EQ(next.error().kind(), ErrorKind::FailedPrecondition);
  }
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

}  // namespace
}  // namespace headpond::internal
