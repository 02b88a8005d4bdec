// SPDX-License-Identifier: Apache-2.0
// Blocks of a device's memory that are used again: allocating there waits for the device.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "headpond/base/mutex.h"
#include "headpond/train/device/device_stream.h"

namespace headpond::internal {

/// Thread-safe. Made by std::make_shared; lives as long as its blocks.
class DeviceMemory : public std::enable_shared_from_this<DeviceMemory> {
 public:
  /// Keeps at most `most_free` free blocks.
  DeviceMemory(std::shared_ptr<DeviceStream> stream, size_t most_free)
      : stream_(std::move(stream)), most_free_(most_free) {
    free_.reserve(most_free);  // What comes back allocates nothing.
  }
  ~DeviceMemory() { close(); }

  /// Copies into it come after what the program has asked of the device so far, if it had the block before.
  Result<std::shared_ptr<void>> allocate(size_t bytes);
  /// Frees what is free, and from now on what comes back.
  void close() noexcept;

 private:
  struct Block {
    void* data;
    size_t size;
  };
  Block take_free(size_t bytes);
  Result<Block> take_new(size_t bytes);
  void give_back(Block block) noexcept;

  const std::shared_ptr<DeviceStream> stream_;
  const size_t most_free_;
  Mutex mu_;
  bool is_closed_ HEADPOND_GUARDED_BY(mu_) = false;
  std::vector<Block> free_ HEADPOND_GUARDED_BY(mu_);  // The oldest first.
};

}  // namespace headpond::internal
