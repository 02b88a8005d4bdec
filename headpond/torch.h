// SPDX-License-Identifier: Apache-2.0
// Batches as tensors of libtorch, and its threads.
#pragma once

#include "headpond/train/blas.h"
#include "headpond/train/tensors.h"
