// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include <limits>

#include "headpond/codec/sound/level/level_kernels.h"

namespace headpond {
namespace {

using testing::ElementsAre;
using testing::FloatEq;

Result<Tensor> louder(const KernelRef& kernel, const std::vector<float>& values, const KernelRun& options = {}) {
  const Tensor sound = Tensor::from(values, {static_cast<int64_t>(values.size()), 1});
  return run_kernels(std::vector<KernelRef>{kernel}, sound, options);
}

TEST(GainDb, MultipliesByAPowerOfTen) {
  EXPECT_THAT(louder(gain_db(20), {0.25F, -1, 0})->as<float>(), ElementsAre(2.5F, -10, 0));
  EXPECT_THAT(louder(gain_db(-6), {1})->as<float>(), ElementsAre(FloatEq(0.5011872F)));
  EXPECT_THAT(louder(gain_db(0), {0.3F})->as<float>(), ElementsAre(0.3F));
}

TEST(GainDb, DrawsFromItsRange) {
  float least = 100, most = 0;
  for (uint64_t key = 0; key < 300; ++key) {
    const float factor = louder(gain_db({-20, 20}), {1}, {.key = key})->as<float>()[0];
    least = std::min(least, factor);
    most = std::max(most, factor);
  }
  EXPECT_THAT(least, testing::AllOf(testing::Ge(0.1F), testing::Lt(0.11F)));
  EXPECT_THAT(most, testing::AllOf(testing::Gt(9.0F), testing::Le(10.0F)));
  EXPECT_EQ(louder(gain_db({-20, 20}), {1}, {.key = 5})->as<float>()[0],
            louder(gain_db({-20, 20}), {1}, {.key = 5})->as<float>()[0]);
}

TEST(GainDb, SaysItsNumbersAndRefusesOthers) {
  EXPECT_EQ(gain_db(3)->facts().title, "gain_db(3)");
  EXPECT_EQ(gain_db(3)->facts().draws, "");
  EXPECT_EQ(gain_db({-6, 3.5})->facts().title, "gain_db([-6, 3.5])");
  EXPECT_EQ(gain_db({-6, 3.5})->facts().draws, "gain_db");
  EXPECT_THROW(gain_db(201), Exception);
  EXPECT_THROW(gain_db(std::numeric_limits<double>::quiet_NaN()), Exception);
  EXPECT_THROW(gain_db({2, 1}), Exception);
  EXPECT_THROW(gain_db(1)->facts().result({{"a", u8, {3, 1}}}), Exception);
}

TEST(PeakNormalize, MakesTheLargestSizeThePeak) {
  EXPECT_THAT(louder(peak_normalize(), {0.25F, -0.5F, 0})->as<float>(), ElementsAre(0.5F, -1, 0));
  EXPECT_THAT(louder(peak_normalize(0.25), {4, 1})->as<float>(), ElementsAre(0.25F, 0.0625F));
  EXPECT_THAT(louder(peak_normalize(), {0, -0.0F})->as<float>(), ElementsAre(0, 0)) << "silence";
  EXPECT_THAT(louder(peak_normalize(), {1e-45F})->as<float>(), ElementsAre(1)) << "the smallest float";
  EXPECT_EQ(louder(peak_normalize(), {})->shape(), (Shape{0, 1}));
}

TEST(PeakNormalize, RefusesWhatIsNotFinite) {
  for (const float bad : {std::numeric_limits<float>::infinity(), -std::numeric_limits<float>::infinity(),
                          std::numeric_limits<float>::quiet_NaN()}) {
    EXPECT_EQ(louder(peak_normalize(), {1, bad, 2}).error().kind(), ErrorKind::InvalidArgument);
  }
  EXPECT_THROW(peak_normalize(0), Exception);
  EXPECT_THROW(peak_normalize(std::numeric_limits<double>::infinity()), Exception);
  EXPECT_EQ(peak_normalize()->facts().title, "peak_normalize");
  EXPECT_EQ(peak_normalize(0.5)->facts().title, "peak_normalize(0.5)");
}

}  // namespace
}  // namespace headpond
