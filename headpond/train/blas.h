// SPDX-License-Identifier: Apache-2.0
// Which matrix library (BLAS) torch uses, and with how many threads. With the reference BLAS an LSTM step takes about
// 40 times as long as with OpenBLAS, and torch::set_num_threads does not change OpenBLAS's threads. Both are looked up
// among the libraries that this process has loaded.
#pragma once

#include <string>

#include "headpond/base/status.h"

namespace headpond {

struct Blas {
  std::string description;  ///< "openblas-pthread 0.3.21", "mkl", or "reference (<file of the library>)".
  bool fast = false;        ///< False iff it is neither OpenBLAS nor MKL.
  int threads = 1;          ///< What the library reports now; 1 if it has no threads.
};

/// The BLAS of this process. Thread-safe.
Blas blas();

/// FailedPrecondition, which says what to install, iff `found` is not fast.
Result<void> require_fast(const Blas& found);

/// Sets the threads of OpenBLAS or MKL and returns how many it then reports. Those of an MKL that libtorch has inside
/// are set for the calling thread alone. InvalidArgument iff threads < 1.
/// REQUIRES: no matrix is being multiplied.
Result<int> set_blas_threads(int threads);

}  // namespace headpond
