// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <set>

#include "headpond/base/random.h"
#include "headpond/codec/image/resize/passes_internal.h"

namespace headpond::resize_internal {
namespace {

TEST(ColumnPlan, DigitsAddUpToTheirWeight) {
  for (const int32_t weight :
       {0, 1, 127, 128, 255, 256, 32767, 32768, -1, -128, -129, 1 << 22, -(1 << 22), 8'000'000}) {
    const WeightDigits digits = digits_of(weight);
    EXPECT_TRUE(digits.is_exact) << weight;
    EXPECT_EQ(digits.digit[0] + 256 * digits.digit[1] + 65536 * digits.digit[2], weight);
  }
  EXPECT_FALSE(digits_of(1 << 23).is_exact);
  EXPECT_FALSE(digits_of(-(1 << 23) - 32897).is_exact);
}

class ColumnPasses : public testing::Test {
 protected:
  int64_t below(int64_t n) { return static_cast<int64_t>(random_.below(static_cast<uint64_t>(n))); }

  std::vector<uint8_t> noise(int64_t size) {
    std::vector<uint8_t> bytes(static_cast<size_t>(size));
    for (uint8_t& byte : bytes)
      byte = below(8) == 0 ? static_cast<uint8_t>(255 * below(2)) : static_cast<uint8_t>(below(256));
    return bytes;
  }

  // A part of a pass whose row ends exactly where the part's last source does.
  struct Job {
    Taps taps;
    TapsPart part;
    int channels = 0;
    std::vector<uint8_t> row;
  };
  Job job(bool antialias, int64_t most_times) {
    constexpr std::array<ResizeFilter, 4> kFilters = {ResizeFilter::bilinear, ResizeFilter::bicubic,
                                                      ResizeFilter::lanczos, ResizeFilter::box};
    return job(antialias ? kFilters[static_cast<size_t>(below(4))] : ResizeFilter::bilinear, antialias, most_times);
  }
  Job job(ResizeFilter filter, bool antialias, int64_t most_times, int64_t most_pixels = 100) {
    Job made;
    TapsKey key;
    key.out = 1 + below(most_pixels);
    key.in = 1 + below(key.out * most_times);
    key.reversed = below(2) == 0;
    key.options.filter = filter;
    key.options.antialias = antialias;
    if (key.in == key.out) ++key.in;
    made.taps = make_taps(key);
    made.part = {&made.taps, below(key.out), 0};
    made.part.size = 1 + below(key.out - made.part.begin);
    made.part.shift = made.part.from();
    made.channels = static_cast<int>(1 + below(4));
    made.row = noise(made.part.to() * made.channels);
    return made;
  }

  Random random_{5};
};

// True iff this machine has a target that plans where pixels are taken or mixed.
bool has_vectors_of_columns() {
  return std::ranges::any_of(pass_targets(), [](const auto& named) { return named.name == "AVX3_DL"; });
}

// A row of 4 channels, twice as wide as its source. A plan of `most` pixels fits into the bound, one group more does
// not.
struct WideRow {
  ResizeFilter filter;
  bool antialias;
  void (*make)(const TapsPart& columns, ColumnPlan& plan);
  int64_t ColumnPlan::*made;  // 0 where there is none.
  int64_t most, group;        // Pixels.
};

TEST(ColumnPlan, TakesNoMoreMemoryThanItsBound) {
  using Part = const TapsPart&;
  constexpr auto kLinear = ResizeFilter::bilinear;
  const WideRow rows[] = {
      {ResizeFilter::nearest, true, [](Part part, ColumnPlan& plan) { plan.make_takes(part, 4); },
       &ColumnPlan::take_step, 131'072, 16},
      {kLinear, false, [](Part part, ColumnPlan& plan) { plan.make_lerps(part, 4); }, &ColumnPlan::lerp_step, 21'840,
       16},
      {kLinear, true, [](Part part, ColumnPlan& plan) { plan.make_pairs(part); }, &ColumnPlan::pairs, 65'536, 2},
      {kLinear, true, [](Part part, ColumnPlan& plan) { plan.make_quads(part, 4); }, &ColumnPlan::quads, 8'192, 4}};
  for (const WideRow& row : rows) {
    for (const int64_t more : {int64_t{0}, row.group}) {
      TapsKey key;
      key.dtype = DType::u8;
      key.out = row.most + more;
      key.in = key.out / 2;
      key.options.filter = row.filter;
      key.options.antialias = row.antialias;
      const Taps taps = make_taps(key);
      ColumnPlan plan;
      row.make({&taps, 0, key.out, 0}, plan);
      EXPECT_EQ(plan.*row.made > 0, more == 0) << key.out;
      const size_t blocks = plan.blocks.size() * sizeof(ColumnPlan::Block);
      const size_t words = 4 * (plan.low.size() + plan.high.size()) + sizeof(ColumnPlan::LerpGroup) * plan.lerps.size();
      EXPECT_LE(blocks + words, size_t{ColumnPlan::kMostBytes} + 24) << "but for a vector's last load";
      if (more > 0) {
        EXPECT_EQ(blocks + words, 0U) << "memory for what is not made";
      }
    }
  }
}

TEST_F(ColumnPasses, SumColumnsLikeTheirTwin) {
  for (int i = 0; i < 300; ++i) {
    const Job job = this->job(true, 1 + i % 6);
    const auto end = static_cast<int64_t>(job.row.size());
    std::vector<uint8_t> expected(static_cast<size_t>(job.part.size * job.channels)), made(expected.size());
    scalar_passes().sum_columns(job.row.data(), end, expected.data(), job.part, job.channels, {});
    for (const auto& named : pass_targets()) {
      std::fill(made.begin(), made.end(), 77);
      ColumnPlan plan;
      named.code.plan(job.part, job.channels, plan);
      named.code.sum_columns(job.row.data(), end, made.data(), job.part, job.channels, plan);
      ASSERT_EQ(made, expected) << named.name << ", " << job.taps.key.in << " to " << job.taps.key.out;
      named.code.sum_columns(job.row.data(), end, made.data(), job.part, job.channels, {});
      ASSERT_EQ(made, expected) << named.name << " without a plan";
    }
  }
}

TEST_F(ColumnPasses, LerpColumnsLikeTheirTwin) {
  std::set<int64_t> steps;
  ColumnPlan plan;  // With what it has of wider rows.
  for (int i = 0; i < 300; ++i) {
    const Job job = this->job(ResizeFilter::bilinear, false, 1 + i % 12, 400);
    const auto end = static_cast<int64_t>(job.row.size());
    std::vector<uint8_t> expected(static_cast<size_t>(job.part.size * job.channels)), made(expected.size());
    scalar_passes().lerp_columns(job.row.data(), end, expected.data(), job.part, job.channels, {});
    for (const auto& named : pass_targets()) {
      std::fill(made.begin(), made.end(), 77);
      plan.clear();
      named.code.plan(job.part, job.channels, plan);
      steps.insert(plan.lerp_step);
      named.code.lerp_columns(job.row.data(), end, made.data(), job.part, job.channels, plan);
      ASSERT_EQ(made, expected) << named.name << ", " << job.taps.key.in << " to " << job.taps.key.out;
      named.code.lerp_columns(job.row.data(), end, made.data(), job.part, job.channels, {});
      ASSERT_EQ(made, expected) << named.name << " without a plan";
    }
  }
  if (has_vectors_of_columns()) {
    EXPECT_EQ(steps, (std::set<int64_t>{0, 16, 32, 48, 64}));
  }
}

TEST_F(ColumnPasses, TakeColumnsLikeTheirTwin) {
  int planned = 0;
  for (int i = 0; i < 400; ++i) {
    const Job job = this->job(ResizeFilter::nearest, true, 1 + i % 12);
    const auto end = static_cast<int64_t>(job.row.size());
    std::vector<uint8_t> expected(static_cast<size_t>(job.part.size * job.channels)), made(expected.size());
    scalar_passes().take_columns(job.row.data(), end, expected.data(), job.part, job.channels, {});
    for (const auto& named : pass_targets()) {
      std::fill(made.begin(), made.end(), 77);
      ColumnPlan plan;
      named.code.plan(job.part, job.channels, plan);
      planned += plan.take_step > 0;
      named.code.take_columns(job.row.data(), end, made.data(), job.part, job.channels, plan);
      ASSERT_EQ(made, expected) << named.name << ", " << job.taps.key.in << " to " << job.taps.key.out;
      named.code.take_columns(job.row.data(), end, made.data(), job.part, job.channels, {});
      ASSERT_EQ(made, expected) << named.name << " without a plan";
    }
  }
  if (has_vectors_of_columns()) {
    EXPECT_GT(planned, 200);
  }
}

TEST_F(ColumnPasses, ReverseLikeTheirTwin) {
  for (int i = 0; i < 200; ++i) {
    const int channels = 1 + i % 4;
    const int64_t pixels = below(70);
    const std::vector<uint8_t> row = noise(pixels * channels);
    std::vector<uint8_t> expected(row.size()), made(row.size());
    scalar_passes().reverse(row.data(), expected.data(), pixels, channels);
    for (const auto& named : pass_targets()) {
      std::fill(made.begin(), made.end(), 77);
      named.code.reverse(row.data(), made.data(), pixels, channels);
      ASSERT_EQ(made, expected) << named.name << ", " << pixels << " x " << channels;
    }
  }
}

}  // namespace
}  // namespace headpond::resize_internal
