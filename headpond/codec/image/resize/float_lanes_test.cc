// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>

#include "headpond/base/random.h"
#include "headpond/codec/image/resize/float_passes_internal.h"

namespace headpond::resize_internal {
namespace {

class FloatPassTargets : public testing::Test {
 protected:
  int64_t below(int64_t n) { return static_cast<int64_t>(random_.below(static_cast<uint64_t>(n))); }

  std::vector<float> noise(int64_t size) {
    constexpr std::array<float, 5> kOdd = {0, -0.0F, 1e30F, std::numeric_limits<float>::infinity(),
                                           std::numeric_limits<float>::quiet_NaN()};
    std::vector<float> values(static_cast<size_t>(size));
    for (float& value : values) value = below(50) == 0 ? kOdd[static_cast<size_t>(below(5))] : random_.uniform() - 0.3F;
    return values;
  }

  // A part of a pass, of any filter that sums.
  Taps taps() {
    constexpr std::array<ResizeFilter, 5> kFilters = {ResizeFilter::bilinear, ResizeFilter::bicubic,
                                                      ResizeFilter::lanczos, ResizeFilter::box, ResizeFilter::area};
    TapsKey key;
    key.dtype = DType::f32;
    key.out = 1 + below(65);
    key.in = 1 + below(key.out * (1 + below(6)));
    if (key.in == key.out) ++key.in;
    key.reversed = below(2) == 0;
    key.options.filter = kFilters[static_cast<size_t>(below(5))];
    key.options.antialias = below(2) == 0;
    return make_taps(key);
  }

  Random random_{5};
};

std::vector<uint32_t> bits(const std::vector<float>& values) {
  std::vector<uint32_t> all;
  all.reserve(values.size());
  for (const float value : values) all.push_back(std::isnan(value) ? 0x7fc00000U : std::bit_cast<uint32_t>(value));
  return all;
}

TEST_F(FloatPassTargets, SumColumnsLikeTheirTwin) {
  int planned = 0, in_parts = 0;
  for (int i = 0; i < 600; ++i) {
    const Taps made = taps();
    TapsPart part = {&made, below(made.key.out), 0, 0};
    part.size = 1 + below(made.key.out - part.begin);
    part.shift = part.from();
    const int channels = 1 + i % 4;
    const std::vector<float> row = noise(part.to() * channels);  // Ends where the last source does.
    const auto end = static_cast<int64_t>(row.size());
    std::vector<float> expected(static_cast<size_t>(part.size * channels + 1), 77), got;
    scalar_float_passes().sum_columns(row.data(), end, expected.data(), part, channels, {});
    ASSERT_EQ(expected.back(), 77);
    for (const auto& named : float_pass_targets()) {
      got.assign(expected.size(), 77);
      named.code.sum_columns(row.data(), end, got.data(), part, channels, {});
      ASSERT_EQ(bits(got), bits(expected)) << named.name << ", " << made.key.in << " to " << made.key.out;
      if (named.code.plan == nullptr) continue;
      FloatPlan plan;
      named.code.plan(part, channels, plan);
      planned += plan.step > 0 ? 1 : 0;
      in_parts += plan.step % channels != 0 ? 1 : 0;
      got.assign(expected.size(), 77);
      named.code.sum_columns(row.data(), end, got.data(), part, channels, plan);
      ASSERT_EQ(bits(got), bits(expected)) << named.name << " with a plan, " << made.key.in << " to " << made.key.out;
    }
  }
  const auto has_plans = [](const auto& named) { return named.code.plan != nullptr; };
  if (std::ranges::any_of(float_pass_targets(), has_plans)) {
    EXPECT_GT(planned, 100);
    EXPECT_GT(in_parts, 10) << "of pixels";
  }
}

// A row of 3 channels, twice as wide as its source.
class WideRows : public FloatPassTargets {
 protected:
  WideRows() {
    const int64_t most = FloatPlan::kMostTaps / 2 * FloatPlan::kLanes / 3;  // Two taps a value.
    fits_ = plan_of(most);
    wider_ = plan_of(most + 3);
  }

  FloatPlan plan_of(int64_t width) {
    TapsKey key;
    key.dtype = DType::f32;
    key.out = width;
    key.in = width / 2;
    key.options.antialias = false;
    taps_ = make_taps(key);
    FloatPlan plan;
    plan.make({&taps_, 0, width, 0}, 3);
    return plan;
  }

  Taps taps_;
  FloatPlan fits_, wider_;
};

TEST_F(WideRows, HaveNoPlanAboveTheBound) {
  EXPECT_EQ(fits_.each, 2);
  EXPECT_EQ(fits_.step, FloatPlan::kLanes);
  EXPECT_EQ(std::ssize(fits_.taps), FloatPlan::kMostTaps);
  EXPECT_EQ(fits_.taps.capacity(), fits_.taps.size());
  EXPECT_EQ(wider_.step, 0);
  EXPECT_EQ(wider_.taps.capacity(), 0) << "memory for what is not made";
}

TEST_F(WideRows, AreAsTheirTwinMakesThem) {
  const TapsPart part = {&taps_, 0, taps_.key.out, 0};  // Of the wider one.
  const std::vector<float> row = noise(taps_.key.in * 3);
  std::vector<float> expected(static_cast<size_t>(part.size * 3)), got(expected.size());
  scalar_float_passes().sum_columns(row.data(), std::ssize(row), expected.data(), part, 3, {});
  for (const auto& named : float_pass_targets()) {
    named.code.sum_columns(row.data(), std::ssize(row), got.data(), part, 3, wider_);
    ASSERT_EQ(bits(got), bits(expected)) << named.name;
  }
}

TEST_F(FloatPassTargets, ReverseLikeTheirTwin) {
  for (int i = 0; i < 200; ++i) {
    const int channels = 1 + i % 4;
    const int64_t pixels = below(70);
    const std::vector<float> row = noise(pixels * channels);
    std::vector<float> expected(row.size()), made(row.size());
    scalar_float_passes().reverse(row.data(), expected.data(), pixels, channels);
    for (int64_t x = 0; x < pixels * channels; ++x) {
      const int64_t other = (pixels - 1 - x / channels) * channels + x % channels;
      ASSERT_EQ(std::bit_cast<uint32_t>(expected[static_cast<size_t>(x)]),
                std::bit_cast<uint32_t>(row[static_cast<size_t>(other)]));
    }
    for (const auto& named : float_pass_targets()) {
      std::ranges::fill(made, 77.0F);
      named.code.reverse(row.data(), made.data(), pixels, channels);
      ASSERT_EQ(bits(made), bits(expected)) << named.name << ", " << pixels << " x " << channels;
    }
  }
}

TEST_F(FloatPassTargets, SumRowsLikeTheirTwin) {
  for (int64_t values = 0; values < 130; ++values) {
    const int64_t count = 1 + values % 9;
    std::vector<std::vector<float>> memory;
    std::vector<const float*> rows;
    std::vector<double> weights;
    for (int64_t j = 0; j < count; ++j) {
      memory.push_back(noise(values + 1));
      rows.push_back(memory.back().data() + 1);
      weights.push_back(static_cast<double>(random_.uniform()) - 0.4);
    }
    std::vector<float> expected(static_cast<size_t>(values + 1), 77), got;
    scalar_float_passes().sum_rows(rows.data(), weights.data(), count, expected.data(), values);
    for (const auto& named : float_pass_targets()) {
      got.assign(expected.size(), 77);
      named.code.sum_rows(rows.data(), weights.data(), count, got.data(), values);
      ASSERT_EQ(bits(got), bits(expected)) << named.name << ", " << count << " rows of " << values;
    }
  }
}

TEST(FloatPasses, AddTheirTapsInOrderAsDoubles) {
  // In another order the first sum is 0.5; of floats, the second is 0.
  const std::array<float, 3> first = {1e17F, 1e8F, -1}, second = {1, 1, 3}, third = {-1e17F, -1e8F, 0};
  const float* const rows[] = {first.data(), second.data(), third.data()};
  const double weights[] = {1, 0.5, 1};
  std::array<float, 3> to;
  scalar_float_passes().sum_rows(rows, weights, 3, to.data(), 3);
  EXPECT_EQ(to, (std::array<float, 3>{0, 0.5F, 0.5F}));
}

TEST(FloatPasses, TheBestTargetIsUsed) {
  const auto& targets = float_pass_targets();
  EXPECT_EQ(float_passes().sum_rows, targets.empty() ? scalar_float_passes().sum_rows : targets.front().code.sum_rows);
}

}  // namespace
}  // namespace headpond::resize_internal
