// SPDX-License-Identifier: Apache-2.0
// The input of the digit network as a dataset, run by a Loader: slices, shuffled, scaled, stacked, with a sleep for
// each batch that stands for slow storage. It has no settings: the Loader finds the number of threads and batches
// ahead.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <stop_token>

#include "headpond/engine/loader.h"
#include "headpond/queue/runner/coordinator.h"
#include "headpond/train/articles/mnist/mnist_data.h"

namespace headpond {

struct MnistLoaderOptions {
  std::chrono::milliseconds sleep{50};  ///< For each batch; declared blocking. 0: no sleep.
  int64_t batch = 32;
  uint64_t seed = 7;
};

/// f32 "image" [batch, 28, 28] in 0..1 and i64 "label" [batch]; endless epochs, each in a different order and without a
/// partial batch. One thread.
class MnistLoader {
 public:
  /// `data` must outlive this. Threads inherit the CPUs of the constructing thread. Throws Exception(InvalidArgument)
  /// for options that contradict the data.
  MnistLoader(const MnistData& data, const MnistLoaderOptions& options, const std::stop_token& stop = {});
  MnistLoader(const MnistLoader&) = delete;
  MnistLoader& operator=(const MnistLoader&) = delete;
  ~MnistLoader() { (void)sleepers_->request_stop(); }

  /// Cancelled iff `stop` was requested.
  Result<Element> next();
  LoaderStats stats() const { return loader_.stats(); }
  const Loader& loader() const { return loader_; }
  /// Images that are ready.
  int64_t in_store() const;

 private:
  Dataset described(const MnistData& data, const MnistLoaderOptions& options);

  const std::stop_token stop_;
  const int64_t batch_;
  const std::shared_ptr<Coordinator> sleepers_ = std::make_shared<Coordinator>();  // Has no threads; sleeps wait on it.
  const std::stop_callback<std::function<void()>> forwarded_;
  Loader loader_;  // Last: its threads use the members above.
};

}  // namespace headpond
