// SPDX-License-Identifier: Apache-2.0
#include "cli/demo/trained_rows.h"

#include <fmt/core.h>

namespace headpond::cli {

DemoRow nuclei_row(const NucleiFigures& f) {
  return {.id = "nuclei.training",
          .what = "nuclei: trained with clicks",
          .article = {{}, "% IoU", "not reported for these pictures"},
          .flaw = "",
          .ours = {100 * f.iou, "% IoU",
                   fmt::format("the nucleus that is clicked, on {} of the test, {}; {} steps of {} crops of {} others; "
                               "without clicks {:.1f} %; {:.1f} images/s from samples that were prepared once",
                               times(f.test_pictures, "picture"), f.is_drawn ? "drawn" : "whole", f.steps, f.batch,
                               f.train_pictures, 100 * f.iou_without, f.images_per_s)},
          .ceiling = 100,
          .limited_by = fmt::format("{}; training waits {:.1f} % of its time; more steps raise the IoU", f.verdict,
                                    100 * f.wait_share)};
}

DemoRow spoken_row(const SpokenFigures& f) {
  // Sleeps last longer than asked, so the time of a step in turn is measured, not computed.
  const double best = f.turn_s / f.train_s, gain = f.turn_s / f.warm_s;
  return {.id = "spoken.warm",
          .what = "spoken digits: warm inputs",
          .article = {{}, "x", "2 s of preparing and 1 s of training; inputs made anew for each evaluation"},
          .flaw = "no time is given with both overlapped",
          .ours = {gain, "x",
                   fmt::format("as fast as in turn, with sleeps of {:.0f} and {:.0f} ms: {:.1f} ms a step in turn, "
                               "{:.1f} with fresh inputs, whose making is not counted, {:.1f} warm, through {}; the "
                               "first opens {}, the later ones {}. Trained on {} {}: {:.1f} % right of {} after {}",
                               1e3 * f.prepare_s, 1e3 * f.train_s, 1e3 * f.turn_s, 1e3 * f.fresh_s, 1e3 * f.warm_s,
                               times(f.evaluations, "evaluation"), times(f.first_opens, "file"), f.later_opens,
                               f.train_files, f.is_drawn ? "drawn words" : "recorded words", 100 * f.accuracy,
                               f.test_files, times(f.epochs, "epoch"))},
          .ceiling = best,
          .limited_by = f.verdict};
}

}  // namespace headpond::cli
