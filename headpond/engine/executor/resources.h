// SPDX-License-Identifier: Apache-2.0
// Threads and memory that several Loaders share: a training's input and its evaluation's, say.
//
//   const auto resources = std::make_shared<Resources>(ResourcesOptions{.memory = int64_t{2} << 30});
//   Loader train(images, {.epochs = -1, .resources = resources}), eval(tests, {.resources = resources});
#pragma once

#include <cstdint>
#include <memory>

#include "headpond/base/cpu.h"

namespace headpond {

class BufferPool;

/// Bytes of memory for a Loader that is told no other number: 1 GiB or, if that is less, half of the `usable` bytes.
int64_t default_memory(uint64_t usable = usable_memory());

struct ResourcesOptions {
  /// Compute threads of all Loaders together, at most 4,096. Below 0: one for each processor of the process. 0:
  /// each next() does all the work.
  int threads = -1;
  int64_t memory = default_memory();           ///< See LoaderOptions::memory; for all Loaders together. At least 1.
  std::shared_ptr<BufferPool> pool = nullptr;  ///< See LoaderOptions::pool; for all Loaders together.
};

namespace internal {
class SharedThreads;
struct SharedMemory;
}  // namespace internal

/// Each Loader has threads of its own, but no more of them compute at once than `threads`: those for a waiting next()
/// first, then those of the Loader that was called last. So while a program evaluates, the threads work for the
/// evaluation, and for the training's next batches when a processor is free. What is ready stays, in up to three
/// quarters of the memory for each Loader; a waiting next() always makes its batch, also where a function of one Loader
/// reads from another. Threads are not pinned to processors. Thread-safe. It lives as long as its Loaders and their
/// batches.
class Resources {
 public:
  /// Throws Exception(InvalidArgument) for numbers that cannot be.
  explicit Resources(const ResourcesOptions& options = {});
  Resources(const Resources&) = delete;
  Resources& operator=(const Resources&) = delete;
  ~Resources();

  int threads() const { return threads_; }
  int64_t memory() const;
  int64_t memory_in_use() const;  ///< See LoaderStats::memory_in_use; of all Loaders together.
  int running() const;            ///< Threads that compute now.

  // For the Loader.
  const std::shared_ptr<internal::SharedThreads>& shared_threads() const { return shared_threads_; }
  const std::shared_ptr<internal::SharedMemory>& shared_memory() const { return shared_memory_; }

 private:
  const int threads_;
  const std::shared_ptr<internal::SharedThreads> shared_threads_;
  const std::shared_ptr<internal::SharedMemory> shared_memory_;
};

}  // namespace headpond
