// SPDX-License-Identifier: Apache-2.0
// What needs libtorch: batches as torch tensors, without a copy; a Loader as a dataset of torch::data; torch's BLAS
// threads.
#pragma once

#include "headpond/train/blas.h"
#include "headpond/train/tensors.h"
#include "headpond/train/torch_batch.h"
#include "headpond/train/torch_dataset.h"
