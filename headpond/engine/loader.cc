// SPDX-License-Identifier: Apache-2.0
#include "headpond/engine/loader.h"

#include <fmt/format.h>

#include <atomic>
#include <optional>
#include <string>
#include <utility>

#include "headpond/base/clock.h"
#include "headpond/base/interrupt/interrupt.h"
#include "headpond/base/log.h"
#include "headpond/base/trace.h"
#include "headpond/dataset/lazy.h"
#include "headpond/dataset/migrate/in_order.h"
#include "headpond/dataset/ops/options.h"
#include "headpond/dataset/ops/structure/hints.h"
#include "headpond/dataset/ops/structure/sharing.h"
#include "headpond/dataset/quarantine/failure_log.h"
#include "headpond/dataset/run_state.h"
#include "headpond/engine/engine_internal.h"
#include "headpond/engine/executor/parallel_for.h"
#include "headpond/engine/loader_view_internal.h"
#include "headpond/engine/stages/element_bytes_internal.h"
#include "headpond/engine/stages/stage_host_internal.h"
#include "headpond/engine/stages/stage_internal.h"

namespace headpond {
namespace {

using internal::Engine;

constexpr trace::ArgNames kBatchArgs{{"epoch", "batch"}}, kErrorArgs{{"error", "epoch", "batch"}, true},
    kWaitArgs{{"kind", "epoch", "batch"}, true};
constexpr int kMostThreads = 4096;
constexpr int kMostFailedBegins = 16;
constexpr int64_t kLongOpenNs = 1'000'000;  // To open an epoch is a wait then.

constexpr int kOpeners = 16;  // Threads that open files, which mostly wait.

uint64_t next_number() {
  static std::atomic<uint64_t> numbers = 0;
  return ++numbers;
}

// What the program does not set is what the dataset says (with_options(), and prefetch() at its end), else what
// with_defaults() says (stages/stage_host_internal.h). Threads that are still below 0 become cpu_count() in Engine.
LoaderOptions resolved(const Dataset& dataset, LoaderOptions options) {
  const DatasetOptions said = options_of(dataset);
  if (options.threads < 0) options.threads = said.threads.value_or(options.threads);
  if (!options.memory) options.memory = said.memory;
  if (!options.deterministic) options.deterministic = said.deterministic;
  if (options.run_ahead < 0) options.run_ahead = internal::prefetch_ceiling(dataset);
  return internal::with_defaults(std::move(options));
}

void check(const Dataset& dataset, const LoaderOptions& options) {
  if (options.threads > kMostThreads)
    refuse("Loader", fmt::format("threads={}: must be at most {}", options.threads, kMostThreads));
  if (options.io_threads > kMostThreads || (options.io_threads < 1 && options.threads != 0))
    refuse("Loader", fmt::format("io_threads={}: must be 1 to {}", options.io_threads, kMostThreads));
  if (options.memory < 1) refuse("Loader", fmt::format("memory={}: must be at least 1 byte", *options.memory));
  if (options.abandon_after && options.abandon_after->count() < 0)
    refuse("Loader", fmt::format("abandon_after={} ms: must not be negative", options.abandon_after->count()));
  if (options.pool && options.resources)
    refuse("Loader", "pool and resources: with resources the pool is theirs; set ResourcesOptions::pool");
  internal::prepare(dataset, [&options](int64_t count, const std::function<void(int64_t)>& each) {
    internal::parallel_for(options.threads == 0 ? 1 : kOpeners, count, each);
  });
  if (Error error = internal::shortage_below(*dataset.node())) throw Exception(std::move(error));
  const int64_t slots = dataset.node()->slots();
  if (slots == kEndless && dataset.kind() == Kind::indexed && options.epochs != 1) {
    refuse("Loader", "a dataset without an end has one epoch; limit it with take()");
  }
  const int64_t bytes = internal::element_bytes(*dataset.node());
  if (bytes > *options.memory) {
    throw Exception(Error(ErrorKind::ResourceExhausted,
                          fmt::format("Loader: an element of {} takes {} bytes, more than the memory of {}",
                                      to_string(dataset.spec()), bytes, *options.memory)));
  }
}

}  // namespace

struct Loader::Run {
  Run(const Dataset& d, const LoaderOptions& o)
      : dataset(d),
        options(o),
        names(internal::names_of(d.spec())),
        failures(d, o.seed, o.quarantine),
        engine(Engine::make(d, o)),
        shared(std::make_shared<LoaderView::Shared>(d.plan(), *engine)),
        context(engine->memory.pool(), engine->memory.may_keep()),
        is_made_ahead(o.quarantine.empty() && internal::stage_of(*d.node()).mode != internal::ExecutionMode::in_order) {
  }
  ~Run() {
    if (engine->is_of_another_process()) {  // Its locks may be held for ever: nothing of it can be given back.
      (void)iterator.release();
      engine->stay();
      return;
    }
    const bool is_watched = shared.use_count() > 1;
    if (is_watched) keep_figures();
    close();
    shared->end(is_watched);
  }
  Run(const Run&) = delete;
  Run& operator=(const Run&) = delete;

  void close() {
    if (std::exchange(is_closed, true)) return;
    trace::instant("stop", trace::Category::step);
    engine->stop();
    held.reset();
    iterator.reset();
    in_order.reset();
  }

  // Without memory for it, they are those of the epoch before.
  void keep_figures() noexcept {
    try {
      if (iterator) engine->keep_figures();
    } catch (...) {
      return;
    }
  }

  bool has_epoch(uint64_t which) const { return options.epochs < 0 || which < static_cast<uint64_t>(options.epochs); }

  // At the position that `visitor` restores, if there is one.
  void begin_epoch(StateVisitor* visitor = nullptr) {
    engine->begin_epoch(epoch);
    const Dataset& now = in_order ? *in_order : dataset;
    const auto open = [&] { return engine->open(*now.node(), {options.seed, epoch}); };
    iterator = visitor != nullptr ? engine->restored(open, *visitor) : open();
    if (has_epoch(epoch + 1)) engine->expect_epoch({options.seed, epoch + 1});
    state = {.epoch = epoch, .index = 0, .position = {}};
    index = -1;
    gave = false;
  }

  // If opening throws, next() returns that error, then the epoch ends; but after what may pass it is tried again.
  std::optional<Error> begin_epoch_if_needed() {
    wait_began = 0;
    waited_ns = -1;
    if (iterator || is_lost) return std::nullopt;
    wait_began = now_ns();
    if (goes_back) return go_back();
    try {
      begin_epoch();
      return std::nullopt;
    } catch (...) {
      Error error = current_exception_error();
      is_lost = !may_begin_again(error);
      gave = true;
      return error;
    }
  }

  // After a lack of memory, say, but not for ever: then the epoch ends.
  bool may_begin_again(const Error& error) { return error.is_transient() && ++failed_begins < kMostFailedBegins; }

  // A stage had no memory for an item, say, and lost what follows. The next call begins again after the last batch.
  void lose(const Error& error) {
    if (!error.is_transient() || !engine->has_lost_in(epoch)) return;
    goes_back = may_begin_again(error);
    is_lost = !goes_back;
    iterator.reset();
    engine->forget_losses();
  }

  std::optional<Error> go_back() {
    internal::RunState at = state;
    const int64_t at_index = index;
    Error error;
    try {
      auto changed = internal::run_in_order(dataset, at.in_order);
      if (!changed) {
        error = changed.error();
      } else if (at.position.empty()) {
        begin_epoch();
      } else {
        error = restore_position(at, std::move(*changed));
      }
    } catch (...) {
      error = current_exception_error();
    }
    gave = true;
    if (!error) {
      goes_back = false;
      state = std::move(at);
      return std::nullopt;
    }
    iterator.reset();
    epoch = at.epoch;
    index = at_index;
    state = std::move(at);
    goes_back = may_begin_again(error);
    is_lost = !goes_back;
    return error;
  }

  void end_epoch() {
    trace::instant("epoch end", trace::Category::step, next_batch());
    keep_figures();
    ++epoch;
    held.reset();
    is_lost = goes_back = false;
    failed_begins = 0;
    iterator.reset();
    in_order.reset();
    state = {.epoch = epoch, .index = 0, .position = {}};
  }

  // At the begin of epoch `at`.
  void go_to(uint64_t at) {
    keep_figures();
    held.reset();
    is_lost = gave = goes_back = false;
    iterator.reset();
    engine->forget_losses();
    in_order.reset();
    epoch = at;
    index = -1;
    state = {.epoch = epoch, .index = 0, .position = {}};
    context.failed.clear();
  }

  Result<void> restore(std::string_view saved) {
    auto restored = internal::restore(saved, dataset, options.seed);
    if (!restored) return fail(restored.error());
    auto changed = internal::run_in_order(dataset, restored->in_order);
    if (!changed) return fail(changed.error());
    failed_begins = 0;
    go_to(restored->epoch);
    if (restored->position.empty()) {
      expect_start();
    } else if (Error error = restore_position(*restored, std::move(*changed))) {
      return fail(std::move(error));
    }
    state = std::move(*restored);
    return {};
  }

  Error restore_position(const internal::RunState& restored, Dataset changed) {
    engine->keep(changed);
    if (!restored.in_order.empty()) in_order = std::move(changed);
    StateVisitor visitor = StateVisitor::restoring(restored.position);
    try {
      begin_epoch(&visitor);
    } catch (...) {
      go_to(0);
      return current_exception_error();
    }
    if (Error error = internal::position_error(visitor)) {
      go_to(0);
      return error;
    }
    index = restored.index - 1;
    gave = true;
    return {};
  }

  void expect_start() {
    if (has_epoch(epoch)) engine->expect_start({options.seed, epoch});
  }

  Got next_of_iterator(Element& out) {
    const CurrentPool current(engine->memory.pool());
    try {
      return iterator->next(context, out);
    } catch (...) {
      out.clear();
      return context.fail(current_exception_error());
    }
  }

  struct Call {
    bool in_epoch = false, may_wait = true;
    bool tells_pending = false;  // Of try_next(): as an error.
    bool is_pending = false;     // The answer: nothing is ready.
  };

  // Never Got::hole; Got::pending only if it may not wait.
  Got pull(Element& out, bool may_wait) {
    if (is_lost) return Got::end;
    for (bool waited = false;; waited = true) {
      if (waited && look_for_interrupt())
        return context.fail(Error(ErrorKind::Cancelled, "Loader: next() was interrupted"));
      const uint64_t seen = engine->consumer.progress();
      const Got got = next_of_iterator(out);
      if (got != Got::pending) {
        waited_ns = wait_began > 0 ? now_ns() - wait_began : -1;
        if (!waited && waited_ns < kLongOpenNs) waited_ns = -1;
        was_ready = got == Got::value && is_made_ahead && !in_order && !waited && wait_began == 0;
        return got;
      }
      if (wait_began == 0) wait_began = now_ns();
      if (engine->help(context, may_wait)) continue;
      if (engine->threads == 0) {
        return context.fail(
            Error(ErrorKind::Unknown, "Loader: internal error: nothing is ready and nothing can be computed"));
      }
      if (!may_wait) return Got::pending;
      const trace::SpanWithArgs span("wait for a batch", trace::Category::wait,
                                     trace::enabled() ? this_wait() : next_batch());
      engine->wait(seen);
    }
  }

  struct Answer {
    Got got = Got::end;
    Element element;
    Error error;
  };
  Answer ask(bool may_wait) {
    Answer answer;
    answer.got = pull(answer.element, may_wait);
    if (answer.got == Got::error) answer.error = std::move(context.error);  // Nothing of it stays here.
    return answer;
  }

  // What on_error did before the answer that next() gives now.
  Error write_failures() {
    if (!context.failed.empty()) {
      failures.add(context.failed);
      engine->set_failed(failures.counts());
    }
    auto written = failures.write();
    return written ? Error() : written.error();
  }

  Result<Batch> next(Call& call) {
    const OnlyCall only(*this);
    if (!only.is_so()) return fail(ErrorKind::FailedPrecondition, "Loader: another thread is in next()");
    return next_of_one_thread(call);
  }

  // While a call that must be the only one is in progress.
  class OnlyCall {
   public:
    explicit OnlyCall(Run& run) : run_(run), is_so_(!run.is_in_use.exchange(true, std::memory_order_acquire)) {}
    ~OnlyCall() {
      if (is_so_) run_.is_in_use.store(false, std::memory_order_release);
    }
    OnlyCall(const OnlyCall&) = delete;
    OnlyCall& operator=(const OnlyCall&) = delete;
    bool is_so() const { return is_so_; }
    // Beside next() they would take away what it reads.
    static Error refusal(const char* call) {
      return {ErrorKind::FailedPrecondition,
              fmt::format("Loader: {}(): next() is in progress, on another thread or below this call", call)};
    }
    void check(const char* call) const {
      if (!is_so_) throw Exception(refusal(call));
    }

   private:
    Run& run_;
    const bool is_so_;
  };

  Result<Batch> next_of_one_thread(Call& call) {
    if (engine->is_of_another_process()) {
      return fail(ErrorKind::FailedPrecondition,
                  "Loader: it was made before fork(); its threads run in the parent only");
    }
    if (is_closed) return fail(ErrorKind::Cancelled, "Loader: it was closed");
    if (!has_epoch(epoch)) return fail(internal::end_of_data("Loader"));
    struct InCall {
      Engine& engine;
      const bool& was_ready;
      bool is_empty = false;
      ~InCall() { is_empty ? engine.leave_empty() : engine.leave(was_ready); }
    };
    engine->arrive();
    was_ready = false;
    InCall in_call{*engine, was_ready};
    while (has_epoch(epoch)) {
      if (auto lost = begin_epoch_if_needed()) {
        engine->count_answer(now_ns() - wait_began, false);
        return fail(told(*lost, call));
      }
      Answer answer = held ? *std::exchange(held, std::nullopt) : ask(call.may_wait);
      engine->count_defects(context);
      in_call.is_empty = answer.got == Got::pending;
      if (!in_call.is_empty) engine->count_answer(waited_ns, answer.got == Got::value);
      if (Error unwritten = write_failures()) {
        if (!in_call.is_empty) held = std::move(answer);
        return fail(told(unwritten, call));
      }
      call.is_pending = in_call.is_empty;
      if (call.is_pending) return fail(ErrorKind::DeadlineExceeded, "Loader: no batch is ready");
      gave = gave || answer.got != Got::end;
      if (answer.got == Got::error) return failed(answer.error, call);
      if (answer.got == Got::value) return give(answer.element);
      end_epoch();
      if (options.epochs < 0 && !gave) return fail(internal::futile_epoch("Loader", epoch - 1));
      if (call.in_epoch) break;
    }
    return fail(internal::end_of_data("Loader"));
  }

  trace::Args this_wait() const {
    const char* const kind = internal::name_of(engine->kind_of_wait());
    return {&kWaitArgs, {trace::text_arg(kind), static_cast<int64_t>(epoch), index + 1}};
  }
  trace::Args next_batch() const { return {&kBatchArgs, {static_cast<int64_t>(epoch), index + 1}}; }

  // Neither the end of the data nor, of try_next(), that no batch is ready.
  static Error told(const Error& error, const Call& call) {
    const bool is_timeout =
        call.tells_pending && error.kind() == ErrorKind::DeadlineExceeded && error.cause() == nullptr;
    return is_timeout ? Error(error.kind(), "Loader: something timed out", error)
                      : internal::not_the_end(error, "Loader");
  }

  tl::unexpected<Error> failed(const Error& error, const Call& call) {
    lose(error);
    if (trace::enabled()) {
      const int64_t text = trace::text_arg(trace::intern_message(error.message()));
      trace::instant("error", trace::Category::step, {&kErrorArgs, {text, static_cast<int64_t>(epoch), index + 1}});
    }
    return fail(told(error, call));
  }

  void remember() {
    state.index = index + 1;
    state.position = internal::position_of(*iterator);
  }

  std::string text_of(const internal::RunState& at) {
    if (auto synced = failures.sync(); !synced) log(LogLevel::warning, synced.error().to_string());
    trace::instant("checkpoint", trace::Category::step, {&kBatchArgs, {static_cast<int64_t>(at.epoch), at.index}});
    return internal::save(at, identity.get(), options.seed);
  }

  Result<Batch> give(Element& out) {
    const int64_t size = internal::bytes_of(out);
    if (size > *options.memory) {
      return fail(ErrorKind::ResourceExhausted,
                  fmt::format("Loader: element {} of epoch {} takes {} bytes, more than the memory of {}", index + 1,
                              epoch, size, *options.memory));
    }
    ++index;
    failed_begins = 0;
    remember();
    engine->give_to_program(out, size);
    out.set_names(names);
    return Result<Batch>(tl::in_place, std::move(out), static_cast<int64_t>(epoch), index);
  }

  const uint64_t number = next_number();  // No other Loader has it.
  const Dataset dataset;
  std::optional<Dataset> in_order;  // Runs this epoch instead of `dataset`: its plan changed on the way.
  const LoaderOptions options;
  const Lazy<std::string> identity{[d = dataset] { return internal::identity_of(d); }};  // For states.
  const Element::Names names;
  internal::FailureLog failures;
  const std::shared_ptr<Engine> engine;
  const std::shared_ptr<LoaderView::Shared> shared;
  Context context;
  const bool is_made_ahead;            // next() itself runs no operator and writes no file, but where it is cheap.
  std::unique_ptr<Iterator> iterator;  // Null: at the begin of `epoch`.
  uint64_t epoch = 0;
  int64_t index = -1;
  bool is_lost = false;    // It could not be opened.
  bool goes_back = false;  // See lose().
  int failed_begins = 0;   // Since the last batch.
  bool is_closed = false;
  bool gave = false;  // An element or an error, in this epoch.
  int64_t wait_began = 0, waited_ns = -1;
  bool was_ready = false;      // The call in progress gives what was ready, and did nothing else.
  std::optional<Answer> held;  // To be given when what came before it is written down.
  internal::RunState state;    // After the last batch.
  std::atomic<bool> is_in_use = false;
};

Loader::Loader(const Dataset& dataset, const LoaderOptions& options) {
  const LoaderOptions all = resolved(dataset, options);
  check(dataset, all);
  run_ = std::make_unique<Run>(dataset, all);
}
Loader::~Loader() = default;
Loader::Loader(Loader&& other) noexcept = default;
Loader& Loader::operator=(Loader&& other) noexcept = default;

Loader::Run& Loader::run() const {
  if (!run_) throw Exception(Error(ErrorKind::FailedPrecondition, "Loader: it was moved from"));
  return *run_;
}

Result<Loader> Loader::restored(const Dataset& dataset, const LoaderOptions& options, std::string_view state) {
  Loader loader(dataset, options);
  if (auto restored = loader.restore(state); !restored) return fail(restored.error());
  return loader;
}

Result<Batch> Loader::next() {
  Run::Call call;
  return run().next(call);
}
Result<Batch> Loader::next_in_epoch() {
  Run::Call call{.in_epoch = true};
  return run().next(call);
}
Result<Batch> Loader::try_next() {
  Run::Call call{.may_wait = false, .tells_pending = true};
  return run().next(call);
}
std::optional<Result<Batch>> Loader::next_at_once() {
  std::optional<Result<Batch>> batch;  // All returns name it, so that it is made where the caller has it.
  if (run().engine->threads == 0 || !run_->is_made_ahead || run_->in_order || run_->goes_back) return batch;
  Run::Call call{.in_epoch = true, .may_wait = false};
  batch.emplace(run_->next(call));
  if (call.is_pending) batch.reset();
  return batch;
}
void Loader::next_epoch() {
  if (run().engine->is_of_another_process()) return;
  const Run::OnlyCall only(*run_);
  only.check("next_epoch");
  if (run_->has_epoch(run_->epoch)) run_->end_epoch();
}
void Loader::rewind() {
  if (run().engine->is_of_another_process()) return;
  const Run::OnlyCall only(*run_);
  only.check("rewind");
  run_->go_to(0);
  run_->expect_start();
}
Result<void> Loader::restore(std::string_view state) {
  if (run().engine->is_of_another_process() || run_->is_closed)
    return fail(ErrorKind::FailedPrecondition, "Loader: it was closed, or made before fork()");
  const Run::OnlyCall only(*run_);
  return only.is_so() ? run_->restore(state) : fail(Run::OnlyCall::refusal("restore"));
}
void Loader::close() {
  if (run().engine->is_of_another_process()) return;
  const Run::OnlyCall only(*run_);
  only.check("close");
  run_->keep_figures();
  run_->close();
}
std::string Loader::state() const { return run().text_of(run_->state); }
std::optional<std::string> Loader::state_at_once() const {
  if (!run().identity.is_known() || !run_->failures.is_synced()) return std::nullopt;
  return run_->text_of(run_->state);
}
Loader::Position Loader::position() const {
  return Position(std::make_shared<const internal::RunState>(run().state), run_->number);
}
std::string Loader::state(const Position& position) const {
  if (!position.run_) throw Exception(Error(ErrorKind::InvalidArgument, "Loader: state() of no position"));
  if (position.loader_ != run().number)
    throw Exception(Error(ErrorKind::FailedPrecondition, "Loader: state() of another Loader's position"));
  return run_->text_of(*position.run_);
}
LoaderStats Loader::stats() const {
  return run().engine->is_of_another_process() ? LoaderStats() : run_->engine->stats();
}

Verdict Loader::diagnose() const {
  return run().engine->is_of_another_process() ? Verdict() : run_->engine->diagnose();
}
LoaderView Loader::view() const { return LoaderView(run().shared); }
void Loader::pause() { run().engine->consumer.pause(); }
void Loader::returned_late() { run().engine->consumer.leave_late(); }

int64_t Loader::epoch_left() const { return run().has_epoch(run_->epoch) ? static_cast<int64_t>(run_->epoch) : -1; }

Loader::BatchIterator Loader::begin() & { return BatchIterator(this, BatchIterator::kAllEpochs); }
Loader::Epochs Loader::epochs() & {
  run();
  return Epochs(this);
}

Loader::BatchIterator& Loader::BatchIterator::operator++() {
  batch_.reset();                                                             // Its memory is for the next one.
  if (epoch_ != kAllEpochs && loader_->epoch_left() != epoch_) return *this;  // It has ended.
  auto next = epoch_ != kAllEpochs ? loader_->next_in_epoch() : loader_->next();
  if (next) {
    batch_ = std::move(*next);
  } else if (!next.error().is_end()) {
    throw Exception(next.error());
  }
  return *this;
}

Loader::Epochs::Iterator::Iterator(Loader* loader) : loader_(loader), epoch_(loader->epoch_left()) {}

Loader::Epochs::Iterator& Loader::Epochs::Iterator::operator++() {
  if (loader_->epoch_left() == epoch_) loader_->next_epoch();
  epoch_ = loader_->epoch_left();
  return *this;
}

}  // namespace headpond
