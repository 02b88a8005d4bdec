// SPDX-License-Identifier: Apache-2.0
// A device for tests and trials: its memory is the process's, its clock goes on only when it is told to. A copy is made
// at its last moment, so one from memory that was given back too early shows in the data.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <span>
#include <vector>

#include "headpond/base/mutex.h"
#include "headpond/train/device/device_stream.h"

namespace headpond {

class FakeStream : public DeviceStream {
 public:
  /// A device with `memory` bytes. Throws Exception(InvalidArgument) unless both are above 0.
  explicit FakeStream(double bytes_per_s, int64_t memory = INT64_MAX);
  ~FakeStream() override;
  FakeStream(const FakeStream&) = delete;
  FakeStream& operator=(const FakeStream&) = delete;

  /// The program computes for so long; copies go on meanwhile.
  void compute(std::chrono::nanoseconds time);
  /// Since it was made: the time of compute() and of waiting for copies.
  std::chrono::nanoseconds now() const;
  int64_t bytes_copied() const;
  int64_t memory_in_use() const;
  int64_t allocations() const;  ///< Calls that gave memory.

  Result<void*> allocate(size_t bytes) override;
  void free(void* memory) noexcept override;
  Result<std::unique_ptr<DeviceCopy>> copy(std::span<const Part> parts) override;
  Result<void> before_program(DeviceCopy& copy) override;
  Result<void> after_program() override { return {}; }
  int device() const override { return -1; }

 private:
  class Copy;
  struct Pending {
    std::vector<Part> parts;
    std::chrono::nanoseconds end;
  };
  void go_on_to(std::chrono::nanoseconds time) HEADPOND_REQUIRES(mu_);

  const double bytes_per_s_;
  const int64_t memory_;
  mutable Mutex mu_;
  std::chrono::nanoseconds now_ HEADPOND_GUARDED_BY(mu_){0}, last_end_ HEADPOND_GUARDED_BY(mu_){0};
  std::deque<Pending> pending_ HEADPOND_GUARDED_BY(mu_);
  std::map<void*, size_t> blocks_ HEADPOND_GUARDED_BY(mu_);
  int64_t copied_ HEADPOND_GUARDED_BY(mu_) = 0, in_use_ HEADPOND_GUARDED_BY(mu_) = 0;
  int64_t allocations_ HEADPOND_GUARDED_BY(mu_) = 0;
};

}  // namespace headpond
