// SPDX-License-Identifier: Apache-2.0
// The engine: delivers what a dataset says, in its order and byte for byte, made ahead by all cores.
//
//   Loader loader(digits, {.epochs = 3, .seed = 7});
//   for (auto epoch : loader.epochs()) {
//     for (const Batch& batch : epoch) step(batch["image"], batch["label"]);
//   }
//
// There is nothing to tune: how far it runs ahead follows from how long a batch takes to make and how often one is
// taken; how much one thread takes at a time, from what it costs; batches that cost less than waking a thread are made
// by the thread that asks. Options are ceilings.
#pragma once

#include <cstdint>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "headpond/base/status.h"
#include "headpond/dataset/dataset.h"
#include "headpond/engine/batch.h"
#include "headpond/engine/loader_stats.h"

namespace headpond {

struct LoaderOptions {
  int64_t epochs = 1;  ///< All together, also after a restore. Below 0: for ever.
  uint64_t seed = 0;
  /// Threads that compute, at most 4,096; 0: next() does all the work. Below 0: as many as processors may be used.
  int threads = -1;
  /// Threads for operators that wait, declared blocking or, unless threads is 1, found to wait; started as they are
  /// needed. 1 to 4,096, or 0 if threads is.
  int io_threads = 256;
  /// Bytes of elements that are made, waiting or held by the program. Only the batch that next() waits for may go
  /// beyond, and it must fit alone; and, where sizes differ, what threads are at when elements first become larger.
  int64_t memory = int64_t{1} << 30;
  /// Most batches made ahead of the program; 0: each is made when it is asked for. Below 0: no ceiling but memory.
  int64_t run_ahead = -1;
  /// While next() waits it works at the batch that it waits for, if a processor is free.
  bool consumer_helps = true;
  /// false: what is ready first comes first. Then the order is that of one run, and state() lists what came early.
  bool deterministic = true;
};

/// Epoch after epoch. One thread at a time, except stats().
class Loader {
 public:
  class BatchIterator;
  class Epoch;
  class Epochs;

  /// Starts nothing yet. Throws Exception: InvalidArgument for options that cannot be, and for an epoch without an end
  /// when there is more than one; ResourceExhausted for batches of known size that are larger than the memory.
  explicit Loader(const Dataset& dataset, const LoaderOptions& options = {});
  /// Goes on where `state` was taken, by a Loader or a Sequence, with any threads and memory. FailedPrecondition, the
  /// difference named, for the state of another pipeline, seed or source; DataLoss for a damaged one.
  static Result<Loader> restored(const Dataset& dataset, const LoaderOptions& options, std::string_view state);
  /// Returns within about a second: a thread whose operator does not return by then is left behind, and named on
  /// stderr.
  ~Loader();
  Loader(Loader&& other) noexcept;

  /// The next batch: `while (auto batch = loader.next()) step(*batch);`. After the last batch of the last epoch it
  /// returns OutOfRange without a cause (Error::is_end()), and so does each later call. Any other error takes the place
  /// of its batch, after all earlier ones; the next call goes on without the element that failed, unless the source is
  /// lost.
  Result<Batch> next();
  /// The same, but also returns the end after the last batch of each epoch; the call after that begins the next epoch.
  Result<Batch> next_in_epoch();
  /// Leaves out the rest of this epoch.
  void next_epoch();

  /// All batches that are left, of all epochs: for (auto& batch : loader). The iterator throws Exception for an error;
  /// going on is next()'s.
  BatchIterator begin() &;
  std::default_sentinel_t end() const { return {}; }
  /// The epochs that are left, each a range of batches, as above. Not of a temporary, which would end before them.
  Epochs epochs() &;

  /// Where this stands after the last batch that it gave: the bytes that Sequence::state() gives there.
  std::string state() const;
  /// Any thread, any time.
  LoaderStats stats() const;

 private:
  struct Run;
  int64_t epoch_left() const;  // The one that comes next; -1: none.
  std::unique_ptr<Run> run_;
};

/// Over the batches of one epoch or of all. Single pass.
class Loader::BatchIterator {
 public:
  using value_type = Batch;
  using difference_type = std::ptrdiff_t;
  const Batch& operator*() const { return *batch_; }
  BatchIterator& operator++();
  void operator++(int) { ++*this; }
  bool operator==(std::default_sentinel_t) const { return !batch_; }

 private:
  friend class Loader;
  BatchIterator(Loader* loader, bool one_epoch) : loader_(loader), one_epoch_(one_epoch) { ++*this; }
  Loader* loader_;
  bool one_epoch_;
  std::optional<Batch> batch_;
};

/// The batches that are left of one epoch. Single pass.
class Loader::Epoch {
 public:
  BatchIterator begin() const { return BatchIterator(loader_, true); }
  std::default_sentinel_t end() const { return {}; }
  int64_t index() const { return epoch_; }

 private:
  friend class Loader;
  Epoch(Loader* loader, int64_t epoch) : loader_(loader), epoch_(epoch) {}
  Loader* loader_;
  int64_t epoch_;
};

/// The epochs that are left. Going on to the next one leaves out what is left of this one. Single pass.
class Loader::Epochs {
 public:
  class Iterator {
   public:
    using value_type = Epoch;
    using difference_type = std::ptrdiff_t;
    Epoch operator*() const { return Epoch(loader_, epoch_); }
    Iterator& operator++();
    void operator++(int) { ++*this; }
    bool operator==(std::default_sentinel_t) const { return epoch_ < 0; }

   private:
    friend class Epochs;
    explicit Iterator(Loader* loader);
    Loader* loader_;
    int64_t epoch_;  // Below 0: none is left.
  };
  Iterator begin() const { return Iterator(loader_); }
  std::default_sentinel_t end() const { return {}; }

 private:
  friend class Loader;
  explicit Epochs(Loader* loader) : loader_(loader) {}
  Loader* loader_;
};

}  // namespace headpond
