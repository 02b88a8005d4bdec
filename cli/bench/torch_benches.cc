// SPDX-License-Identifier: Apache-2.0
#include "cli/bench/benches.h"

namespace headpond::cli {

TorchBenches torch_benches() { return {.mnist_sleep = mnist_sleep_bench, .blstm_step = blstm_step_bench}; }

}  // namespace headpond::cli
