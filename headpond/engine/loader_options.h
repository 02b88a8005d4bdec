// SPDX-License-Identifier: Apache-2.0
// Options of a Loader. None needs tuning: those of threads, memory and run-ahead are upper limits.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

namespace headpond {

class BufferPool;
class Resources;

struct LoaderOptions {
  int64_t epochs = 1;  ///< Those before a restored state included. Below 0: no end.
  uint64_t seed = 0;
  /// Threads that compute, at most 4,096. 0: next() does all the work. Below 0: as many as the dataset says
  /// (with_options), else one for each processor that the process may use.
  int threads = -1;
  /// Most threads for operators that wait: those declared blocking and, unless `threads` is 1, those whose waiting is
  /// detected. Threads are started when needed. 1 to 4,096; 0 only if `threads` is 0. Where the address space is
  /// limited (RLIMIT_AS), no more than have their stacks in a quarter of it.
  int io_threads = 256;
  /// Most bytes of elements that are being made, are ready, or are held by the program; at the limit nothing more is
  /// made ahead, and only one batch is while the program holds more than half of it, with one warning in the log. It is
  /// exceeded in two cases: next() always makes its batch, even if the program holds all of the memory; and elements of
  /// unknown size may grow while they are made. A single batch above the limit is ResourceExhausted: thrown by the
  /// constructor if its size is known, else returned by next(). At least 1. Without a value: what the dataset says
  /// (with_options), else default_memory().
  std::optional<int64_t> memory = std::nullopt;
  /// Most batches made ahead of the program. 0: each is made when next() asks for it. Below 0: as many as a prefetch at
  /// the end of the dataset says, else only memory limits.
  int64_t run_ahead = -1;
  /// While next() waits, it helps to make the batch that it waits for, if a processor is free.
  bool consumer_helps = true;
  /// false: batches come in the order in which they are ready. Then each run has its own order, and state() lists the
  /// batches that came early. Without a value: what the dataset says (with_options), else true.
  std::optional<bool> deterministic = std::nullopt;
  /// A file to which each failed element that on_error handles is appended, before next() returns a later batch: see
  /// docs/bad_samples.md. "": none.
  std::string quarantine = "";
  /// When there are as many threads as processors, each runs on a processor of its own. If the program also computes in
  /// other threads than the one that calls next(), as PyTorch does in its backward pass, the operating system places
  /// all threads. false: it always does.
  bool pin_threads = true;
  /// How long ~Loader waits for functions that run. Without a value, the default, it waits until they return. With one,
  /// at least 0, it leaves their threads running after that time: whatever such a function captured or refers to must
  /// then live as long as the process, and so must the code itself, which a plug-in must not unload.
  std::optional<std::chrono::milliseconds> abandon_after = {};
  /// Threads and memory that Loaders share (engine/executor/resources.h); null: this one has its own. `threads` and
  /// `memory` are then those of the Resources, unless `threads` says fewer.
  std::shared_ptr<Resources> resources = nullptr;
  /// Where elements are made, instead of a pool of the Loader's own: one of page-locked memory, say
  /// (pinned_pool(), train/device/cuda.h). It keeps no more than `memory` from then on, and what others have of it
  /// counts as the Loader's. With `resources` it is refused: ResourcesOptions has one.
  std::shared_ptr<BufferPool> pool = nullptr;
};

}  // namespace headpond
