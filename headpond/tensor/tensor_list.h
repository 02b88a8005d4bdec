// SPDX-License-Identifier: Apache-2.0
// TensorList: tensors by number that are read when they are asked for, for kernels that need more data than their
// sample, as mix_noise needs noise. tensors_of() (dataset/tensors_of.h) makes one of a dataset.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "headpond/base/status.h"
#include "headpond/tensor/tensor.h"

namespace headpond {

struct TensorList {
  int64_t count = 0;
  /// Tensor number i, 0 <= i < count. Pure, and called by several threads at once.
  std::function<Result<Tensor>(int64_t)> read = {};
  std::string name = "";  ///< Stands for the tensors in the fingerprint of a state; "": a change is not noticed.
};

}  // namespace headpond
