// SPDX-License-Identifier: Apache-2.0
// Which matrix library torch runs on, and how many threads it may use. With the reference BLAS an LSTM step takes about
// forty times as long as with OpenBLAS, and torch::set_num_threads does not reach OpenBLAS: both are looked up among
// the libraries that this process has loaded.
#pragma once

#include <string>

#include "headpond/base/status.h"

namespace headpond {

struct Blas {
  std::string description;  ///< "openblas-pthread 0.3.21", "mkl", or "reference (<file of the library>)".
  bool fast = false;        ///< False iff it is neither OpenBLAS nor MKL.
  int threads = 1;          ///< What the library says it uses now; 1 where it has no threads.
};

/// The BLAS of this process. Thread-safe.
Blas blas();

/// FailedPrecondition, saying what to install, iff `found` is not fast.
Result<void> require_fast(const Blas& found);

/// Gives OpenBLAS (or MKL) `threads` threads and returns how many it then reports. InvalidArgument iff threads < 1.
/// Call while no matrix is being multiplied.
Result<int> set_blas_threads(int threads);

}  // namespace headpond
