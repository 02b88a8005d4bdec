// SPDX-License-Identifier: Apache-2.0
// The same questions with the symbol table as an argument, so that tests can show a process without OpenBLAS.
#pragma once

#include <functional>

#include "headpond/train/blas.h"

namespace headpond::internal {

/// The address of a C symbol, or nullptr iff no loaded library has it.
using Symbols = std::function<void*(const char* name)>;

Blas blas(const Symbols& symbols);
Result<int> set_blas_threads(const Symbols& symbols, int threads);

/// "OpenBLAS 0.3.21 NO_LAPACKE ..." and 1 become "openblas-pthread 0.3.21". `parallel` counts as OpenBLAS does:
/// 0 sequential, 1 pthread, 2 OpenMP.
std::string openblas_description(const std::string& config, int parallel);

}  // namespace headpond::internal
