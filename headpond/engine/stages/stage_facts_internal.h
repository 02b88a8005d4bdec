// SPDX-License-Identifier: Apache-2.0
// What a verdict must know of the operators of a stage, whatever they measured.
#pragma once

#include "headpond/engine/stages/stage_internal.h"
#include "headpond/engine/verdict/figures_internal.h"

namespace headpond::internal {

/// Its elements are batches, or made of them.
bool gives_batches(const Node& node);

/// top, serial, is_above_batch, has_one_file, prefix_bytes, prefix_operators. REQUIRES: the files of sources were
/// found.
StageFigures facts_of(const Stage& stage);

}  // namespace headpond::internal
