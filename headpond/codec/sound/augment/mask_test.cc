// SPDX-License-Identifier: Apache-2.0
#include "headpond/codec/sound/augment/mask.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <set>

namespace headpond {
namespace {

// Ones, [frames, bands].
Tensor ones_to_mask(int64_t frames, int64_t bands) {
  return Tensor::from(std::vector<float>(static_cast<size_t>(frames * bands), 1.0F), {frames, bands});
}

Tensor masked(const KernelRef& kernel, const Tensor& in, uint64_t key = 0) {
  const std::vector<KernelRef> all = {kernel};
  return *run_kernels(all, in, {.seed = 3, .key = key});
}

// The columns of zeros; -1 if a value is neither in such a column nor 1.
int64_t masked_columns(const Tensor& spectrum) {
  int64_t count = 0;
  for (int64_t column = 0; column < spectrum.dim(1); ++column) {
    int64_t zeros = 0;
    for (int64_t row = 0; row < spectrum.dim(0); ++row) {
      zeros += spectrum.as<float>()[static_cast<size_t>(row * spectrum.dim(1) + column)] == 0 ? 1 : 0;
    }
    if (zeros != 0 && zeros != spectrum.dim(0)) return -1;
    count += zeros == 0 ? 0 : 1;
  }
  return count;
}

TEST(FrequencyMask, CoversLessThanItsWidthOfTheBandsInAllFrames) {
  std::set<int64_t> widths;
  for (uint64_t key = 0; key < 200; ++key) {
    widths.insert(masked_columns(masked(frequency_mask({.width = 5}), ones_to_mask(3, 20), key)));
  }
  EXPECT_THAT(widths, testing::ElementsAre(0, 1, 2, 3, 4));
}

TEST(TimeMask, CoversFramesAndWithMelsFirstColumns) {
  std::set<int64_t> widths;
  for (uint64_t key = 0; key < 200; ++key) {
    widths.insert(masked_columns(masked(time_mask({.width = 4, .mels_first = true}), ones_to_mask(3, 20), key)));
  }
  EXPECT_THAT(widths, testing::ElementsAre(0, 1, 2, 3));
  bool control = false;  // without mels_first rows are masked, which is no set of columns
  for (uint64_t key = 0; key < 20; ++key) {
    control = control || masked_columns(masked(time_mask({.width = 4}), ones_to_mask(5, 20), key)) == -1;
  }
  EXPECT_TRUE(control);
}

TEST(TimeMask, CoversAtMostThePartThatIsAllowed) {
  for (uint64_t key = 0; key < 100; ++key) {
    const KernelRef kernel = time_mask({.width = 100, .p = 0.2, .mels_first = true});
    EXPECT_LE(masked_columns(masked(kernel, ones_to_mask(2, 10), key)), 1);
  }
}

TEST(TimeMask, FillsWithTheMean) {
  const Tensor in = Tensor::from(std::vector<float>{1, 2, 3, 6}, {4, 1});
  for (uint64_t key = 0; key < 50; ++key) {
    const Tensor out = masked(time_mask({.width = 4, .fill = MaskFill::mean}), in, key);
    for (size_t i = 0; i < 4; ++i) EXPECT_TRUE(out.as<float>()[i] == in.as<float>()[i] || out.as<float>()[i] == 3);
  }
}

TEST(SpecAugment, IsTheTimeMasksAndThenTheFrequencyMasks) {
  Random random(random_key(3, "spec_augment", 0, 0), 8);
  const auto place = [&](double width, double size) {
    const double w = static_cast<double>(random.uniform()) * std::min(width, size);
    return std::pair(static_cast<int64_t>(static_cast<double>(random.uniform()) * (size - w)), static_cast<int64_t>(w));
  };
  std::vector<float> expected(50 * 40, 1.0F);
  for (int i = 0; i < 2; ++i) {
    const auto [first, count] = place(30, 50);
    std::fill_n(expected.begin() + first * 40, count * 40, 0.0F);
  }
  for (int i = 0; i < 2; ++i) {
    const auto [first, count] = place(27, 40);
    for (int64_t row = 0; row < 50; ++row) std::fill_n(expected.begin() + row * 40 + first, count, 0.0F);
  }
  const Tensor found = masked(spec_augment({.time_width = 30}), ones_to_mask(50, 40), 8);
  EXPECT_TRUE(std::ranges::equal(found.as<float>(), expected));
}

TEST(SpecAugment, TakesAnySizeAndLeavesOtherFieldsAlone) {
  EXPECT_EQ(masked(spec_augment(), ones_to_mask(0, 80)).shape(), (Shape{0, 80}));
  EXPECT_EQ(masked(spec_augment(), ones_to_mask(1, 1)).shape(), (Shape{1, 1}));
  EXPECT_EQ(masked(spec_augment({.fill = MaskFill::mean}), ones_to_mask(5, 0)).shape(), (Shape{5, 0}));
  const std::vector<KernelRef> all = {spec_augment()};
  const auto both = run_kernels(all, {ones_to_mask(9, 9), Tensor::scalar(int64_t{4})}, {});
  EXPECT_EQ((*both)[1].item<int64_t>(), 4);
}

template <class Build>
std::string refused_mask(Build build) {
  try {
    build();
    return "";
  } catch (const Exception& wrong) {
    return wrong.error().message();
  }
}

TEST(SpecAugment, NamesItsOptionsAndRefusesBadOnes) {
  EXPECT_EQ(spec_augment()->facts().title, "spec_augment");
  EXPECT_EQ(spec_augment({.time_masks = 1, .fill = MaskFill::mean})->facts().title,
            "spec_augment(time_masks=1, fill=mean)");
  EXPECT_EQ(time_mask({.width = 7})->facts().title, "time_mask(width=7)");
  EXPECT_EQ(refused_mask([] { time_mask({}); }), "time_mask: width must be at least 1");
  EXPECT_EQ(refused_mask([] { frequency_mask({.width = 1, .count = 0}); }), "frequency_mask: count must be 1 to 1000");
  EXPECT_EQ(refused_mask([] { spec_augment({.frequency_width = 0}); }),
            "spec_augment: frequency_width must be at least 1");
  EXPECT_THROW(time_mask({.width = 1, .p = 0}), Exception);
  EXPECT_EQ(refused_mask([] { spec_augment({.time_masks = 1001}); }), "spec_augment: time_masks must be 0 to 1000");
  EXPECT_THROW(spec_augment({.p = std::nan("")}), Exception);
  EXPECT_THROW(spec_augment()->facts().result({{"x", DType::f32, {3}}}), Exception);
}

}  // namespace
}  // namespace headpond
