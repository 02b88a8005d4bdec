// SPDX-License-Identifier: Apache-2.0
// The Loader: delivers the elements of a dataset, in order and byte for byte as Sequence does, prepared ahead by
// threads.
//
//   Loader loader(digits, {.epochs = 3, .seed = 7});
//   for (auto epoch : loader.epochs()) {
//     for (const Batch& batch : epoch) step(batch["image"], batch["label"]);
//   }
//
// There is nothing to tune. How far it runs ahead follows from how long a batch takes to make and how often the program
// takes one; how much work a thread claims at a time follows from what it costs; batches that cost less than waking a
// thread are made by next() itself. The options for threads, memory and run-ahead are upper limits.
#pragma once

#include <cstdint>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "headpond/base/status.h"
#include "headpond/dataset/dataset.h"
#include "headpond/engine/batch.h"
#include "headpond/engine/loader_options.h"
#include "headpond/engine/loader_stats.h"
#include "headpond/engine/loader_view.h"
#include "headpond/engine/verdict/profile.h"
#include "headpond/engine/verdict/verdict.h"

namespace headpond {

namespace internal {
struct RunState;
}

/// Epoch after epoch. One thread at a time, except stats(), diagnose() and profile(). A call of next() while another
/// thread is in one returns FailedPrecondition, and so does restore(); close(), rewind() and next_epoch() throw it.
/// After a fork() the parent goes on; in the child, where the Loader has no threads, next() and restore() return
/// FailedPrecondition, stats() are zeros, and close() and ~Loader wait for nothing: make a new Loader there. The
/// dataset's functions run on threads of the Loader until ~Loader returns: what they capture by reference must live
/// that long. A moved-from Loader can be destroyed and assigned to; all else throws Exception(FailedPrecondition).
class Loader {
 public:
  class BatchIterator;
  class Epoch;
  class Epochs;
  class Position;

  /// Opens the dataset's files, and starts no other work yet. Throws Exception: the error of a file that cannot be
  /// opened, the quarantine file included; InvalidArgument for options that cannot be, and for an epoch without an end
  /// when there is more than one; ResourceExhausted for batches of known size that are larger than the memory;
  /// FailedPrecondition where it is known that there are elements, but none for this program (shard, distribute).
  explicit Loader(const Dataset& dataset, const LoaderOptions& options = {});
  /// Goes on where `state` was taken, by a Loader or a Sequence, with any threads and memory. FailedPrecondition, the
  /// difference named, for the state of another pipeline or seed, or of files with other names, sizes or ends
  /// (dataset/ops/files.h); DataLoss for a damaged one. A function without a name cannot be compared: the log says so,
  /// once for each pipeline.
  static Result<Loader> restored(const Dataset& dataset, const LoaderOptions& options, std::string_view state);
  /// Waits until the functions that run now return; after a second it says in the log which operators it waits for. See
  /// LoaderOptions::abandon_after.
  ~Loader();
  Loader(Loader&& other) noexcept;
  Loader& operator=(Loader&& other) noexcept;  ///< The former Loader ends as in ~Loader.

  /// The next batch: `while (auto batch = loader.next()) step(*batch);`. After the last batch of the last epoch it
  /// returns OutOfRange without a cause (Error::is_end()), and so does each later call. Any other error comes once,
  /// before the batch that it belongs to and after all earlier ones; the next call returns that batch, made without the
  /// element that failed. Only the error of a source that is lost comes again, and that of a limit of on_error. Where
  /// there is no memory for a moment, the call after that error begins again after the last batch; if that fails 16
  /// times without a batch between, or for another reason, the epoch ends with the last of these errors. If the
  /// quarantine file cannot be written next() returns that error, and the next call tries again. Cancelled also if an
  /// InterruptLook (base/interrupt/interrupt.h) ended the wait; the next call goes on with the same batch.
  Result<Batch> next();
  /// The same, but also returns the end after the last batch of each epoch; the call after that begins the next epoch.
  Result<Batch> next_in_epoch();
  /// Like next(), but DeadlineExceeded without a cause if no batch is ready; then nothing has changed. Another error of
  /// this kind has a cause. What threads would make it leaves to them, but for batches that are known to cost less than
  /// handing them over.
  Result<Batch> try_next();
  /// What next_in_epoch() returns. Nothing if no batch is ready, and none is known to cost less than handing it over;
  /// without threads nothing is. For bindings: the call is so short that they need not let other threads run.
  std::optional<Result<Batch>> next_at_once();
  /// Leaves out the rest of this epoch.
  void next_epoch();
  /// Goes to the first element of that epoch, forwards or back: what a new Loader of this dataset would give in it
  /// comes next. For an epoch at or past `options.epochs`, next() returns the end. What caches hold stays, and so do
  /// open files and measurements; the first batches are made ahead, unless run_ahead is 0. Throws
  /// Exception(InvalidArgument) for a number below 0.
  void rewind(int64_t epoch = 0);
  /// Goes to where `state` was taken, as restored() does. After an error it is where it was; but as after rewind()
  /// where opening the dataset at that position fails (a file that is gone, say: the error says so), and after DataLoss
  /// of a position whose checksum is right.
  Result<void> restore(std::string_view state);
  /// Ends all work, as ~Loader does, and gives back all memory but the program's batches. Afterwards next() returns
  /// Cancelled; state() and stats() answer as before. A second call does nothing. The thread that calls next() calls
  /// it.
  void close();

  /// All batches that are left, of all epochs: for (auto& batch : loader). The iterator throws Exception for an error;
  /// next() can go on after it.
  BatchIterator begin() &;
  std::default_sentinel_t end() const { return {}; }
  /// The epochs that are left, each a range of batches, as above. A temporary has none: it would end before them.
  Epochs epochs() &;

  /// The position after the last batch that next() returned: the same bytes as those of Sequence::state() there.
  std::string state() const;
  /// The same. Nothing if that could take long: the first time, when the plan's text is made, for which files may be
  /// looked at, and when failures must go to the disk before. For bindings: the call waits for no other thread, so they
  /// need not let others run.
  std::optional<std::string> state_at_once() const;
  /// The same point, for state() later: for a program that takes batches before it uses them, as DeviceFeed does.
  /// Cheap: it writes nothing down.
  Position position() const;
  /// Like state(), for a position of this Loader. Throws Exception: FailedPrecondition for one of another Loader,
  /// InvalidArgument for one that belongs to none.
  std::string state(const Position& position) const;
  /// Any thread, any time.
  LoaderStats stats() const;
  /// Why next() waits, if it does, what to change, and what that gains. Covers all steps after the start, and needs
  /// some seconds of them to name a reason. Any thread, any time.
  Verdict diagnose() const;
  /// Where the time of its threads went: profile_of(stats(), options).
  Result<std::vector<ProfileRow>> profile(const ProfileOptions& options = {}) const {
    return profile_of(stats(), options);
  }
  /// Its figures for monitors, after its end too. Called by the thread that calls next().
  LoaderView view() const;
  /// Between two calls of next(): the time until the next one is not that of a step. For a validation, say, or a
  /// checkpoint.
  void pause();
  /// The program goes on only now, and not when the last call returned: what lies between is a part of that call, not
  /// of the step. For bindings whose interpreter has a lock that functions of the dataset hold. The thread of next()
  /// calls it.
  void returned_late();

 private:
  class Run;
  Run& run() const;            // Throws if there is none.
  int64_t epoch_left() const;  // The one that comes next; -1: none.
  std::unique_ptr<Run> run_;
};

/// A point between two batches. Copies share it.
class Loader::Position {
 public:
  Position() = default;  ///< Belongs to no Loader: not for state().

 private:
  friend class Loader;
  Position(std::shared_ptr<const internal::RunState> run, uint64_t loader) : run_(std::move(run)), loader_(loader) {}
  std::shared_ptr<const internal::RunState> run_;
  uint64_t loader_ = 0;
};

/// Over the batches of one epoch or of all. Single pass: std::move(*iterator).element() takes an element out.
class Loader::BatchIterator {
 public:
  using value_type = Batch;
  using difference_type = std::ptrdiff_t;
  Batch& operator*() const { return *batch_; }
  BatchIterator& operator++();
  void operator++(int) { ++*this; }
  bool operator==(std::default_sentinel_t) const { return !batch_; }

 private:
  friend class Loader;
  static constexpr int64_t kAllEpochs = -1;
  BatchIterator(Loader* loader, int64_t epoch) : loader_(loader), epoch_(epoch) { ++*this; }
  Loader* loader_;
  int64_t epoch_;  // Or kAllEpochs.
  mutable std::optional<Batch> batch_;
};

/// The batches that are left of one epoch. Single pass: after its end it is empty.
class Loader::Epoch {
 public:
  BatchIterator begin() const { return BatchIterator(loader_, epoch_); }
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
