// SPDX-License-Identifier: Apache-2.0
#include <ATen/Parallel.h>

#include "cli/session.h"
#include "headpond/train/blas.h"

namespace headpond::cli {

TorchInfo torch_info() {
  const Blas found = blas();
  return {found.description, found.threads, at::get_num_threads()};
}

}  // namespace headpond::cli
