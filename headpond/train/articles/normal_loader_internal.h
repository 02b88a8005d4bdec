// SPDX-License-Identifier: Apache-2.0
// The batches of a NormalBatches, delivered by a Loader: the same bytes in the same order.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <stop_token>

#include "headpond/engine/loader.h"
#include "headpond/train/articles/normals.h"

namespace headpond::internal {

/// No settings. Batches of the project's generator are made row by row, by all threads; those of the standard library
/// one after the other, as its generator requires. One thread.
class NormalLoader {
 public:
  /// The next `count` batches of `batches`, which must not be used meanwhile and afterwards is after them. Threads
  /// inherit the CPUs of the constructing thread.
  NormalLoader(NormalBatches& batches, int64_t count, const std::stop_token& stop);
  /// Abandons unfinished batches.
  ~NormalLoader();
  NormalLoader(const NormalLoader&) = delete;
  NormalLoader& operator=(const NormalLoader&) = delete;

  /// OutOfRange after the last one; Cancelled iff `stop` was requested.
  Result<Tensor> next();
  /// CPU time that all threads spent on batches so far.
  int64_t work_ns() const { return work_ns_.load(); }
  const Loader& loader() const { return loader_; }

 private:
  Dataset described(NormalBatches& batches, int64_t count);
  Dataset rows(NormalBatches& batches, int64_t count);

  std::stop_source ends_;
  const std::stop_callback<std::function<void()>> forwarded_;
  std::atomic<int64_t> work_ns_ = 0;
  Loader loader_;  // Last: its threads use the members above.
};

}  // namespace headpond::internal
