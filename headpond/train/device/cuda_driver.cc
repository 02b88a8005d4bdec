// SPDX-License-Identifier: Apache-2.0
#include <dlfcn.h>
#include <fmt/format.h>

#include "headpond/train/device/cuda_driver_internal.h"

namespace headpond::internal {
namespace {

Error no_driver(const char* path, const std::string& why) {
  return {ErrorKind::FailedPrecondition, fmt::format("CUDA: no driver {}: {}", path, why)};
}

// Puts the library's function `name` into the table; once one is missing, does no more.
struct Finder {
  void* library;
  const char* missing = nullptr;
  template <class Function>
  void operator()(Function& function, const char* name) {
    if (missing != nullptr) return;
    function = reinterpret_cast<Function>(dlsym(library, name));
    if (function == nullptr) missing = name;
  }
};

void find_memory(CudaDriver& driver, Finder& find) {
  find(driver.memory_allocate, "cuMemAlloc_v2");
  find(driver.memory_free, "cuMemFree_v2");
  find(driver.host_allocate, "cuMemHostAlloc");
  find(driver.host_free, "cuMemFreeHost");
  find(driver.copy_to_device, "cuMemcpyHtoDAsync_v2");
}

void find_streams(CudaDriver& driver, Finder& find) {
  find(driver.stream_create, "cuStreamCreate");
  find(driver.stream_destroy, "cuStreamDestroy_v2");
  find(driver.stream_wait_event, "cuStreamWaitEvent");
  find(driver.stream_synchronize, "cuStreamSynchronize");
  find(driver.event_create, "cuEventCreate");
  find(driver.event_record, "cuEventRecord");
  find(driver.event_query, "cuEventQuery");
  find(driver.event_synchronize, "cuEventSynchronize");
  find(driver.event_destroy, "cuEventDestroy_v2");
}

}  // namespace

Result<CudaDriver> open_cuda_driver(const char* path) {
  void* const library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    const char* const why = dlerror();
    return fail(no_driver(path, why != nullptr ? why : "it cannot be opened"));
  }
  CudaDriver driver{};
  Finder find{library};
  find(driver.init, "cuInit");
  find(driver.device_get, "cuDeviceGet");
  find(driver.primary_context_retain, "cuDevicePrimaryCtxRetain");
  find(driver.primary_context_release, "cuDevicePrimaryCtxRelease_v2");
  find(driver.context_push, "cuCtxPushCurrent_v2");
  find(driver.context_pop, "cuCtxPopCurrent_v2");
  find(driver.error_name, "cuGetErrorName");
  find_memory(driver, find);
  find_streams(driver, find);
  if (find.missing == nullptr) return driver;
  dlclose(library);
  return fail(no_driver(path, fmt::format("it has no function {}", find.missing)));
}

Result<const CudaDriver*> cuda_driver() {
  static const Result<CudaDriver> driver = []() -> Result<CudaDriver> {
    auto opened = open_cuda_driver("libcuda.so.1");
    if (!opened) return opened;
    if (const int status = opened->init(0); status != 0)
      return fail(no_driver("libcuda.so.1", fmt::format("cuInit returned {}", status)));
    return opened;
  }();
  if (!driver) return fail(driver.error());
  return &*driver;
}

}  // namespace headpond::internal
