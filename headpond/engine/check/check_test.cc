// SPDX-License-Identifier: Apache-2.0
#include "headpond/engine/check/check.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <memory>
#include <thread>

#include "headpond/base/interrupt/interrupt.h"
#include "headpond/dataset/ops.h"
#include "headpond/engine/loader.h"
#include "headpond/engine/testing/engine_test_internal.h"
#include "headpond/io/zlib_test_internal.h"
#include "headpond/tensor/memory_account.h"
#include "tests/test_files.h"

namespace headpond {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

Dataset images(int64_t count) {
  return range(count) |
         map([](int64_t x) { return Tensor::from(std::vector<uint8_t>(4096, static_cast<uint8_t>(x)), {4096}); },
             {.output = {{"image", u8, {4096}}}});
}

TEST(Check, SaysWhatElementsAre) {
  const CheckReport report = check(images(1000) | batch(10), {});
  EXPECT_EQ(report.spec, "{'image': uint8[?,4096]}");
  EXPECT_EQ(report.cardinality, 100);
  EXPECT_EQ(report.tried, 64);
  EXPECT_THAT(report.errors, IsEmpty());
  EXPECT_GT(report.element_ns, 0);
  EXPECT_GT(*report.first_batch_s, 0);
  EXPECT_THAT(report.to_string(), HasSubstr("64 elements were made on one thread"));
}

TEST(Check, WithoutElementsNothingIsMade) {
  int64_t calls = 0;
  const Dataset counted = range(10) | map([&calls](int64_t x) { return ++calls, x; });
  const CheckReport report = check(counted, {.elements = 0});
  EXPECT_EQ(calls, 0);
  EXPECT_EQ(report.tried, 0);
  EXPECT_EQ(report.first_batch_s, std::nullopt);
}

TEST(Check, WhatIsEmptyIsFound) {
  const auto empty = Contains(HasSubstr("the dataset is empty: a run delivers nothing"));
  const auto none = [](uint64_t) -> Generator {
    return []() -> Result<std::optional<Element>> { return std::nullopt; };
  };
  const Dataset stream = from_generator(none, {{"", i64, {}}}, {.name = "none"});
  EXPECT_THAT(check(range(0), {}).findings, empty);
  EXPECT_THAT(check(range(9) | take(0) | batch(2), {.elements = 0}).findings, empty);
  EXPECT_THAT(check(stream | batch(2), {}).findings, empty);
  EXPECT_THAT(check(stream, {.elements = 0}).findings, Not(empty)) << "nobody knows";
  EXPECT_THAT(check(range(9), {.elements = 0}).findings, IsEmpty());
  const CheckReport few = check(range(9) | batch(10, {.drop_remainder = true}), {});
  EXPECT_THAT(few.findings, Contains(HasSubstr("nothing; its 9 elements are too few for a batch")));
  EXPECT_EQ(few.first_batch_s, std::nullopt);
}

TEST(Check, OfWhatAFilterLeavesOutNothingIsPrepared) {
  const Dataset few = range(10'000) | filter([](int64_t x) { return x % 4 == 0; });
  const CheckReport report = check(few | batch(10), {});
  EXPECT_NEAR(static_cast<double>(report.left_out), 48, 10);
  EXPECT_EQ(report.prepared->bytes, 10'000 * 8 * (64 - report.left_out) / 64);
}

TEST(Check, ALabelSaysHowClassesMix) {
  const Dataset sorted = range(6400) | map([](int64_t x) { return x / 640; }, {.output = {{"label", i64, {}}}});
  const CheckReport bad = check(sorted | batch(32), {.label = "label"});
  ASSERT_TRUE(bad.label);
  const Dataset unnamed = range(6400) | map([](int64_t x) { return x / 640; }, {.output = {{"", i64, {}}}});
  EXPECT_EQ(check(unnamed | batch(32), {.label = "x"}).label->mix, bad.label->mix);
  EXPECT_EQ(bad.label->classes, 10);
  EXPECT_EQ(bad.label->batches, 128);
  EXPECT_GT(bad.label->mix.value(), 10);
  EXPECT_THAT(bad.findings, Contains(HasSubstr("too much of some classes of 'label'")));
  EXPECT_THAT(bad.to_string(), HasSubstr("classes of 'label': 10 in 128 batches, mix "));
  const CheckReport good = check(sorted | shuffle() | batch(32), {.label = "label"});
  EXPECT_LT(good.label->mix.value(), 1.5);
  EXPECT_THAT(good.findings, Not(Contains(HasSubstr("classes"))));
  EXPECT_EQ(check(sorted, {}).label, std::nullopt);
  EXPECT_THAT(check(sorted | batch(3000), {.label = "label"}).findings,
              Contains(HasSubstr("too much of some classes")));
  const CheckReport one = check(sorted | batch(6400), {.label = "label"});
  EXPECT_THAT(one.findings, Not(Contains(HasSubstr("classes"))));
  EXPECT_THAT(one.to_string(), HasSubstr("in 1 batches, too few to see how they mix"));
}

TEST(Check, ErrorsNameTheirElements) {
  const Dataset bad = range(640) | map([](int64_t x) -> Result<int64_t> {
                        if (x < 70) return fail(ErrorKind::DataLoss, "no good");
                        return x;
                      });
  const CheckReport report = check(bad | batch(8), {});
  EXPECT_EQ(report.failed, 7);
  ASSERT_EQ(report.errors.size(), 7U);
  EXPECT_THAT(report.errors.at(1), HasSubstr("no good"));
  EXPECT_THAT(report.findings, Contains(HasSubstr("7 of 64 elements failed")));
}

TEST(Check, OfManyErrorsTheFirstAreTold) {
  const Dataset bad = range(640) | map([](int64_t) -> Result<int64_t> { return fail(ErrorKind::DataLoss, "no good"); });
  const CheckReport report = check(bad, {});
  EXPECT_EQ(report.failed, 64);
  EXPECT_EQ(report.errors.size(), 8U);
}

TEST(Check, OfAStreamTheFirstElementsAreMade) {
  const auto make = [](uint64_t) -> Generator {
    return [next = int64_t{0}]() mutable -> Result<std::optional<Element>> {
      if (next == 5) return std::nullopt;
      return Element{Tensor::scalar(next++)};
    };
  };
  const CheckReport report = check(from_generator(make, {{"", i64, {}}}) | batch(2), {});
  EXPECT_EQ(report.tried, 5);
  EXPECT_EQ(report.cardinality, std::nullopt);
}

// How far ahead a run is depends on the machine, unless it is told.
TEST(Check, MemoryIsAboutWhatARunTakes) {
  const Dataset dataset = images(2000) | batch(50);
  const LoaderOptions options{.threads = 2, .run_ahead = 2};
  Loader loader(dataset, options);
  while (auto one = loader.next()) std::this_thread::sleep_for(std::chrono::milliseconds(3));
  const auto told = static_cast<double>(check(dataset, {.loader = options}).memory_bytes());
  const auto peak = static_cast<double>(loader.stats().memory_peak);
  EXPECT_GT(told, 0.75 * peak);
  EXPECT_LT(told, 1.5 * peak);
  EXPECT_GT(check(dataset, {.loader = {.threads = 2}}).memory_bytes(), told) << "more batches";
}

// Half a millisecond each, so that the time is known. `reads`: how many were made.
Dataset slow_stream(const std::shared_ptr<std::atomic<int64_t>>& reads = std::make_shared<std::atomic<int64_t>>()) {
  const auto make = [reads](uint64_t) -> Generator {
    return [reads, next = int64_t{0}]() mutable -> Result<std::optional<Element>> {
      ++*reads;
      std::this_thread::sleep_for(std::chrono::microseconds(500));
      return Element{Tensor::from(std::vector<uint8_t>(4096, static_cast<uint8_t>(next++)), {4096})};
    };
  };
  return from_generator(make, {{"", u8, {4096}}}, {.name = "slow"});
}

// By a thread that makes nothing ahead.
int64_t reads_for_a_batch() {
  const auto reads = std::make_shared<std::atomic<int64_t>>();
  Loader loader(slow_stream(reads) | shuffle({.window = 400}) | batch(25), {.threads = 0});
  EXPECT_TRUE(loader.next());
  return *reads;
}

TEST(Check, TheWindowOfAStreamIsForecast) {
  const Dataset dataset = slow_stream() | shuffle({.window = 400}) | batch(25);
  const CheckReport report = check(dataset, {.loader = {.threads = 2}});
  EXPECT_GT(*report.first_batch_s, 0.1) << "200 elements are read for the first 25";
  const auto reads = static_cast<double>(reads_for_a_batch());
  EXPECT_TRUE(internal::is_so_in_one_run([&] {  // It has the time to put them together, too.
    const CheckReport told = check(dataset, {.loader = {.threads = 2}});
    return std::abs(*told.first_batch_s / (1e-9 * told.element_ns) - reads) < 8;
  })) << "as many as the run's seed asks for";
  const auto holds = [](const MemoryPart& part) { return part.what == "shuffle(window=400) holds"; };
  const auto found = std::find_if(report.memory.begin(), report.memory.end(), holds);
  ASSERT_NE(found, report.memory.end());
  EXPECT_EQ(found->bytes, 400 * (internal::block_bytes(4096) + static_cast<int64_t>(sizeof(Element))));
  ASSERT_EQ(report.orders.size(), 1U);
  EXPECT_NEAR(report.orders[0].displacement, 200, 20);
  EXPECT_EQ(report.tried, 64);
  EXPECT_THAT(report.to_string(), HasSubstr("shuffle(window=400): moves an element by "));
}

TEST(Check, AWindowHoldsNoMoreThanThereIs) {
  const auto held = [](const Dataset& dataset) {
    int64_t bytes = 0;
    for (const MemoryPart& part : check(dataset | batch(5), {}).memory) {
      if (part.what.starts_with("shuffle")) bytes = part.bytes;
    }
    return bytes / (internal::block_bytes(4096) + static_cast<int64_t>(sizeof(Element)));
  };
  EXPECT_EQ(held(slow_stream() | take(30) | shuffle({.window = 10'000})), 30);
  EXPECT_EQ(held(slow_stream() | shuffle({.window = 10'000})), 10'000) << "control: nobody knows";
}

TEST(Check, FillIsUntilAllIsReadyThatIsMadeBesideTheFirstBatch) {
  const auto slow = [](int64_t x) {
    internal::busy_us(1000);
    return x;
  };
  const auto times = [&](int64_t count, const LoaderOptions& options) {
    const CheckReport report = check(range(count) | map(slow, {.name = "slow"}) | batch(10), {.loader = options});
    return *report.fill_s / *report.first_batch_s;
  };
  EXPECT_NEAR(times(1000, {.threads = 2}), 3 * 2, 1e-6) << "one for each thread, and one; a processor is the program's";
  EXPECT_NEAR(times(1000, {.threads = 4}), 5 * 4.0 / 3, 1e-6);
  EXPECT_NEAR(times(1000, {.threads = 1}), 2, 1e-6) << "there is no other";
  EXPECT_NEAR(times(1000, {.threads = 2, .run_ahead = 1}), 1 * 2, 1e-6);
  EXPECT_NEAR(times(20, {.threads = 2}), 1 * 2, 1e-6) << "there is one more";
}

TEST(Check, SaysWhichFilesAreMapped) {
  const test::TempFolder folder;
  const std::string text = "a line\nanother one\n", more(5000, 'x');
  const std::string first = folder.file("1.txt"), second = folder.file("2.txt"), packed = folder.file("3.gz");
  test::put_file(first, test::to_bytes(text));
  test::put_file(second, test::to_bytes(more));
  test::put_file(packed, test::gzip(test::to_bytes(text), 1));
  const auto mapped = [](const Dataset& dataset) { return check(dataset, {.elements = 0}).mapped_bytes; };
  const auto size = [](const std::string& one) { return static_cast<int64_t>(one.size()); };
  EXPECT_EQ(mapped(text_lines({first, second}) | shuffle() | batch(2)), size(text) + size(more));
  EXPECT_EQ(mapped(concatenate({text_lines(first), text_lines(first)})), size(text)) << "once";
  EXPECT_EQ(mapped(text_lines(packed)), 0) << "it is inflated";
  EXPECT_EQ(mapped(list_files({first, second})), 0) << "only their names";
  EXPECT_THAT(check(text_lines(first), {.elements = 0}).to_string(), HasSubstr("mapped files: 0.0 kB at most"));
  EXPECT_THAT(check(range(9), {}).to_string(), Not(HasSubstr("mapped files")));
}

constexpr int64_t kElement = sizeof(Element);

TEST(Check, MemoryHasWhatOperatorsKeep) {
  const CheckReport report = check(images(100) | cache() | batch(10), {});
  ASSERT_THAT(report.memory, Not(IsEmpty()));
  EXPECT_THAT(report.memory.back().what, HasSubstr("cache"));
  EXPECT_EQ(report.memory.back().bytes, 100 * (internal::block_bytes(4096) + kElement));
}

TEST(Check, MemoryHasBatchesOfNumbers) {
  const Dataset batches = range(950) | batch(100);
  const CheckReport report = check(batches, {.loader = {.threads = 2}});
  ASSERT_THAT(report.memory, Not(IsEmpty()));
  const int64_t bytes = internal::block_bytes(100 * 8);
  EXPECT_EQ(report.memory.front().bytes, 5 * bytes) << "two threads, two that are ready, and the program's";
  EXPECT_EQ(check(batches, {.loader = {.threads = 2, .run_ahead = 2}}).memory.front().bytes, 3 * bytes);
  const Dataset kept = range(950) | filter([](int64_t i) { return i >= 0; }) | batch(100);
  EXPECT_EQ(check(kept, {.loader = {.threads = 2}}).memory.front().bytes, 5 * bytes) << "as the elements say";
}

TEST(Check, MemoryHasASourceThatLiesThere) {
  const Dataset rows = from_tensor_slices({{"", Tensor::from(std::vector<uint8_t>(100 * 4096, 1), {100, 4096})}});
  const auto kept = [](const Dataset& dataset) {
    int64_t bytes = 0;
    const CheckReport report = check(dataset | batch(10), {});
    for (size_t i = 2; i < report.memory.size(); ++i) bytes += report.memory[i].bytes;
    return bytes;
  };
  EXPECT_EQ(kept(rows), 100 * 4096);
  EXPECT_EQ(kept(rows | shuffle() | cache()), 100 * (4096 + kElement)) << "its views have no values of their own";
  const auto copy = [](const Tensor& row) { return Tensor::from(row.as<uint8_t>(), row.shape()); };
  EXPECT_EQ(kept(rows | map(copy, {.output = {{"", u8, {4096}}}}) | cache()),
            100 * (4096 + internal::block_bytes(4096) + kElement))
      << "control";
  const Dataset numbers = from_tensor_slices({{"", Tensor::from(std::vector<int64_t>(100, 1), {100})}});
  EXPECT_EQ(kept(numbers | cache()), 100 * (2 * 8 + kElement)) << "small values are copied";
}

TEST(Check, SaysWhatCouldBePreparedOnce) {
  const CheckReport report = check(images(100) | shuffle() | batch(10), {});
  ASSERT_TRUE(report.prepared);
  EXPECT_EQ(report.prepared->bytes, 100 * 4096);
  EXPECT_THAT(report.prepared->op, testing::StartsWith("map"));
  EXPECT_EQ(check(range(100) | batch(10), {}).prepared, std::nullopt) << "a source alone is what it is";
  EXPECT_EQ(check(images(100) | concatenate(images(100)) | shuffle(), {}).prepared, std::nullopt)
      << "one of several sources is no answer";
}

TEST(Check, AMemoryThatIsTooSmallIsFound) {
  const auto found = [](int64_t memory) {
    return check(images(100) | batch(10), {.loader = {.memory = memory}}).findings;
  };
  const auto runs = [](int64_t memory) {
    try {
      return Loader(images(100) | batch(10), {.memory = memory}).next().has_value();
    } catch (const Exception&) {
      return false;
    }
  };
  const auto too_small = Contains(HasSubstr("has 40960 bytes, more than the memory of 40959: a run would be refused"));
  EXPECT_THAT(found(40'959), too_small);
  EXPECT_FALSE(runs(40'959));
  EXPECT_THAT(found(40'960), Not(Contains(HasSubstr("a run would be refused"))));
  EXPECT_TRUE(runs(40'960));
}

TEST(Check, EndsBetweenElementsWhenItIsInterrupted) {
  int64_t made = 0;
  const InterruptLook look([&made] { return made >= 3; });
  for (const Dataset& source : {range(100), range(100) | filter([](int64_t) { return true; })}) {
    made = 0;
    try {
      (void)check(source | map([&made](int64_t x) { return ++made, x; }, {.output = {{"", i64, {}}}}), {});
      ADD_FAILURE() << "it ended";
    } catch (const Exception& e) {
      EXPECT_EQ(e.error().kind(), ErrorKind::Cancelled);
    }
    EXPECT_LE(made, 3);
  }
  int64_t looked = 0;
  const InterruptLook later([&looked] { return ++looked > 70; });  // The classes of labels are looked at after 64.
  EXPECT_THROW((void)check(range(6400) | batch(32), {.label = "x"}), Exception);
  EXPECT_EQ(looked, 71);
}

TEST(Check, AWindowThatIsTooSmallIsFound) {
  const CheckReport report = check(range(10'000) | shuffle({.window = 20}) | batch(32), {});
  ASSERT_EQ(report.orders.size(), 1U);
  EXPECT_THAT(report.findings, ElementsAre(HasSubstr("neighbouring places")));
  const CheckReport whole = check(range(10'000) | shuffle() | batch(32), {});
  EXPECT_THAT(whole.findings, IsEmpty());
  EXPECT_NEAR(whole.orders.at(0).mix.value(), 1, 0.2);
}

TEST(Check, OfBatchesThatMoveTheMixIsThatOfTheirRows) {
  const CheckReport report = check(range(10'000) | batch(50) | shuffle(), {});
  ASSERT_EQ(report.orders.size(), 1U);
  EXPECT_EQ(report.orders[0].rows, 50);
  EXPECT_NEAR(report.orders[0].reach.value(), 1, 0.2);
  EXPECT_NEAR(report.orders[0].displacement, 200.0 / 3, 15) << "in batches";
  EXPECT_NEAR(report.orders[0].mix.value(), 50, 2) << "as if nothing had moved";
  EXPECT_THAT(report.to_string(), HasSubstr("moves a batch of 50 rows by "));
  const CheckReport bigger = check(range(10'000) | batch(10) | shuffle() | batch(5), {});
  EXPECT_NEAR(bigger.orders.at(0).mix.value(), 10, 1) << "five pieces in each batch";
  EXPECT_EQ(check(range(10'000) | shuffle() | batch(50) | shuffle(), {}).orders.at(0).mix, std::nullopt)
      << "the rows were mixed before";
  const CheckReport samples = check(range(10'000) | batch(50) | unbatch() | shuffle({.window = 100}) | batch(20), {});
  EXPECT_EQ(samples.orders.at(0).rows, 1) << "control: they are single again";
  EXPECT_THAT(samples.findings, Not(Contains(HasSubstr("put it before batch"))));
}

TEST(Check, TheOrderOfOperatorsIsFound) {
  EXPECT_THAT(check(range(100) | batch(4) | shuffle(), {}).findings, Contains(HasSubstr("put it before batch")));
  EXPECT_THAT(check(range(10'000) | batch(4) | shuffle({.window = 20}), {}).findings,
              ElementsAre(HasSubstr("put it before batch")))
      << "what it moves are batches already";
  EXPECT_THAT(check(range(100) | repeat(2) | shuffle() | batch(4), {}).findings,
              Contains(HasSubstr("put it before repeat")));
}

TEST(Check, PartsOfAnOrderThatChangesAreFound) {
  EXPECT_THAT(check(range(1000) | shuffle() | take(800) | batch(4), {}).findings,
              Contains(HasSubstr("take(count=800): it keeps other elements in each epoch")));
  EXPECT_THAT(check(range(1000) | take(800) | shuffle() | batch(4), {}).findings, IsEmpty());
}

// Gives the field as it is; two of them are one.
class PassKernel final : public Kernel {
 public:
  explicit PassKernel(bool joins) : Kernel({.title = "pass"}), joins_(joins) {}
  Result<void> run(KernelCall&) const override { return {}; }
  KernelRef with(const KernelRef& next) const override { return joins_ ? next : nullptr; }

 private:
  const bool joins_;
};

TEST(Check, MapsThatCouldBeOneAreFound) {
  const auto pass = [](bool joins) { return map("", std::make_shared<PassKernel>(joins)); };
  EXPECT_THAT(check(range(100) | pass(true) | pass(true), {}).findings,
              ElementsAre(HasSubstr("pass > pass: put these two maps into one map")));
  EXPECT_THAT(check(range(100) | pass(false) | pass(false), {}).findings, IsEmpty()) << "nothing would be gained";
  EXPECT_THAT(check(range(100) | pass(true) | shuffle() | pass(true), {}).findings, IsEmpty()) << "not neighbours";
  EXPECT_THAT(
      check(range(100) | map("", std::make_shared<PassKernel>(true), std::make_shared<PassKernel>(true)), {}).findings,
      IsEmpty())
      << "they are one";
}

TEST(Check, AFilterThatLetsFewPassIsFound) {
  const CheckReport report = check(range(6400) | filter([](int64_t x) { return x < 200; }), {});
  EXPECT_EQ(report.left_out, 62);
  EXPECT_THAT(report.findings, Contains(HasSubstr("the filter lets 2 of 64 elements pass")));
}

TEST(Check, DataWithAPeriodIsSeenAsItIs) {
  const auto left_out = [](int64_t period) {
    return check(range(10'000) | filter([period](int64_t x) { return x % period == 0; }), {}).left_out;
  };
  for (const int64_t period : {2, 4, 156}) {  // 156: the length of a part.
    const auto expected = 64 - 64.0 / static_cast<double>(period);
    EXPECT_NEAR(static_cast<double>(left_out(period)), expected, 10) << period;
  }
  EXPECT_THAT(check(range(10'000) | filter([](int64_t x) { return x % 20 == 0; }), {}).findings,
              Contains(HasSubstr("elements pass: the others are made in vain")));
}

TEST(Check, AFileThatIsMissingIsThrown) { EXPECT_THROW((void)check(text_lines("/nowhere/at.all"), {}), Exception); }

}  // namespace
}  // namespace headpond
