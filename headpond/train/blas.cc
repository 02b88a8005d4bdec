// SPDX-License-Identifier: Apache-2.0
#include "headpond/train/blas.h"

#include <dlfcn.h>

#include <sstream>

#include "headpond/train/blas_internal.h"

namespace headpond {
namespace internal {
namespace {

template <class Function>
Function* find(const Symbols& symbols, const char* name) {
  return reinterpret_cast<Function*>(symbols(name));
}

std::string file_of(void* symbol) {
  Dl_info info{};
  return symbol != nullptr && dladdr(symbol, &info) != 0 && info.dli_fname != nullptr ? info.dli_fname : "no file";
}

}  // namespace

std::string openblas_description(const std::string& config, int parallel) {
  std::istringstream words(config);
  std::string name, version;
  words >> name >> version;
  const char* kind = parallel == 0 ? "serial" : parallel == 1 ? "pthread" : "openmp";
  return std::string("openblas-") + kind + " " + (version.empty() ? "of unknown version" : version);
}

Blas blas(const Symbols& symbols) {
  if (auto* config = find<char*()>(symbols, "openblas_get_config")) {
    auto* parallel = find<int()>(symbols, "openblas_get_parallel");
    auto* threads = find<int()>(symbols, "openblas_get_num_threads");
    return {openblas_description(config(), parallel != nullptr ? parallel() : 0), true,
            threads != nullptr ? threads() : 1};
  }
  if (auto* threads = find<int()>(symbols, "MKL_Get_Max_Threads")) return {"mkl", true, threads()};
  return {"reference (" + file_of(symbols("sgemm_")) + ")", false, 1};
}

Result<int> set_blas_threads(const Symbols& symbols, int threads) {
  if (threads < 1) {
    return fail(ErrorKind::InvalidArgument, "BLAS threads must be at least 1, got " + std::to_string(threads));
  }
  if (auto* set = find<void(int)>(symbols, "openblas_set_num_threads")) {
    set(threads);
  } else if (auto* set_mkl = find<void(int)>(symbols, "MKL_Set_Num_Threads")) {
    set_mkl(threads);
  } else if (auto* set_own = find<int(int)>(symbols, "MKL_Set_Num_Threads_Local")) {  // Inside of PyPI's libtorch.
    set_own(threads);
  }
  return blas(symbols).threads;
}

}  // namespace internal

namespace {
void* loaded(const char* name) { return dlsym(RTLD_DEFAULT, name); }
}  // namespace

Blas blas() { return internal::blas(loaded); }

Result<void> require_fast(const Blas& found) {
  if (found.fast) return {};
  return fail(ErrorKind::FailedPrecondition,
              "torch uses the BLAS \"" + found.description +
                  "\", which makes an LSTM step about 40 times slower than OpenBLAS; on Debian and Ubuntu: apt install "
                  "libopenblas0-pthread, or, if it is installed: update-alternatives --config "
                  "libblas.so.3-x86_64-linux-gnu");
}

Result<int> set_blas_threads(int threads) { return internal::set_blas_threads(loaded, threads); }

}  // namespace headpond
