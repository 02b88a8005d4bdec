// SPDX-License-Identifier: Apache-2.0
// 20: the files that the example programs train on. The programs are run as users run them (trainings.py).
#include <fmt/format.h>

#include "headpond/codec/image/jpeg.h"
#include "headpond/train/articles/digits/patterns.h"
#include "headpond/train/articles/digits/tones.h"
#include "scenario.h"

namespace headpond::scenarios {

// corpus: J, as loose files, and tones of ten kinds, as the clips of W have no classes.
void train_from_cpp(const Run& run, JsonWriter& figures) {
  figures.member("jpeg", has_jpeg());
  if (!has_jpeg()) return;
  value_or_throw(
      draw_patterns(run.place + "/pictures", {.train = run.full ? 8000 : 1000, .test = 200, .least = 96, .most = 512}));
  value_or_throw(draw_tones(run.place + "/sounds", {.takes = run.full ? 150 : 50}));
}

}  // namespace headpond::scenarios
