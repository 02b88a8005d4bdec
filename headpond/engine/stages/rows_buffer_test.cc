// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>

#include "headpond/dataset/bases/pointwise.h"
#include "headpond/dataset/views/prefetching.h"
#include "headpond/engine/testing/engine_test_internal.h"

namespace headpond::internal {
namespace {

using testing::ElementsAre;
using testing::EndsWith;

constexpr int64_t kWide = 16;

// The output that each element was given, by the element's value.
struct Outputs {
  std::mutex mu;
  std::map<int64_t, const std::byte*> by_value;
};

// The fields of an element beside one of fixed size.
enum class Beside : uint8_t { nothing, text, list };
Spec spec_of(Beside beside) {
  Spec spec = {{"", DType::i64, {kWide}}};
  if (beside == Beside::text) spec.insert(spec.begin(), {"", DType::bytes, {}});
  if (beside == Beside::list) spec.insert(spec.begin(), {"", DType::i64, {kUnknown}});
  return spec;
}

// x becomes `kWide` times x, where its output is, after what is beside it.
class Widen final : public Pointwise {
 public:
  Widen(const Node::Ref& input, std::shared_ptr<Outputs> seen, Beside beside)
      : Pointwise(facts_over(input, "widen", "", spec_of(beside))), seen_(std::move(seen)), beside_(beside) {}

  Got apply(Element& in, RandomKey, Context& context, OutputSlots outputs, Element& out) const override {
    const int64_t x = in[0].as<int64_t>()[0];
    if (beside_ == Beside::text) out.append(Tensor::scalar(std::string(static_cast<size_t>(x % 5), 'a')));
    if (beside_ == Beside::list) out.append(Tensor::from(std::vector<int64_t>(static_cast<size_t>(x % 3), x), {x % 3}));
    {
      const std::lock_guard lock(seen_->mu);
      seen_->by_value[x] = outputs.size() <= out.size() ? nullptr : outputs[out.size()].data;
    }
    std::byte* const to = context.allocate_output(out, outputs, DType::i64, {kWide});
    std::fill_n(reinterpret_cast<int64_t*>(to), kWide, x);
    return Got::value;
  }

 private:
  const std::shared_ptr<Outputs> seen_;
  const Beside beside_;
};
Dataset widened(const Dataset& input, const std::shared_ptr<Outputs>& seen, Beside beside = Beside::nothing) {
  return Dataset(std::make_shared<Widen>(input.node(), seen, beside));
}

// How many of 100 rows were made where they are in their batch.
int64_t rows_in_place(const Dataset& numbers, int threads, Beside beside = Beside::nothing,
                      const Step& stack = batch(16)) {
  const auto seen = std::make_shared<Outputs>();
  const Dataset dataset = widened(numbers, seen, beside) | stack;
  EXPECT_EQ(loaded(dataset, {.threads = threads}), elements(dataset));
  Loader loader(dataset, {.threads = threads});
  int64_t in_place = 0;
  for (const Batch& batch : loader) {
    const Tensor& rows = batch[batch.size() - 1];
    const std::lock_guard lock(seen->mu);
    for (int64_t r = 0; r < rows.shape()[0]; ++r) {
      const int64_t* const row = rows.as<int64_t>().data() + r * kWide;
      EXPECT_EQ(row[0], row[kWide - 1]);
      in_place += seen->by_value.at(row[0]) == reinterpret_cast<const std::byte*>(row) ? 1 : 0;
    }
  }
  return in_place;
}

TEST(RowsBuffer, RowsAreWrittenWhereTheyBelong) {
  for (const int threads : {0, 1, 4}) {
    EXPECT_EQ(rows_in_place(range(100), threads), 100);
    EXPECT_EQ(rows_in_place(range(100) | shuffle(), threads), 100);
  }
  EXPECT_EQ(rows_in_place(range(100) | as_stream(), 1), 0) << "control: a stream's elements are there before the batch";
}

TEST(RowsBuffer, RowsAreWrittenWhereTheyBelongBesideFieldsOfNoFixedSize) {
  for (const int threads : {0, 1, 4}) {
    EXPECT_EQ(rows_in_place(range(100), threads, Beside::text), 100);
    EXPECT_EQ(rows_in_place(range(100) | shuffle(), threads, Beside::text, padded_batch(16)), 100);
    EXPECT_EQ(rows_in_place(range(100), threads, Beside::list, padded_batch(16)), 100);
  }
  EXPECT_EQ(rows_in_place(range(100), 1, Beside::list, ragged_batch(16)), 0) << "control: its rows are no rows of ours";
  EXPECT_EQ(rows_in_place(range(100) | as_stream(), 1, Beside::text), 0) << "control: a stream's elements are there";
}

Result<int64_t> fails_at_three(int64_t x) {
  if (x == 3) return fail(ErrorKind::DataLoss, "three");
  return x;
}

TEST(RowsBuffer, AnElementThatFailsIsLeftOutAndWhatFollowsMovesUp) {
  for (const int threads : {0, 1, 4}) {
    EXPECT_THAT(loaded(range(10) | map(&fails_at_three) | batch(4), {.threads = threads}),
                ElementsAre(EndsWith("three"), "[0 1 2 4]", "[5 6 7 8]", "[9]"));
    EXPECT_THAT(loaded(range(7) | map(&fails_at_three) | batch(4, {.drop_remainder = true}), {.threads = threads}),
                ElementsAre(EndsWith("three"), "[0 1 2 4]"));
    EXPECT_THAT(loaded(range(4) | map(&fails_at_three) | batch(4, {.drop_remainder = true}), {.threads = threads}),
                ElementsAre(EndsWith("three")))
        << "what is dropped tells its errors";
  }
}

TEST(RowsBuffer, ElementsAreMadeByAllThreadsAfterAnErrorToo) {
  for (const int threads : {1, 3}) {
    const auto crowd = std::make_shared<Crowd>();
    const auto behind = std::make_shared<std::atomic<bool>>(false);
    const Dataset dataset = range(2000) | map([=](int64_t x) -> Result<int64_t> {
                              if (x % 10 == 3) return fail(ErrorKind::DataLoss, "three");
                              if (*behind) crowd->meet(threads, 200);
                              return x;
                            }) |
                            batch(100);
    Loader loader(dataset, {.epochs = -1, .threads = threads, .io_threads = 1, .consumer_helps = false});
    EXPECT_FALSE(loader.next());
    *behind = true;
    EXPECT_TRUE(becomes_true([&] {
      (void)loader.next();
      return crowd->most >= threads;
    }));
    EXPECT_LE(crowd->most, threads == 1 ? 1 : threads + 1) << "control: one is not three; another may be for waits";
  }
}

TEST(RowsBuffer, ErrorsComeInTheOrderOfTheirElements) {
  const auto odd_fails = [](int64_t x) -> Result<int64_t> {
    if (x % 2 == 1) return fail(ErrorKind::DataLoss, fmt::format("odd {}", x));
    pause_ms(x % 3);
    return x;
  };
  const Dataset dataset = range(41) | map(odd_fails) | batch(3);
  const auto expected = elements(dataset);
  EXPECT_EQ(expected.size(), 27U);
  for (const int threads : {0, 1, 4}) EXPECT_EQ(loaded(dataset, {.threads = threads}), expected);
}

Tensor ragged(int64_t x) {
  const std::vector<int64_t> all(static_cast<size_t>(x % 4), x);
  return Tensor::from(std::span<const int64_t>(all), {x % 4});
}

TEST(RowsBuffer, StacksRowsThatHaveNoFixedSizeWhenAllAreThere) {
  const Dataset words = range(20) | map([](int64_t x) { return std::string(static_cast<size_t>(x % 5), 'a'); });
  const Dataset lists = range(20) | map(&ragged, {.output = {{"", DType::i64, {kUnknown}}}});
  EXPECT_THAT(loaded(words | batch(4) | take(1), {.threads = 2}), ElementsAre("['' 'a' 'aa' 'aaa']"));
  EXPECT_THAT(loaded(lists | padded_batch(3) | take(1), {.threads = 2}), ElementsAre("[3,2][0 0 1 0 2 2]"));
  for (const int threads : {0, 1, 4}) {
    for (const Dataset& dataset : {words | batch(6), lists | padded_batch(6), lists | batch(6),
                                   zip({words, lists, range(20)}) | padded_batch(7, {.drop_remainder = true})}) {
      EXPECT_EQ(loaded(dataset, {.epochs = 2, .threads = threads}), elements(dataset, {.epochs = 2})) << dataset.plan();
    }
  }
}

// Small fields, of which a batch has more than an element holds inside, among others.
TEST(RowsBuffer, FieldsOfAnySizeStandBesideEachOther) {
  const Dataset numbers = range(20), flags = range(20) | map([](int64_t x) { return x % 3 == 0; });
  const Dataset words = range(20) | map([](int64_t x) { return std::string(static_cast<size_t>(x % 5), 'a'); });
  const Dataset none = numbers | map(
                                     [](int64_t) {
                                       return Tensor::empty(DType::f32, {0, 3});
                                     },
                                     {.output = {{"", DType::f32, {0, 3}}}});
  const auto seen = std::make_shared<Outputs>();
  const Dataset all = zip({words, numbers, flags, none, words, widened(numbers, seen, Beside::text), numbers});
  for (const int threads : {0, 1, 4}) {
    for (const int64_t size : {1, 2, 7, 20}) {
      for (const Dataset& dataset : {all | batch(size), all | padded_batch(size, {.drop_remainder = true}),
                                     zip({words, flags}) | batch(size) | batch(2, {.drop_remainder = true})}) {
        EXPECT_EQ(loaded(dataset, {.epochs = 2, .threads = threads}), elements(dataset, {.epochs = 2}))
            << dataset.plan();
      }
    }
  }
}

TEST(RowsBuffer, WhatFailsBesideATextIsLeftOutAsItIsAlone) {
  const auto seen = std::make_shared<Outputs>();
  const Dataset failing = widened(range(10) | map(&fails_at_three), seen, Beside::text);
  Element other = {Tensor::scalar("other"), Tensor::from(std::vector<int64_t>(kWide, 7), {kWide})};
  const Dataset handled[] = {failing, failing | on_error(),
                             failing | on_error({.policy = OnErrorPolicy::substitute, .substitute = std::move(other)})};
  for (const int threads : {0, 1, 4}) {
    for (const Dataset& dataset : {handled[0] | batch(4), handled[0] | batch(5, {.drop_remainder = true}),
                                   handled[0] | padded_batch(4), handled[1] | batch(4), handled[2] | batch(4)}) {
      const auto expected = elements(dataset);
      EXPECT_GE(expected.size(), 2U) << dataset.plan();
      EXPECT_EQ(loaded(dataset, {.threads = threads}), expected) << dataset.plan();
    }
    const auto any = loaded(handled[0] | batch(5), {.threads = threads, .deterministic = false});
    EXPECT_EQ(any.size(), 3U) << "an error, a batch of four and one of five";
  }
}

TEST(RowsBuffer, ABatchWithAnotherFieldInTheirPlaceHasNoRowsOfItsInput) {
  const Dataset pairs = range(9) | map(
                                       [](int64_t x) {
                                         return Tensor::from(std::vector<int64_t>{x, 0}, {2});
                                       },
                                       {.output = {{"", DType::i64, {2}}}});
  const Dataset dataset = pairs | sparse_batch(4, {2});  // Its first field has rows of two int64 too.
  const auto expected = elements(dataset);
  ASSERT_EQ(expected.size(), 3U);
  for (const int threads : {0, 2}) EXPECT_EQ(loaded(dataset, {.threads = threads}), expected);
}

// A row that its operator made smaller than its spec says.
class Shorten final : public Pointwise {
 public:
  explicit Shorten(const Node::Ref& input) : Pointwise(facts_over(input, "shorten", "", {{"", DType::i64, {kWide}}})) {}
  Got apply(Element& in, RandomKey, Context&, OutputSlots, Element& out) const override {
    const int64_t x = in[0].as<int64_t>()[0];
    out.append(Tensor::from(std::vector<int64_t>{x, x}, {2}));
    return Got::value;
  }
};
TEST(RowsBuffer, ARowIsNotReadBeyondItsEnd) {
  const Dataset dataset = Dataset(std::make_shared<Shorten>(range(3).node())) | padded_batch(3);
  const auto expected = elements(dataset);
  ASSERT_EQ(expected.size(), 1U);
  for (const int threads : {0, 2}) EXPECT_EQ(loaded(dataset, {.threads = threads}), expected);
}

TEST(RowsBuffer, TheLastBatchIsSmallerOrDropped) {
  for (const int threads : {0, 2}) {
    EXPECT_THAT(loaded(range(5) | batch(2), {.threads = threads}), ElementsAre("[0 1]", "[2 3]", "[4]"));
    EXPECT_THAT(loaded(range(5) | batch(2, {.drop_remainder = true}), {.threads = threads}),
                ElementsAre("[0 1]", "[2 3]"));
    EXPECT_THAT(loaded(range(1) | batch(2, {.drop_remainder = true}), {.threads = threads}), ElementsAre());
    EXPECT_THAT(loaded(range(0) | batch(2), {.threads = threads}), ElementsAre());
  }
}

TEST(RowsBuffer, ABatchMayBeARow) {
  const Dataset dataset = range(11) | batch(2, {.drop_remainder = true}) | batch(2);
  for (const int threads : {0, 1, 4}) {
    EXPECT_THAT(loaded(dataset, {.threads = threads}), ElementsAre("[2,2][0 1 2 3]", "[2,2][4 5 6 7]", "[1,2][8 9]"));
  }
}

TEST(RowsBuffer, MemoryThatTheSystemRefusesIsAnErrorOfItsBatch) {
  const auto too_large = [](int64_t) -> Tensor { throw std::bad_alloc(); };
  const Spec spec = {{"", DType::i64, {int64_t{1} << 60}}};
  const Dataset dataset = range(5) | map(too_large, {.output = spec}) | batch(2);
  const auto expected = elements(dataset);
  ASSERT_EQ(expected.size(), 5U);
  for (const int threads : {0, 2}) EXPECT_EQ(loaded(dataset, {.threads = threads}), expected);
  EXPECT_EQ(loaded(range(5) | map(&ragged, {.output = {{"", DType::i64, {kUnknown}}}}) | padded_batch(5), {}).size(),
            1U)
      << "control: what fits is no error";
}

// How many of 200 texts were asked for, and how many of these were prefetched before.
struct Asked {
  std::array<std::atomic<bool>, 200> prefetched = {};
  std::atomic<int64_t> all = 0, after_prefetch = 0;
};

class Texts final : public Node {
 public:
  explicit Texts(Asked& asked)
      : Node({.op = "texts", .spec = {{"", DType::bytes, {}}}, .slots = static_cast<int64_t>(asked.prefetched.size())}),
        asked_(asked) {}
  std::shared_ptr<const View> bind(const Binding&) const override {
    class TextsView final : public View, public PrefetchingView {
     public:
      explicit TextsView(Asked& asked) : asked_(asked) {}
      Got at(int64_t i, Context&, OutputSlots, Element& out) const override {
        ++asked_.all;
        if (asked_.prefetched[static_cast<size_t>(i)].exchange(false)) ++asked_.after_prefetch;
        out.append(Tensor::scalar(std::to_string(i)));
        return Got::value;
      }
      void prefetch(std::span<const int64_t> positions) const noexcept override {
        for (const int64_t i : positions) asked_.prefetched[static_cast<size_t>(i)] = true;
      }

     private:
      Asked& asked_;
    };
    return std::make_shared<TextsView>(asked_);
  }

 private:
  Asked& asked_;
};

TEST(RowsBuffer, RowsArePrefetchedBeforeTheyAreMade) {
  for (const int threads : {0, 2}) {
    for (const bool in_batches : {true, false}) {
      Asked asked;
      const Dataset all = Dataset(std::make_shared<Texts>(asked)) | shuffle();
      EXPECT_EQ(loaded(in_batches ? all | batch(30) : all, {.threads = threads}).size(), in_batches ? 7U : 200U);
      EXPECT_EQ(asked.all, 200);
      EXPECT_EQ(asked.after_prefetch, 200) << threads << in_batches;
    }
  }
}

}  // namespace
}  // namespace headpond::internal
