// SPDX-License-Identifier: Apache-2.0
// A Loader's way through its epochs: the answers of next(), restoring a state, and going back after a loss.
#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "headpond/base/trace.h"
#include "headpond/dataset/lazy.h"
#include "headpond/dataset/quarantine/failure_log.h"
#include "headpond/dataset/run_state.h"
#include "headpond/engine/engine_internal.h"
#include "headpond/engine/loader.h"
#include "headpond/engine/loader_view_internal.h"

namespace headpond {

/// Calls that change it must be the only ones in progress: see OnlyCall.
class Loader::Run {
 public:
  struct Call {
    bool in_epoch = false, may_wait = true;
    bool tells_pending = false;  // Of try_next(): as an error.
    bool is_pending = false;     // The answer: nothing is ready.
  };

  // While a call that must be the only one is in progress.
  class OnlyCall {
   public:
    explicit OnlyCall(Run& run) : run_(run), is_so_(!run.is_in_use_.exchange(true, std::memory_order_acquire)) {}
    ~OnlyCall() {
      if (is_so_) run_.is_in_use_.store(false, std::memory_order_release);
    }
    OnlyCall(const OnlyCall&) = delete;
    OnlyCall& operator=(const OnlyCall&) = delete;
    bool is_so() const { return is_so_; }
    // Beside next() they would take away what it reads.
    static Error refusal(const char* call);
    void check(const char* call) const {
      if (!is_so_) throw Exception(refusal(call));
    }

   private:
    Run& run_;
    const bool is_so_;
  };

  Run(const Dataset& dataset, const LoaderOptions& options);
  ~Run();
  Run(const Run&) = delete;
  Run& operator=(const Run&) = delete;

  Result<Batch> next(Call& call);
  Result<void> restore(std::string_view saved);
  std::string text_of(const internal::RunState& at);
  // At the begin of epoch `at`.
  void go_to(uint64_t at);
  void end_epoch();
  void expect_start();
  // Without memory for it, they are those of the epoch before.
  void keep_figures() noexcept;
  void close();
  bool has_epoch(uint64_t which) const { return options.epochs < 0 || which < static_cast<uint64_t>(options.epochs); }

  const uint64_t number;  // No other Loader has it.
  const Dataset dataset;
  std::optional<Dataset> in_order;  // Runs this epoch instead of `dataset`: its plan changed on the way.
  const LoaderOptions options;
  const Lazy<std::string> identity{[d = dataset] { return internal::identity_of(d); }};  // For states.
  internal::FailureLog failures;
  const std::shared_ptr<internal::Engine> engine;
  const std::shared_ptr<LoaderView::Shared> shared;
  const bool is_made_ahead;  // next() itself runs no operator and writes no file, but where it is cheap.
  uint64_t epoch = 0;
  bool goes_back = false;  // See lose().
  bool is_closed = false;
  internal::RunState state;  // After the last batch.

 private:
  struct Answer {
    Got got = Got::end;
    Element element;
    Error error;
  };

  // At the position that `visitor` restores, if there is one.
  void begin_epoch(StateVisitor* visitor = nullptr);
  // If opening throws, next() returns that error, then the epoch ends; but after what may pass it is tried again.
  std::optional<Error> begin_epoch_if_needed();
  // After a lack of memory, say, but not for ever: then the epoch ends.
  bool may_begin_again(const Error& error);
  // A stage had no memory for an item, say, and lost what follows. The next call begins again after the last batch.
  void lose(const Error& error);
  std::optional<Error> go_back();
  Error restore_position(const internal::RunState& restored, Dataset changed);

  Result<Batch> next_of_one_thread(Call& call);
  Answer ask(bool may_wait);
  // Never Got::hole; Got::pending only if it may not wait.
  Got pull(Element& out, bool may_wait);
  Got next_of_iterator(Element& out);
  // What on_error did before the answer that next() gives now.
  Error write_failures();
  Result<Batch> give(Element& out);
  tl::unexpected<Error> failed(const Error& error, const Call& call);
  void remember();
  trace::Args this_wait() const;
  trace::Args next_batch() const;

  const Element::Names names_;
  Context context_;
  std::unique_ptr<Iterator> iterator_;  // Null: at the begin of `epoch`.
  int64_t index_ = -1;
  bool is_lost_ = false;   // It could not be opened.
  int failed_begins_ = 0;  // Since the last batch.
  bool gave_ = false;      // An element or an error, in this epoch.
  int64_t wait_began_ = 0, waited_ns_ = -1;
  bool was_ready_ = false;      // The call in progress gives what was ready, and did nothing else.
  std::optional<Answer> held_;  // To be given when what came before it is written down.
  std::atomic<bool> is_in_use_ = false;
};

}  // namespace headpond
