// SPDX-License-Identifier: Apache-2.0
// What needs libtorch: as_torch, which makes torch tensors of batches without a copy, and torch's BLAS threads.
#pragma once

#include "headpond/train/blas.h"
#include "headpond/train/tensors.h"
