// SPDX-License-Identifier: Apache-2.0
// on_error under a Loader: what is skipped, substituted, written down and counted is what a Sequence does, whatever the
// threads.
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>

#include "headpond/dataset/quarantine/quarantine.h"
#include "headpond/engine/testing/loader_test_internal.h"
#include "headpond/io/file/file.h"
#include "headpond/io/file/system_test_internal.h"
#include "tests/test_files.h"

namespace headpond::internal {
namespace {

using testing::HasSubstr;
using testing::SizeIs;

constexpr std::array kThreads = {0, 1, 2, 4, 8, 16};

// Every seventh number fails, and takes longer or shorter than others.
int64_t doubtful(int64_t x) {
  if (x % 5 == 0) std::this_thread::yield();
  if (x % 11 == 3) pause_ms(1);
  if (x % 7 == 3) throw Exception(Error(ErrorKind::DataLoss, fmt::format("no {}", x)));
  return x;
}
Step doubting() { return map(doubtful, {.name = "doubtful"}); }
Step skipping(OnErrorOptions options = {.max_error_share = 1}) { return on_error(std::move(options)); }
Step substituting() {
  return on_error({.policy = OnErrorPolicy::substitute,
                   .substitute = Element{Tensor::scalar(int64_t{-1})},
                   .max_error_share = 0.3,
                   .window = 50});
}
Step tens() {
  return map([](int64_t x) { return x * 10; }, {.name = "tens"});
}

std::vector<Dataset> pipelines() {
  const Dataset numbers = range(200);
  return {
      numbers | doubting() | skipping(),
      numbers | shuffle() | doubting() | skipping() | tens() | batch(8),
      numbers | shuffle() | doubting() | substituting() | batch(8),
      numbers | as_stream() | doubting() | skipping() | shuffle(9) | batch(5),
      numbers | doubting() | batch(4) | skipping(),
      numbers | doubting() | skipping() | repeat(2) | tens() | substituting(),
      numbers | doubting() | skipping({.max_errors = 12, .max_error_share = 1}) | tens() | batch(3),
      numbers | doubting() | skipping({.max_error_share = 0.1, .window = 30}) | batch(3),
      zip({numbers | doubting() | substituting(), numbers | tens()}),
      numbers | map([](int64_t x) { return x < 90 ? x : 7 * x + 3; }, {.name = "late"}) | doubting() | skipping(),
  };
}

std::string text_of_file(const std::string& path) {
  const auto bytes = test::get_file(path);
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}
std::string counts_of(const std::vector<FailedCounts>& all) {
  std::string text;
  for (const FailedCounts& one : all)
    text += fmt::format("{} failed {} skipped {} substituted {}\n", one.op, one.failed, one.skipped, one.substituted);
  return text;
}

std::vector<QuarantineEntry> entries_of(const std::string& path) { return read_quarantine(path).value().entries; }

struct Told {
  std::vector<std::string> elements;
  std::string quarantine, counts;
  bool operator==(const Told&) const = default;
};
constexpr size_t kMostCalls = 800;

Told told_by_sequence(const Dataset& dataset) {
  const test::TempFolder folder;
  Told told;
  Sequence sequence(dataset, {.seed = 3, .epochs = 2, .quarantine = folder.file("bad")});
  while (told.elements.size() < kMostCalls) {
    const auto next = sequence.next();
    if (at_end(next)) break;
    told.elements.push_back(next ? fmt::format("{}/{} {}", sequence.epoch(), sequence.index(), text_of(*next))
                                 : "!" + next.error().message());
  }
  told.quarantine = text_of_file(folder.file("bad"));
  told.counts = counts_of(sequence.failed());
  return told;
}

TEST(BadSamples, AreTheSameForAnyNumberOfThreads) {
  for (const Dataset& dataset : pipelines()) {
    const Told expected = told_by_sequence(dataset);
    EXPECT_NE(expected.quarantine, "") << dataset.plan();
    for (const int threads : kThreads) {
      const test::TempFolder folder;
      Loader loader(dataset, {.epochs = 2, .seed = 3, .threads = threads, .quarantine = folder.file("bad")});
      Told told{.elements = rest(loader, kMostCalls), .quarantine = "", .counts = ""};
      told.quarantine = text_of_file(folder.file("bad"));
      told.counts = counts_of(loader.stats().failed);
      EXPECT_EQ(told.elements, expected.elements) << threads << " threads\n" << dataset.plan();
      EXPECT_EQ(told.quarantine, expected.quarantine) << threads << " threads\n" << dataset.plan();
      EXPECT_EQ(told.counts, expected.counts) << threads << " threads\n" << dataset.plan();
    }
  }
}

// The control: a limit that counts failures when they happen decides by time, and this test must see that.
TEST(BadSamples, ControlALimitCountedWhereElementsAreMadeDependsOnThreads) {
  const auto course = [](int threads) {
    const int64_t most_ms = threads == 1 ? 300 : 30'000;  // No other thread is there, or it will get a processor.
    auto failures = std::make_shared<std::atomic<int>>(0);
    const auto counting = [failures, most_ms](int64_t x) -> Result<int64_t> {
      if (x % 7 != 3) return x;
      // Here another thread overtakes: the first failures wait until later ones were counted.
      if (x == 3) becomes_true([&] { return *failures >= 3; }, most_ms);
      return ++*failures > 3 ? fail(ErrorKind::FailedPrecondition, "3 elements failed")
                             : fail(ErrorKind::DataLoss, "bad");
    };
    return loaded(range(60) | map(counting, {.name = "counting"}) | skipping(), {.threads = threads});
  };
  EXPECT_NE(course(1), course(8)) << "the broken variant was not found out";
}

TEST(BadSamples, AreNotWrittenDownBeforeTheyAreDelivered) {
  for (const int threads : kThreads) {
    const test::TempFolder folder;
    Loader loader(range(200) | doubting() | skipping(), {.threads = threads, .quarantine = folder.file("bad")});
    for (int64_t i = 0; i < 200; ++i) {
      if (i % 7 == 3) continue;
      const auto next = loader.next();
      ASSERT_TRUE(next);
      ASSERT_EQ((*next)[size_t{0}].item<int64_t>(), i);
      const auto entries = read_quarantine(folder.file("bad")).value().entries;
      ASSERT_EQ(entries.size(), static_cast<size_t>((i + 3) / 7)) << "at " << i;
    }
    EXPECT_TRUE(at_end(loader.next()));
  }
}

TEST(BadSamples, AreWholeAfterAResumeOnOtherThreads) {
  for (const Dataset& dataset : pipelines()) {
    const Told expected = told_by_sequence(dataset);
    for (size_t cut = 0; cut < 200; cut += test::quick_or(46, 23)) {
      const test::TempFolder folder;
      const auto options = [&](size_t run) {
        return LoaderOptions{
            .epochs = 2, .seed = 3, .threads = kThreads[run % kThreads.size()], .quarantine = folder.file("bad")};
      };
      std::string state;
      size_t given = 0;
      {
        Loader first(dataset, options(cut));
        given = rest(first, cut).size();
        state = first.state();
        (void)rest(first, cut % 5);  // After these the process is killed, without another state.
      }
      auto second = Loader::restored(dataset, options(cut + 1), state);
      ASSERT_TRUE(second) << second.error();
      const auto more = rest(*second, kMostCalls);
      // Errors after the state come again.
      size_t again = given;
      while (again > 0 && expected.elements[again - 1].starts_with("!")) --again;
      ASSERT_TRUE(std::equal(
          more.begin(),
          more.begin() + static_cast<std::ptrdiff_t>(std::min(more.size(), expected.elements.size() - again)),
          expected.elements.begin() + static_cast<std::ptrdiff_t>(again)))
          << cut << "\n"
          << dataset.plan();
      ASSERT_EQ(text_of_file(folder.file("bad")), expected.quarantine) << cut << "\n" << dataset.plan();
    }
  }
}

TEST(BadSamples, AreEachWrittenOnceInAnyOrderOfDelivery) {
  const Dataset dataset = range(200) | doubting() | skipping() | tens();
  const auto lines = [](const std::string& path) {
    std::vector<std::string> all;
    for (const QuarantineEntry& entry : entries_of(path)) all.push_back(to_line(entry));
    std::sort(all.begin(), all.end());
    return all;
  };
  const test::TempFolder folder;
  Sequence sequence(dataset, {.quarantine = folder.file("expected")});
  while (sequence.next()) continue;
  for (int cut : {0, 30, 100}) {
    const LoaderOptions options{
        .threads = 4, .deterministic = false, .quarantine = folder.file(fmt::format("{}", cut))};
    std::string state;
    int64_t skipped = 0;
    {
      Loader first(dataset, options);
      (void)rest(first, static_cast<size_t>(cut));
      state = first.state();
      for (const FailedCounts& one : first.stats().failed) skipped += one.skipped;
    }
    auto second = Loader::restored(dataset, options, state);
    ASSERT_TRUE(second) << second.error();
    EXPECT_THAT(rest(*second, kMostCalls), SizeIs(171 - cut));
    for (const FailedCounts& one : second->stats().failed) skipped += one.skipped;
    EXPECT_EQ(skipped, 29);
    EXPECT_EQ(lines(folder.file(fmt::format("{}", cut))), lines(folder.file("expected")));
  }
}

TEST(BadSamples, GoToTheDiskBeforeAStateThatIsNotThereAtOnce) {
  const test::TempFolder folder;
  Loader loader(range(40) | doubting() | skipping(), {.threads = 2, .quarantine = folder.file("bad")});
  EXPECT_FALSE(loader.state_at_once()) << "the plan's text is not made yet";
  const std::string before = loader.state();
  EXPECT_EQ(loader.state_at_once(), before);
  int late = 0;
  while (loader.next()) {
    const std::optional<std::string> at_once = loader.state_at_once();
    late += at_once ? 0 : 1;
    const std::string state = loader.state();
    if (at_once) {
      EXPECT_EQ(*at_once, state);
    }
    EXPECT_EQ(loader.state_at_once(), state) << "nothing is left to be written";
  }
  EXPECT_GT(late, 0);
  EXPECT_LT(late, 10);
  Loader without(range(40) | doubting() | skipping(), {.threads = 2});
  (void)without.state();
  while (without.next()) EXPECT_TRUE(without.state_at_once()) << "control: failures go to no disk";
}

TEST(BadSamples, KeepTheBatchWhileTheFileCannotBeWritten) {
  const test::TempFolder folder;
  Loader loader(range(20) | doubting() | skipping(), {.threads = 2, .quarantine = folder.file("bad")});
  EXPECT_THAT(rest(loader, 3), SizeIs(3));
  const std::string state = loader.state();
  {
    const FaultInjection full([](std::string_view call) { return Fault{.error = call == "write" ? ENOSPC : 0}; });
    for (int i = 0; i < 2; ++i) EXPECT_EQ(loader.next().error().kind(), ErrorKind::ResourceExhausted);
    EXPECT_EQ(loader.state(), state);
  }
  EXPECT_THAT(rest(loader),
              testing::ElementsAre("0/3 4", "0/4 5", "0/5 6", "0/6 7", "0/7 8", "0/8 9", "0/9 11", "0/10 12", "0/11 13",
                                   "0/12 14", "0/13 15", "0/14 16", "0/15 18", "0/16 19"));
  EXPECT_THAT(read_quarantine(folder.file("bad")).value().entries, SizeIs(3));
  EXPECT_EQ(loader.stats().failed.at(0).skipped, 3);
}

TEST(BadSamples, AFileThatCannotBeWrittenWhileNothingIsReadyLeavesNothingBehind) {
  const test::TempFolder folder;
  std::atomic<bool> let_go = false;
  const auto held = [&](int64_t x) -> Result<int64_t> {
    if (x == 0) return fail(ErrorKind::DataLoss, "no 0");
    while (x == 1 && !let_go) std::this_thread::yield();
    return x;
  };
  Loader loader(range(3) | map(held, {.name = "held"}) | skipping(), {.threads = 2, .quarantine = folder.file("bad")});
  {
    const FaultInjection full([](std::string_view call) { return Fault{.error = call == "write" ? ENOSPC : 0}; });
    EXPECT_TRUE(becomes_true([&] { return loader.try_next().error().kind() == ErrorKind::ResourceExhausted; }));
  }
  let_go = true;
  EXPECT_THAT(rest(loader), testing::ElementsAre("0/0 1", "0/1 2"))
      << "next() waits, and does not say that nothing is ready";
  EXPECT_THAT(read_quarantine(folder.file("bad")).value().entries, SizeIs(1));
}

#if defined(__SANITIZE_THREAD__)
constexpr int kThreadsAfterFork = 0;  // It ends a process that starts a thread after fork().
#else
constexpr int kThreadsAfterFork = 2;
#endif

// A process that is killed at any moment leaves a file from which the next one goes on.
TEST(BadSamples, AreWholeAfterKills) {
  const Dataset dataset = range(200) | shuffle() | doubting() | skipping() | batch(4);
  const Told expected = told_by_sequence(dataset);
  const test::TempFolder folder;
  const std::string state_file = folder.file("state"), quarantine = folder.file("bad");
  const auto run = [&](int calls) {
    const LoaderOptions options{.epochs = 2, .seed = 3, .threads = kThreadsAfterFork, .quarantine = quarantine};
    const auto saved = test::get_file(state_file);
    const std::string_view state(reinterpret_cast<const char*>(saved.data()), saved.size());
    auto loader = state.empty() ? Result<Loader>(Loader(dataset, options)) : Loader::restored(dataset, options, state);
    if (!loader) std::_Exit(3);
    for (int i = 0; i < calls; ++i) {
      if (!loader->next()) std::_Exit(0);
      const std::string now = loader->state();
      if (!write_file_atomically(state_file, {std::as_bytes(std::span(now))})) std::_Exit(4);
    }
    (void)loader->next();  // Delivered, and never saved.
    raise(SIGKILL);
  };
  test::put_file(state_file, {});
  int status = 0;
  for (int i = 0; i < 100; ++i) {
    const pid_t child = fork();
    if (child == 0) run(i % 7);
    ASSERT_EQ(waitpid(child, &status, 0), child);
    if (WIFEXITED(status)) break;
  }
  ASSERT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
  EXPECT_EQ(text_of_file(quarantine), expected.quarantine);
}

TEST(BadSamples, EndTheRunWithTheCommonCause) {
  const auto broken = [](int64_t x) -> Result<int64_t> {
    if (x < 25) return x;
    return fail(ErrorKind::DataLoss, fmt::format("checksum of record {} is wrong", x));
  };
  for (const int threads : kThreads) {
    Loader loader(range(1'000'000) | map(broken, {.name = "broken"}) | on_error() | batch(10), {.threads = threads});
    EXPECT_TRUE(loader.next());
    EXPECT_TRUE(loader.next());
    for (int i = 0; i < 3; ++i) {
      const auto ended = loader.next();
      ASSERT_FALSE(ended);
      EXPECT_THAT(ended.error().message(), HasSubstr("all with DataLoss: 'checksum of record # is wrong'"));
    }
  }
}

}  // namespace
}  // namespace headpond::internal
