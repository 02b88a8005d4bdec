// SPDX-License-Identifier: Apache-2.0
// A device's memory, and a stream of copies into it beside the program's own work there: what a DeviceFeed needs of a
// device. CUDA's is made by cuda_stream() (cuda.h); FakeStream is one for tests.
#pragma once

#include <cstddef>
#include <memory>
#include <span>

#include "headpond/base/status.h"

namespace headpond {

/// Fields that a DeviceStream was asked to copy together.
class DeviceCopy {
 public:
  virtual ~DeviceCopy() = default;
  virtual bool is_done() = 0;
  /// Returns when it is done, or cannot be done any more: then with the device's error.
  virtual Result<void> wait() = 0;
};

/// Thread-safe. Outlives its memory and its copies.
class DeviceStream {
 public:
  struct Part {
    void* to;  ///< Memory of the device.
    const void* from;
    size_t bytes;
  };

  virtual ~DeviceStream() = default;
  /// Aligned to 256. ResourceExhausted iff there is not so much.
  virtual Result<void*> allocate(size_t bytes) = 0;
  /// Waits for copies into it.
  virtual void free(void* memory) noexcept = 0;
  /// Begins to copy, after all earlier copies; may return before it is done. Until then all memory of it must stay as
  /// it is. After an error none of its parts is under way.
  virtual Result<std::unique_ptr<DeviceCopy>> copy(std::span<const Part> parts) = 0;
  /// Work that the program asks of the device from now on comes after `copy`.
  virtual Result<void> before_program(DeviceCopy& copy) = 0;
  /// Copies that begin from now on come after what the program has asked of the device so far.
  virtual Result<void> after_program() = 0;
  /// The CUDA device that the memory belongs to; -1: it is the process's.
  virtual int device() const = 0;
};

}  // namespace headpond
