// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "headpond/engine/verdict/figures_test_internal.h"
#include "headpond/engine/verdict/model_internal.h"

namespace headpond::internal {
namespace {

TEST(Model, TheLargestDemandDecides) {
  EXPECT_DOUBLE_EQ((Model{.program = 0.02}).rate(), 50);
  EXPECT_DOUBLE_EQ((Model{.program = 0.02, .processors = 2, .cpu = 0.1}).rate(), 20);
  EXPECT_DOUBLE_EQ((Model{.program = 0.02, .program_cpu = 0.02, .processors = 2, .cpu = 0.1}).rate(), 1 / 0.06);
  EXPECT_DOUBLE_EQ((Model{.program = 0.02, .blocked = 0.16, .may_block = 2}).rate(), 12.5);
  EXPECT_DOUBLE_EQ((Model{.program = 0.02, .serial = 0.05}).rate(), 20);
  EXPECT_DOUBLE_EQ((Model{.program = 0.02, .bandwidth = 0.1}).rate(), 10);
}

TEST(Model, IsThatOfTheFigures) {
  const Figures figures = run_of(44, 128);
  const Model model = model_of(figures);
  EXPECT_DOUBLE_EQ(model.program, 0.02);
  EXPECT_DOUBLE_EQ(model.cpu, 0.128);
  EXPECT_DOUBLE_EQ(model.processors, 2);
  EXPECT_DOUBLE_EQ(model.blocked, 0);
  EXPECT_NEAR(model.rate(), measured_rate(figures), 1e-9);
}

TEST(Model, CallsThatWaitCountByHowManyMay) {
  Figures figures = run_of(60, 0.1, 160);
  figures.io_threads = 8;
  EXPECT_DOUBLE_EQ(model_of(figures).may_block, 8);
  EXPECT_NEAR(model_of(figures).blocked, 0.1601, 1e-9);
}

TEST(Model, NoGainIsAboveWhatAPerfectInputWouldBring) {
  const Figures figures = run_of(20, 80);  // Half of the time it waits.
  const Model before = model_of(figures);
  Model after = before;
  after.cpu = 0;
  after.program = 0;
  EXPECT_DOUBLE_EQ(gain_of(figures, before, after), 2);
  after = before;
  after.cpu = 1;
  EXPECT_DOUBLE_EQ(gain_of(figures, before, after), 1) << "worse: no change is told";
}

TEST(Model, AWindowEvensOutUnevenBatches) {
  Figures even = run_of(15, 15), uneven = even;
  even.run_ahead = uneven.run_ahead = 0;
  for (size_t i = 0; i < uneven.stages[0].item_ns.size(); ++i) {
    uneven.stages[0].item_ns[i] = static_cast<float>((i % 4 == 0 ? 60 : 0) * kMsNs);
  }
  EXPECT_NEAR(gain_of_window(even, even.stages[0], 1), 35.0 / 20, 0.02);
  const double one = gain_of_window(uneven, uneven.stages[0], 1), four = gain_of_window(uneven, uneven.stages[0], 4);
  EXPECT_LT(one, 1.3);
  EXPECT_GT(four, 1.6);
  for (size_t i = 0; i < uneven.stages[0].item_ns.size(); ++i)
    uneven.stages[0].item_ns[i] = static_cast<float>((i % 40 == 0 ? 400 : 0) * kMsNs);
  EXPECT_EQ(gain_of_window(uneven, uneven.stages[0], 64), gain_of_window(uneven, uneven.stages[0], 16))
      << "no more are made ahead than what one takes seems to need";
  even.recent.clear();
  EXPECT_EQ(gain_of_window(even, even.stages[0], 4), 1) << "nothing was seen";
}

}  // namespace
}  // namespace headpond::internal
