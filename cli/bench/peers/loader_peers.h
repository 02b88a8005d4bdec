// SPDX-License-Identifier: Apache-2.0
// Other libraries' loaders, for loader.mnist.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "headpond/base/status.h"
#include "headpond/tensor/tensor.h"

namespace headpond::cli {

struct LoaderPeer {
  std::string name, version;
  /// One epoch, read by xor_of. May throw.
  std::function<Result<uint64_t>()> epoch;
};

/// torch::data, each way with 0, 1 and 2 workers: an example at a time from u8 and Stack ("torch::data get"), its own
/// MNIST class ("torch::data MNIST"), and get_batch by index_select ("torch::data get_batch"). Empty without libtorch.
std::vector<LoaderPeer> torch_data_peers(const Tensor& images, const Tensor& labels, int64_t batch_size);

}  // namespace headpond::cli
