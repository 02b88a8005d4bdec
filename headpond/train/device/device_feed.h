// SPDX-License-Identifier: Apache-2.0
// A Loader's batches on a device: while the program works on one, the next is copied.
//
//   Loader loader(images, {.pool = value_or_throw(pinned_pool())});
//   DeviceFeed feed(loader, {.depth = 2, .stream = value_or_throw(cuda_stream())});
//   for (const DeviceBatch& batch : feed) step(value_or_throw(as_torch(batch["image"])), ...);
#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "headpond/base/list_of_names.h"
#include "headpond/base/status.h"
#include "headpond/engine/loader.h"
#include "headpond/train/device/device_stream.h"

namespace headpond {

/// Values on a device, row-major and contiguous. as_torch() makes a torch tensor of it (tensors.h).
struct DeviceTensor {
  void* data = nullptr;
  DType dtype = DType::u8;
  Shape shape = {0};
  int device = -1;                              ///< DeviceStream::device().
  std::shared_ptr<const void> owner = nullptr;  ///< Owns the whole batch's memory. The last may go on any thread.
};

/// Its memory is used again when this and the last owner of its tensors are gone.
class DeviceBatch {
 public:
  /// The reference lives as long as this. Throws Exception: InvalidArgument for a field that is not there;
  /// Unimplemented, with the field, for dtype bytes.
  const DeviceTensor& operator[](std::string_view name) const;
  const DeviceTensor& operator[](size_t i) const;
  void operator[](internal::ListOfNames) const = delete;
  size_t size() const { return tensors_.size(); }  ///< The number of fields.
  std::vector<std::string> names() const;          ///< Names of the fields; empty iff they have none.
  int64_t epoch() const { return epoch_; }
  int64_t index() const { return index_; }  ///< See Batch::index().

 private:
  friend class DeviceFeed;
  std::vector<DeviceTensor> tensors_;
  Element::Names names_;
  int64_t epoch_ = 0, index_ = 0;
};

struct DeviceFeedOptions {
  /// Batches that are on the device at once: the one that the program has, and those that are copied meanwhile. At
  /// least 1; 1: nothing is copied while the program works. They are taken from the Loader as if the program wanted
  /// each of them: where its memory has no room for them, they may exceed it by depth - 1 batches.
  int depth = 2;
  std::shared_ptr<DeviceStream> stream = nullptr;  ///< Null: cuda_stream() of device 0.
};

/// Starts no thread: next() begins the copies. A batch of the Loader is given back when its copy is done, at the next
/// call of next(). From large blocks that are not page-locked CUDA copies while next() waits: give the Loader a
/// pinned_pool().
/// One thread at a time.
class DeviceFeed {
 public:
  class Iterator;

  /// The Loader outlives it, or its close(); nobody else takes from it. Throws Exception: InvalidArgument for a depth
  /// below 1; FailedPrecondition without a driver or a device.
  explicit DeviceFeed(Loader& loader, DeviceFeedOptions options = {});
  ~DeviceFeed();  ///< Calls close().
  DeviceFeed(const DeviceFeed&) = delete;
  DeviceFeed& operator=(const DeviceFeed&) = delete;

  /// The next batch: what the program asks of the device from now on comes after its copy. It waits for the Loader only
  /// if no batch is under way, and begins to copy those that are ready. The end and errors are those of Loader::next(),
  /// after the batches before them. If the device has no memory, or cannot copy, its error is returned; the next call
  /// tries again with the same batch.
  Result<DeviceBatch> next();
  /// Waits for copies that are under way, and gives back all memory but the program's batches. Afterwards next()
  /// returns Cancelled; state() answers as before, and the Loader goes on after the batches that were taken from it. A
  /// second call does nothing.
  void close();
  /// Loader::state() after the last batch that next() returned.
  std::string state() const;

  /// All batches that are left: for (auto& batch : feed). The iterator throws Exception for an error; next() can go on
  /// after it.
  Iterator begin();
  std::default_sentinel_t end() const { return {}; }

 private:
  struct Parts;
  const std::unique_ptr<Parts> parts_;
};

/// Single pass. When it goes on it drops its batch: to keep one, copy or move it, or keep a tensor of it.
class DeviceFeed::Iterator {
 public:
  using value_type = DeviceBatch;
  using difference_type = std::ptrdiff_t;
  DeviceBatch& operator*() const { return *batch_; }
  Iterator& operator++();
  void operator++(int) { ++*this; }
  bool operator==(std::default_sentinel_t) const { return !batch_; }

 private:
  friend class DeviceFeed;
  explicit Iterator(DeviceFeed* feed) : feed_(feed) { ++*this; }
  DeviceFeed* feed_;
  mutable std::optional<DeviceBatch> batch_;
};

}  // namespace headpond
