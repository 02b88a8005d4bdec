// SPDX-License-Identifier: Apache-2.0
// Calls of operator new that fail while next() is in progress, or in the Loader's threads: the data goes on after the
// error.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <functional>
#include <new>
#include <optional>
#include <thread>

#include "headpond/dataset/function.h"
#include "headpond/dataset/node.h"
#include "headpond/dataset/ops.h"
#include "headpond/engine/loader.h"

namespace {

// Calls of operator new that are counted: those from 0 down to -failing + 1 find no memory.
std::atomic<bool> counts_calls = false;
std::atomic<int> calls_left = 0, failing = 0;
// The test itself always finds memory. It is in no count.
thread_local bool is_test = false;
// Of this thread alone: the call after so many others fails.
thread_local int calls_to_failure = -1;

bool fails() {
  if (calls_to_failure >= 0 && calls_to_failure-- == 0) return true;
  if (is_test || !counts_calls) return false;
  const int left = calls_left--;
  return left <= 0 && left > -failing;
}

void* memory_of(size_t size) {
  if (fails()) throw std::bad_alloc();
  void* const memory = std::malloc(size > 0 ? size : 1);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}

}  // namespace

void* operator new(size_t size) { return memory_of(size); }
void* operator new[](size_t size) { return memory_of(size); }
void* operator new(size_t size, const std::nothrow_t&) noexcept { return fails() ? nullptr : std::malloc(size); }
void operator delete(void* memory, const std::nothrow_t&) noexcept { std::free(memory); }
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete[](void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, size_t) noexcept { std::free(memory); }
void operator delete[](void* memory, size_t) noexcept { std::free(memory); }

namespace headpond {
namespace {

constexpr int64_t kElements = 30;

struct Says {
  int opens_before_damage = INT32_MAX;  ///< The next one fails for good.
  std::function<void(int opened, int64_t)> on_element = [](int, int64_t) {};
  std::optional<Error> error = std::nullopt;
  int64_t error_at = 17;
};

// 0, 1, ..., 29 without positions. Counts how often it is opened.
class Counted final : public Node {
 public:
  explicit Counted(Says says = {})
      : Node({.op = "counted", .spec = {{"", DType::i64, {}}}, .kind = Kind::stream, .slots = kElements}),
        says_(std::move(says)) {}
  std::unique_ptr<Iterator> iterate(const Binding&, Feed&) const override {
    class Numbers final : public Iterator {
     public:
      Numbers(const Says& says, int opened) : says_(says), opened_(opened) {}
      Got next(Context& context, Element& out) override {
        if (next_ == kElements) return Got::end;
        if (next_ == says_.error_at && says_.error) {
          ++next_;
          return context.fail(*says_.error);
        }
        out.append(Tensor::scalar(next_));
        says_.on_element(opened_, next_);
        ++next_;
        return Got::value;
      }
      void visit_state(StateVisitor& visitor) override { visitor.number(next_); }

     private:
      const Says& says_;
      const int opened_;
      int64_t next_ = 0;
    };
    const int before = opens++;
    if (before >= says_.opens_before_damage) throw Exception(Error(ErrorKind::DataLoss, "the file is damaged"));
    return std::make_unique<Numbers>(says_, before);
  }
  bool iterates() const override { return true; }

  mutable std::atomic<int> opens = 0;

 private:
  const Says says_;
};

struct Delivered {
  std::vector<int64_t> values[2];
  std::vector<ErrorKind> errors;
  bool has_ended = false;

  int64_t count(ErrorKind kind) const { return std::count(errors.begin(), errors.end(), kind); }
  size_t given() const { return values[0].size() + values[1].size(); }
};

// Without memory for the error itself it throws.
Result<Batch> next_of(Loader& loader) try {
  is_test = false;
  auto next = loader.next();
  is_test = true;
  return next;
} catch (const std::bad_alloc&) {
  is_test = true;
  return fail(ErrorKind::ResourceExhausted, "thrown");
}

// All calls of next(). `before_each`: with the number of the call.
Delivered all_of(
    Loader& loader, const std::function<void(int64_t)>& before_each = [](int64_t) {}) {
  Delivered all;
  for (int64_t call = 0; !all.has_ended && all.errors.size() < 50; ++call) {
    before_each(call);
    const auto next = next_of(loader);
    if (next) {
      const auto values = (*next)[0].as<int64_t>();
      auto& to = all.values[next->epoch()];
      to.insert(to.end(), values.begin(), values.end());
    } else if (next.error().is_end()) {
      all.has_ended = true;
    } else {
      all.errors.push_back(next.error().kind());
    }
  }
  return all;
}

// The allocations in calls of next(), and of the threads, fail from `first` on, `count` of them.
Delivered with_failing_calls(const Dataset& dataset, int threads, int first, int count) {
  is_test = true;
  Loader loader(dataset, {.epochs = 2, .threads = threads});
  calls_left = first;
  failing = count;
  counts_calls = true;
  const Delivered all = all_of(loader);
  counts_calls = false;
  return all;
}

bool rises(const std::vector<int64_t>& values) {
  return std::adjacent_find(values.begin(), values.end(), std::greater_equal<>()) == values.end();
}

struct Pipeline {
  std::function<Dataset(const Dataset&)> of;
  size_t batch = 1;  ///< An error stands for an element, or for a batch of so many.
  bool loses_items = true;
};

const std::vector<Pipeline> kPipelines = {
    {[](const Dataset& input) { return input; }},
    {[](const Dataset& input) { return input | batch(8); }, 8},
    {[](const Dataset& input) { return input | map([](int64_t x) { return x; }) | batch(7); }, 7},
    {[](const Dataset&) { return range(kElements) | map([](int64_t x) { return x; }) | batch(7); }, 7, false},
};

void check_all_runs(int threads, int step, const std::optional<Error>& damage) {
  for (size_t i = 0; i < kPipelines.size(); ++i) {
    const Pipeline& pipeline = kPipelines[i];
    int opened_again = 0, failed = 0;
    for (const int count : {1, 5}) {
      for (int first = 0; first < 150; first += step) {
        const auto input = std::make_shared<Counted>(Says{.error = damage});
        const Delivered all = with_failing_calls(pipeline.of(Dataset(input)), threads, first, count);
        const auto where = fmt::format("pipeline {}, {} threads, {} calls from {} on", i, threads, count, first);
        const auto lacks = static_cast<size_t>(all.count(ErrorKind::ResourceExhausted));
        const auto damaged = static_cast<size_t>(all.count(ErrorKind::DataLoss));
        EXPECT_TRUE(all.has_ended) << where;
        EXPECT_LE(lacks, static_cast<size_t>(count)) << where;
        EXPECT_EQ(lacks + damaged, all.errors.size()) << where;
        for (const auto& values : all.values) EXPECT_TRUE(rises(values)) << where;
        EXPECT_GE(all.given() + pipeline.batch * (lacks + damaged), size_t{2 * kElements}) << where;
        if (damage && pipeline.loses_items) {
          EXPECT_GE(damaged + lacks, 2U) << where;
          EXPECT_LE(damaged, 2 + lacks) << where << ": after a loss it comes again if no batch was between";
        }
        opened_again += input->opens > 2 ? 1 : 0;
        failed += lacks > 0 ? 1 : 0;
      }
    }
    EXPECT_GT(failed, 0) << "pipeline " << i << ": no call of next() failed, so this shows nothing";
    if (pipeline.loses_items) {
      EXPECT_GT(opened_again, 0) << "pipeline " << i << ": no stage lost anything";
    }
  }
}

TEST(NoMemory, EachRunGoesOnToItsEnd) { check_all_runs(0, 1, std::nullopt); }

TEST(NoMemory, WithThreadsToo) { check_all_runs(2, 3, std::nullopt); }

TEST(NoMemory, AnErrorOfTheDataBeforeALossIsNoEnd) {
  const Error damage(ErrorKind::DataLoss, "the record is damaged");
  check_all_runs(0, 3, damage);
  check_all_runs(2, 5, damage);
}

TEST(NoMemory, WhatCannotBeOpenedAgainEndsTheEpoch) {
  int lost = 0;
  for (int first = 0; first < 150; ++first) {
    const auto input = std::make_shared<Counted>(Says{.opens_before_damage = 1});
    const Delivered all = with_failing_calls(Dataset(input), 0, first, 1);
    EXPECT_TRUE(all.has_ended) << first;
    EXPECT_LE(all.errors.size(), 3U) << first;
    lost += input->opens > 2 ? 1 : 0;
  }
  EXPECT_GT(lost, 0);
}

// The next epoch is opened ahead. Its loss is its own: an error of this epoch that may pass, too, does not go back.
TEST(NoMemory, ALossOfTheNextEpochIsNotThisOnes) {
  int lost = 0;
  for (int calls = 0; calls < 12; ++calls) {
    is_test = true;
    std::atomic<bool> has_next = false;
    const auto input = std::make_shared<Counted>(
        Says{.on_element =
                 [&](int opened, int64_t value) {
                   std::this_thread::sleep_for(std::chrono::microseconds(300));  // Worth a thread that runs ahead.
                   if (opened != 1 || value != 0) return;
                   calls_to_failure = calls;
                   has_next = true;
                 },
             .error = Error::of_system(ErrorKind::Unknown, "the disk does not answer", EIO),
             .error_at = kElements - 1});
    Loader loader(Dataset(input), {.epochs = 2, .threads = 1});
    const Delivered all = all_of(loader, [&](int64_t call) {
      if (call != kElements - 1) return;
      for (int ms = 0; !has_next && ms < 10'000; ++ms) std::this_thread::sleep_for(std::chrono::milliseconds(1));
      EXPECT_TRUE(has_next) << "the next epoch is not prefetched";
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    });
    EXPECT_TRUE(all.has_ended) << calls;
    EXPECT_EQ(all.count(ErrorKind::Unknown), 2) << calls;
    EXPECT_LE(all.count(ErrorKind::ResourceExhausted), 1) << calls;
    EXPECT_EQ(all.values[0].size(), size_t{kElements - 1}) << calls;
    EXPECT_GE(all.given() + all.errors.size(), size_t{2 * kElements}) << calls;
    lost += input->opens > 2 ? 1 : 0;
  }
  EXPECT_GT(lost, 0) << "nothing was lost, so this shows nothing";
}

}  // namespace
}  // namespace headpond
