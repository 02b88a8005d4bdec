// SPDX-License-Identifier: Apache-2.0
// The way that comes to mind first: everything is prepared in the training loop, on its thread, when it is needed.
#pragma once

#include "examples/preprocess_once/nuclei.h"

namespace preprocess_once {

/// Sample `number`: decodes the image and all its masks, draws the clicks, and asks each pixel how far each click is.
hp::Result<Sample> prepare_straightforwardly(const Picture& picture, uint64_t seed, int64_t number);

/// The distance channels alone. REQUIRES: `input` is as in Sample and not shared.
void measure_distances(const Clicks& clicks, hp::Tensor& input);

}  // namespace preprocess_once
