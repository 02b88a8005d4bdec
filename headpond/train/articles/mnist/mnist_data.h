// SPDX-License-Identifier: Apache-2.0
// The digits that the small network learns: MNIST's four files, or drawn digits in the same form.
#pragma once

#include <cstdint>
#include <stop_token>
#include <string>

#include "headpond/base/list_of_names.h"
#include "headpond/base/status.h"
#include "headpond/tensor/tensor.h"

namespace headpond {

struct MnistData {
  Tensor train_images = {};  ///< u8 [n, 28, 28].
  Tensor train_labels = {};  ///< u8 [n], each below 10.
  Tensor test_images = {}, test_labels = {};
  std::string source = {};  ///< The folder that was read.
  uint32_t digest = 0;      ///< CRC-32C of the four tensors' bytes, in the order above.
};

/// Reads the four files of `folder`, each plain or with ".gz"; of the program's own digit set
/// (train/articles/digits/digits.h) iff `folder` is empty. NotFound names the missing file; InvalidArgument iff images
/// are not 28x28 bytes, their number is not that of the labels, or a label is above 9 (with its file and index).
Result<MnistData> load_mnist(const std::string& folder, const std::stop_token& stop = {});
void load_mnist(internal::ListOfNames, const std::stop_token& = {}) = delete;

}  // namespace headpond
