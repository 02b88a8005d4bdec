// SPDX-License-Identifier: Apache-2.0
// The input of the digit network as a dataset, run by a Loader: slices, shuffled, scaled, stacked, and a sleep for each
// batch that stands for slow storage. Nothing is set: how far it runs ahead, and on how many threads, it finds out.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <stop_token>

#include "headpond/engine/loader.h"
#include "headpond/queue/runner/coordinator.h"
#include "headpond/train/articles/mnist_data.h"

namespace headpond {

struct MnistLoaderOptions {
  std::chrono::milliseconds sleep{50};  ///< For each batch; declared blocking. 0: no such step.
  int64_t batch = 32;
  uint64_t seed = 7;
};

/// f32 "image" [batch, 28, 28] in 0..1 and i64 "label" [batch], epoch after epoch without end, each in another order
/// and without its remainder. One thread.
class MnistLoader {
 public:
  /// `data` outlives this. Threads may run where the thread that makes this may. Throws Exception(InvalidArgument) for
  /// options that contradict the data.
  MnistLoader(const MnistData& data, const MnistLoaderOptions& options, const std::stop_token& stop = {});
  MnistLoader(const MnistLoader&) = delete;
  MnistLoader& operator=(const MnistLoader&) = delete;
  ~MnistLoader() { (void)sleepers_->request_stop(); }

  /// Cancelled iff `stop` was requested.
  Result<Element> next();
  LoaderStats stats() const { return loader_.stats(); }
  /// Images that are ready to be taken.
  int64_t in_store() const;

 private:
  Dataset described(const MnistData& data, const MnistLoaderOptions& options);

  const std::stop_token stop_;
  const int64_t batch_;
  const std::shared_ptr<Coordinator> sleepers_ =
      std::make_shared<Coordinator>();  // Without threads: what a sleep waits on.
  const std::stop_callback<std::function<void()>> forwarded_;
  Loader loader_;  // Last: what its threads use is made before.
};

}  // namespace headpond
