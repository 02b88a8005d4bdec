// SPDX-License-Identifier: Apache-2.0
// CUDA: page-locked memory for a Loader, and the stream on which a DeviceFeed copies. The driver (libcuda.so.1) is
// opened when it is first asked for, so programs are built and run without CUDA.
//
// The tests run this with a driver of their own, which notes the calls. What only a device can show (that copies
// overlap, that the driver takes these arguments) tests/device_driver.cc does.
#pragma once

#include <cstdint>
#include <memory>

#include "headpond/base/status.h"
#include "headpond/tensor/buffer.h"
#include "headpond/train/device/device_stream.h"

namespace headpond {

/// For LoaderOptions::pool: a device copies from its memory while the processor does other work. Blocks below 64 KiB
/// are ordinary memory, as the driver locks whole pages; the driver stages their copies itself. The others cannot be
/// swapped out, so the Loader's memory should be well below the machine's. FailedPrecondition iff there is no driver or
/// no such device. A block that the driver refuses is std::bad_alloc, as of any pool. torch's is_pinned() knows such
/// memory once torch itself has used CUDA. Up to 64 MiB of blocks that the pool has given back stay page-locked for the
/// next ones of their size, until the pool and its last block are gone: unlocking waits for all work of the device.
Result<std::shared_ptr<BufferPool>> pinned_pool(int device = 0);

struct CudaStreamOptions {
  int device = 0;
  /// The CUstream on which the program works, which outlives this: at::cuda::getCurrentCUDAStream().stream(), say.
  /// Null: the default stream, on which torch works unless it is told otherwise.
  void* program = nullptr;
};

/// A stream of copies beside the program's. Uses the device's primary context, as torch does. FailedPrecondition iff
/// there is no driver or no such device.
Result<std::shared_ptr<DeviceStream>> cuda_stream(const CudaStreamOptions& options = {});

}  // namespace headpond
