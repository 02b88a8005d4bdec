// SPDX-License-Identifier: Apache-2.0
// The Loader that Python has.
#pragma once

#include <cstdint>
#include <list>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "headpond/engine/loader.h"
#include "python/src/python.h"
#include "python/src/saving.h"

namespace headpond::python {

/// Of batches that the program has no more. It may be used again after release().
class Memory {
 public:
  Memory(std::list<Tensor> tensors, std::shared_ptr<Returned> from)
      : tensors_(std::move(tensors)), from_(std::move(from)) {}
  Memory(Memory&&) = default;
  Memory& operator=(Memory&&) = delete;
  ~Memory() {
    if (from_ != nullptr) from_->add(tensors_);
  }
  void release() { tensors_.clear(); }

 private:
  std::list<Tensor> tensors_;
  std::shared_ptr<Returned> from_;
};

/// Looks at a Loader without the interpreter's lock.
using LoaderLook = std::function<void(const Loader&)>;

/// A Loader that Python may drop at any time, on any thread: its threads may need the interpreter's lock to end.
/// REQUIRES of each call: the interpreter's lock.
class PythonLoader {
 public:
  /// Delivers this rank's rows of `batches`, which are the same for all ranks. `calls_python`: functions of Python are
  /// in it.
  PythonLoader(const Dataset& batches, int64_t world_size, int64_t rank, const LoaderOptions& options,
               bool calls_python);
  ~PythonLoader();
  PythonLoader(const PythonLoader&) = delete;
  PythonLoader& operator=(const PythonLoader&) = delete;

  void restore(const nb::bytes& state);
  Any next();                  ///< None at the end.
  Any next_of(int64_t epoch);  ///< The same of the epoch `epoch`, as begin_epoch() gave it.
  Any try_next();
  void next_epoch();
  /// Goes to the begin of this epoch, but where the rest of it comes next anyway: after a restore.
  void set_epoch(int64_t epoch);
  /// The epoch whose batches a loop takes now: the rest of one that was restored, else the next one. What an earlier
  /// loop left is dropped. -1: no epoch is left.
  int64_t begin_epoch();
  /// Returns when its threads have ended, or raises what a signal's handler raised; they then end later.
  void close();
  void begin_close();  ///< Waits for nobody.

  int64_t epoch_left() const;  ///< Of the batch that comes next; -1: none comes.
  int64_t epoch() const { return epoch_; }
  int64_t index() const { return index_; }
  /// Epoch and index of the last batch, and the state after it.
  nb::typed<nb::tuple, int64_t, int64_t, nb::bytes> state() const;
  LoaderStats stats() const;
  Verdict diagnose() const;
  /// Calls `look`, now and whenever load_state_dict() has put another Loader in this one's place, as long as it lives.
  /// If `look` throws then, a warning is logged; the follower stays. `call`: for errors.
  void follow(const std::shared_ptr<const LoaderLook>& look, const char* call);
  void pause();
  std::optional<Memory> returned();

 private:
  class Changing;
  class InNext;
  template <class Make>
  void open(Make make);
  template <class Call>
  std::invoke_result_t<Call, const Loader&> asked(Call call) const;
  enum class AtEpochEnd : uint8_t { stop, go_on };
  template <class Next>
  Any given(AtEpochEnd at_end, Next next, bool may_wait = true);
  std::optional<Result<Batch>> batch_at_once();
  void return_now() const;
  std::string saved_state() const;
  void refuse_if_waiting(const char* call) const;
  void refuse_if_in_use(const char* call) const;
  void refuse_beside_another(const char* call) const;
  void refuse_if_closed() const;
  std::vector<Dataset> forms() const;
  void tell_followers();

  const Dataset batches_, dataset_;
  const LoaderOptions options_;
  const bool calls_python_;
  const bool copies_;  // Each value of a field of bytes becomes an object of Python.
  const Keys keys_;
  const std::shared_ptr<Returned> returned_;  // Null: memory of arrays that are gone may be used again.
  std::shared_ptr<Loader> loader_;
  int64_t epoch_ = 0, index_ = -1;  // Of the last batch.
  int64_t left_ = -1;               // The epoch that a loop left before its end; -1: none.
  int waiting_ = 0;                 // Calls of next(); changed with the interpreter's lock, as is:
  const char* changing_ = nullptr;  // The call that replaces what next() reads;
  std::thread::id caller_;          // and the thread that is in one of them, or was in the last one.
  bool is_closed_ = false;
  bool is_in_epoch_ = false;    // The last call gave a batch: the next one need not open files.
  bool gives_at_once_ = false;  // Loader::next_at_once() gave one: its threads make all.
  std::vector<std::weak_ptr<const LoaderLook>> followers_;
  std::shared_ptr<Ending> ending_;             // Of close().
  std::unique_ptr<Saving, EndSaving> saving_;  // Of loader_, in its process.
};

/// LoaderStats, by the names of its members.
Dict stats_of(const PythonLoader& loader);

}  // namespace headpond::python
