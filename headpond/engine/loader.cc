// SPDX-License-Identifier: Apache-2.0
#include "headpond/engine/loader.h"

#include <fmt/format.h>

#include <string>
#include <utility>

#include "headpond/dataset/ops/options.h"
#include "headpond/dataset/ops/structure/hints.h"
#include "headpond/dataset/ops/structure/sharing.h"
#include "headpond/engine/executor/parallel_for.h"
#include "headpond/engine/loader_run_internal.h"
#include "headpond/engine/stages/stage_host_internal.h"
#include "headpond/engine/stages/stage_internal.h"

namespace headpond {
namespace {

constexpr int kMostThreads = 4096;
constexpr int kOpeners = 16;  // Threads that open files, which mostly wait.

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
void Loader::rewind(int64_t epoch) {
  if (epoch < 0) refuse("Loader", fmt::format("rewind({}): no epoch has a number below 0", epoch));
  if (run().engine->is_of_another_process()) return;
  const Run::OnlyCall only(*run_);
  only.check("rewind");
  run_->go_to(static_cast<uint64_t>(epoch));
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
