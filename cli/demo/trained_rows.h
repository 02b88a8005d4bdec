// SPDX-License-Identifier: Apache-2.0
// The demo's rows about the trainings of the second and the fourth article.
#pragma once

#include <cstdint>
#include <string>

#include "cli/demo/demo_table.h"

namespace headpond::cli {

struct NucleiFigures {
  bool is_drawn = false;
  int64_t train_pictures = 0, test_pictures = 0, steps = 0, batch = 0;
  double iou = 0, iou_without = 0;  ///< With clicks and without.
  double images_per_s = 0, wait_share = 0;
  std::string verdict = "";  ///< Verdict of the training with clicks, in a line.
};
DemoRow nuclei_row(const NucleiFigures& figures);

struct SpokenFigures {
  bool is_drawn = false;
  int64_t train_files = 0, test_files = 0, epochs = 0;
  double accuracy = 0;
  double prepare_s = 0, train_s = 0;           ///< Seconds of a batch; the preparation sleeps.
  double turn_s = 0, fresh_s = 0, warm_s = 0;  ///< Seconds of a step.
  int64_t evaluations = 0, first_opens = 0,
          later_opens = 0;   ///< In the warm run; files opened by the first and by all later ones.
  std::string verdict = "";  ///< Verdict of the warm run, in a line.
};
DemoRow spoken_row(const SpokenFigures& figures);

}  // namespace headpond::cli
