// SPDX-License-Identifier: Apache-2.0
#include "headpond/plan/shown/analysis.h"

#include <gtest/gtest.h>

#include "headpond/dataset/ops.h"

namespace headpond::plan {
namespace {

constexpr double kLong = 1e6;

Result<Analysis> of(const Dataset& dataset, double seconds, const std::function<bool()>& is_stopped) {
  Loader loader(dataset);
  int64_t before = 0;
  const auto counting = [&](int64_t taken) {
    EXPECT_EQ(taken, before++) << "asked once for each element";
    return is_stopped();
  };
  return analysed(loader, seconds, counting);
}

TEST(Analysis, IsOfAnEpochUntilItIsStoppedOrFails) {
  const auto never = [] { return false; };
  const auto whole = of(range(100) | batch(8), kLong, never);
  ASSERT_TRUE(whole) << whole.error();
  EXPECT_EQ(whole->elements, 13);
  EXPECT_EQ(whole->stats.batches, 13);

  int asked = 0;
  const auto stopped = of(range(3) | repeat(), kLong, [&] { return ++asked == 5; });
  ASSERT_TRUE(stopped) << stopped.error();
  EXPECT_EQ(stopped->elements, 4);
  EXPECT_EQ(of(range(3) | repeat(), 0, never)->elements, 0);

  const auto bad = [](int64_t x) -> Result<int64_t> {
    if (x == 2) return fail(ErrorKind::DataLoss, "two");
    return x;
  };
  const auto failed = of(range(5) | map(bad, {.output = {{"", DType::i64, {}}}}), kLong, never);
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().kind(), ErrorKind::DataLoss);
}

}  // namespace
}  // namespace headpond::plan
