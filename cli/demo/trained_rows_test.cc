// SPDX-License-Identifier: Apache-2.0
#include "cli/demo/trained_rows.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace headpond::cli {
namespace {

using testing::HasSubstr;

TEST(NucleiRow, HasBothTrainingsAndSaysWhatLimits) {
  const NucleiFigures figures{.train_pictures = 128,
                              .test_pictures = 32,
                              .steps = 200,
                              .batch = 8,
                              .iou = 0.612,
                              .iou_without = 0.1,
                              .images_per_s = 17,
                              .wait_share = 0.01,
                              .verdict = "device_bound: training"};
  const DemoRow row = nuclei_row(figures);
  EXPECT_DOUBLE_EQ(row.ours.value.value(), 61.2);
  EXPECT_EQ(
      row.ours.conditions,
      "the nucleus that is clicked, on 32 pictures of the test, whole; 200 steps of 8 crops of 128 others; without "
      "clicks 10.0 %; 17.0 images/s from samples that were prepared once");
  EXPECT_EQ(row.limited_by, "device_bound: training; training waits 1.0 % of its time; more steps raise the IoU");
}

TEST(SpokenRow, ComparesWarmInputsWithTurns) {
  const SpokenFigures figures{.train_files = 2700,
                              .test_files = 300,
                              .epochs = 5,
                              .accuracy = 0.955,
                              .prepare_s = 0.02,
                              .train_s = 0.01,
                              .turn_s = 0.03,
                              .fresh_s = 0.012,
                              .warm_s = 0.01,
                              .evaluations = 5,
                              .first_opens = 300,
                              .verdict = "device_bound: the step"};
  const DemoRow row = spoken_row(figures);
  EXPECT_DOUBLE_EQ(row.ours.value.value(), 3);
  EXPECT_DOUBLE_EQ(row.ceiling, 3);
  EXPECT_THAT(row.ours.conditions,
              HasSubstr("30.0 ms a step in turn, 12.0 with fresh inputs, whose making is not counted, "
                        "10.0 warm, through 5 evaluations; the first opens 300 files, the later ones 0."));
  EXPECT_THAT(row.ours.conditions, HasSubstr("Trained on 2700 recorded words: 95.5 % right of 300 after 5 epochs"));
  EXPECT_EQ(row.limited_by, "device_bound: the step");
}

}  // namespace
}  // namespace headpond::cli
