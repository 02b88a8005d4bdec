// SPDX-License-Identifier: Apache-2.0
// Calls of operator new that fail while next() is in progress: the data goes on after the error.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <new>

#include "headpond/dataset/function.h"
#include "headpond/dataset/node.h"
#include "headpond/dataset/ops.h"
#include "headpond/engine/loader.h"

namespace {

// Counts down over the calls of this thread: those from 0 down to -failing + 1 find no memory.
thread_local bool counts_calls = false;
thread_local int calls_left = 0, failing = 0;

void* memory_of(size_t size) {
  if (counts_calls && calls_left-- <= 0 && calls_left >= -failing) throw std::bad_alloc();
  void* const memory = std::malloc(size > 0 ? size : 1);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}

}  // namespace

void* operator new(size_t size) { return memory_of(size); }
void* operator new[](size_t size) { return memory_of(size); }
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete[](void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, size_t) noexcept { std::free(memory); }
void operator delete[](void* memory, size_t) noexcept { std::free(memory); }

namespace headpond {
namespace {

constexpr int64_t kElements = 30;

// 0, 1, ..., 29 without positions. Counts how often it is opened; from `breaks_at` on that fails for good.
class Counted final : public Node {
 public:
  explicit Counted(int breaks_at = INT32_MAX)
      : Node({.op = "counted", .spec = {{"", DType::i64, {}}}, .kind = Kind::stream, .slots = kElements}),
        breaks_at_(breaks_at) {}
  std::unique_ptr<Iterator> iterate(const Binding&, Feed&) const override {
    class Numbers final : public Iterator {
     public:
      Got next(Context&, Element& out) override {
        if (next_ == kElements) return Got::end;
        out.append(Tensor::scalar(next_));
        ++next_;
        return Got::value;
      }
      void visit_state(StateVisitor& visitor) override { visitor.number(next_); }

     private:
      int64_t next_ = 0;
    };
    if (++opens >= breaks_at_) throw Exception(Error(ErrorKind::DataLoss, "the file is damaged"));
    return std::make_unique<Numbers>();
  }
  bool iterates() const override { return true; }

  mutable int opens = 0;

 private:
  const int breaks_at_;
};

struct Delivered {
  std::vector<int64_t> values[2];
  std::vector<ErrorKind> errors;
  bool has_ended = false;
};

// Without memory for the error itself it throws.
Result<Batch> next_of(Loader& loader) try { return loader.next(); } catch (const std::bad_alloc&) {
  counts_calls = false;
  return fail(ErrorKind::ResourceExhausted, "thrown");
}

// All calls of next(), of which the allocations from `first` on fail, `count` of them.
Delivered with_failing_calls(const Dataset& dataset, int first, int count) {
  Delivered all;
  Loader loader(dataset, {.epochs = 2, .threads = 0});
  calls_left = first;
  failing = count;
  while (!all.has_ended && all.errors.size() < 50) {
    counts_calls = true;
    const auto next = next_of(loader);
    counts_calls = false;
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

TEST(NoMemory, EachRunGoesOnToItsEnd) {
  const std::vector<std::function<Dataset(const Dataset&)>> pipelines = {
      [](const Dataset& input) { return input; },
      [](const Dataset& input) { return input | batch(8); },
      [](const Dataset& input) { return input | map([](int64_t x) { return x; }) | batch(7); },
      [](const Dataset&) { return range(kElements) | map([](int64_t x) { return x; }) | batch(7); },
  };
  for (size_t i = 0; i < pipelines.size(); ++i) {
    int opened_again = 0;
    for (const int count : {1, 5}) {
      for (int first = 0; first < 150; ++first) {
        const auto input = std::make_shared<Counted>();
        const Delivered all = with_failing_calls(pipelines[i](Dataset(input)), first, count);
        const auto where = fmt::format("pipeline {}, {} calls from {} on", i, count, first);
        EXPECT_TRUE(all.has_ended) << where;
        EXPECT_LE(all.errors.size(), static_cast<size_t>(count)) << where;
        for (const ErrorKind kind : all.errors) EXPECT_EQ(kind, ErrorKind::ResourceExhausted) << where;
        size_t given = 0;
        for (const auto& values : all.values) {
          given += values.size();
          EXPECT_EQ(std::adjacent_find(values.begin(), values.end(), std::greater_equal<>()), values.end()) << where;
        }
        // An error stands for an element, or for a batch.
        EXPECT_GE(given + 8 * all.errors.size(), size_t{2 * kElements}) << where;
        opened_again += input->opens > 2 ? 1 : 0;
      }
    }
    if (i < 3) EXPECT_GT(opened_again, 0) << "pipeline " << i << ": no stage lost anything, so this shows nothing";
  }
}

TEST(NoMemory, WhatCannotBeOpenedAgainEndsTheEpoch) {
  int lost = 0;
  for (int first = 0; first < 150; ++first) {
    const auto input = std::make_shared<Counted>(2);
    const Delivered all = with_failing_calls(Dataset(input), first, 1);
    EXPECT_TRUE(all.has_ended) << first;
    EXPECT_LE(all.errors.size(), 3U) << first;
    lost += input->opens > 2 ? 1 : 0;
  }
  EXPECT_GT(lost, 0);
}

}  // namespace
}  // namespace headpond
