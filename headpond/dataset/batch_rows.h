// SPDX-License-Identifier: Apache-2.0
// How many elements a batch has. Not for users.
#pragma once

#include <cstdint>

#include "headpond/tensor/element.h"

namespace headpond {

/// Rows of `batch`, whose fields are `spec`: the first dimension of its first field that has one; the row splits of a
/// ragged batch (`x`, `x.row_splits`) and the shape of a sparse one (`x.indices`, `x.values`, `x.shape`) tell theirs. 1
/// if all fields are scalars.
int64_t rows_of_batch(const Spec& spec, const Element& batch);

}  // namespace headpond
