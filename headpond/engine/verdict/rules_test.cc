// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include <algorithm>
#include <vector>

#include "headpond/engine/verdict/figures_test_internal.h"
#include "headpond/engine/verdict/rules_internal.h"

namespace headpond::internal {
namespace {

TEST(Rules, TheLimitingStageIsTheLastThatIsWaitedFor) {
  Figures figures = run_of(44, 1);
  figures.stages.push_back(run_of(44, 128).stages[0]);
  figures.stages[1].name = "tfrecord";
  EXPECT_EQ(limiting_stage(figures)->name, "tfrecord");
  figures.stages[1].totals.takes = 1000;
  figures.stages[1].totals.late = 9;
  EXPECT_EQ(limiting_stage(figures)->name, "tfrecord") << "seldom late, but long: a file is opened";
  figures.stages[1].totals.starved_ns = 0.4 * figures.call_ns;
  EXPECT_EQ(limiting_stage(figures)->name, "read|map|batch");
  figures.stages.clear();
  EXPECT_EQ(limiting_stage(figures), nullptr);
  EXPECT_EQ(code_of(figures), ReasonCode::none);
}

TEST(Rules, WithoutASampleTheTimeOfTasksTellsTheOperator) {
  StageFigures stage = run_of(44, 128).stages[0];
  stage.serial = {"from_generator", ""};
  EXPECT_EQ(top_operator(stage).op, "map") << "the sample";
  stage.operators.clear();
  EXPECT_EQ(top_operator(stage).title, "batch(batch_size=32)");
  stage.totals.open.wall_ns = 0.9 * stage.totals.make.wall_ns;
  EXPECT_EQ(top_operator(stage).op, "batch") << "it takes more than the source";
  stage.totals.open.wall_ns = 1.1 * stage.totals.make.wall_ns;
  EXPECT_EQ(top_operator(stage).op, "from_generator");
  stage.serial = {};
  EXPECT_EQ(top_operator(stage).op, "batch") << "without a source of its own";
}

}  // namespace
}  // namespace headpond::internal
