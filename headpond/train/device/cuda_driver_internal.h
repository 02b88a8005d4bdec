// SPDX-License-Identifier: Apache-2.0
// The functions of CUDA's driver that are used, by their names and types in cuda.h of CUDA 11 and later.
#pragma once

#include <cstddef>
#include <memory>

#include "headpond/base/status.h"
#include "headpond/tensor/buffer.h"
#include "headpond/train/device/device_stream.h"

namespace headpond::internal {

struct CudaDriver {
  using Status = int;
  using Device = int;
  using Address = unsigned long long;
  using Context = void*;
  using Stream = void*;
  using Event = void*;

  Status (*init)(unsigned flags);
  Status (*device_get)(Device*, int ordinal);
  Status (*primary_context_retain)(Context*, Device);
  Status (*primary_context_release)(Device);
  Status (*context_push)(Context);
  Status (*context_pop)(Context*);
  Status (*memory_allocate)(Address*, size_t bytes);
  Status (*memory_free)(Address);
  Status (*host_allocate)(void**, size_t bytes, unsigned flags);
  Status (*host_free)(void*);
  Status (*copy_to_device)(Address to, const void* from, size_t bytes, Stream);
  Status (*stream_create)(Stream*, unsigned flags);
  Status (*stream_destroy)(Stream);
  Status (*stream_wait_event)(Stream, Event, unsigned flags);
  Status (*stream_synchronize)(Stream);
  Status (*event_create)(Event*, unsigned flags);
  Status (*event_record)(Event, Stream);
  Status (*event_query)(Event);
  Status (*event_synchronize)(Event);
  Status (*event_destroy)(Event);
  Status (*error_name)(Status, const char**);
};

/// The functions of the shared library `path`, which stays open. FailedPrecondition iff it cannot be opened or lacks
/// one.
Result<CudaDriver> open_cuda_driver(const char* path);
/// The system's driver, initialised; lives as long as the process. FailedPrecondition: there is none.
Result<const CudaDriver*> cuda_driver();

/// pinned_pool() and cuda_stream() by a driver that is initialised, and outlives them and their memory.
Result<std::shared_ptr<BufferPool>> pinned_pool_of(const CudaDriver& driver, int device);
Result<std::shared_ptr<DeviceStream>> cuda_stream_of(const CudaDriver& driver, int device, CudaDriver::Stream program);

}  // namespace headpond::internal
