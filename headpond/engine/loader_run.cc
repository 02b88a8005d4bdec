// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "headpond/base/clock.h"
#include "headpond/base/interrupt/interrupt.h"
#include "headpond/base/log.h"
#include "headpond/dataset/migrate/in_order.h"
#include "headpond/engine/loader_run_internal.h"
#include "headpond/engine/stages/element_bytes_internal.h"
#include "headpond/engine/stages/stage_internal.h"

namespace headpond {
namespace {

using internal::Engine;

constexpr trace::ArgNames kBatchArgs{{"epoch", "batch"}}, kErrorArgs{{"error", "epoch", "batch"}, true},
    kWaitArgs{{"kind", "epoch", "batch"}, true};
constexpr int kMostFailedBegins = 16;
constexpr int64_t kLongOpenNs = 1'000'000;  // To open an epoch is a wait then.

uint64_t next_number() {
  static std::atomic<uint64_t> numbers = 0;
  return ++numbers;
}

// Neither the end of the data nor, of try_next(), that no batch is ready.
Error told(const Error& error, bool tells_pending) {
  const bool is_timeout = tells_pending && error.kind() == ErrorKind::DeadlineExceeded && error.cause() == nullptr;
  return is_timeout ? Error(error.kind(), "Loader: something timed out", error)
                    : internal::not_the_end(error, "Loader");
}

}  // namespace

Error Loader::Run::OnlyCall::refusal(const char* call) {
  return {ErrorKind::FailedPrecondition,
          fmt::format("Loader: {}(): next() is in progress, on another thread or below this call", call)};
}

Loader::Run::Run(const Dataset& d, const LoaderOptions& o)
    : number(next_number()),
      dataset(d),
      options(o),
      failures(d, o.seed, o.quarantine),
      engine(Engine::make(d, o)),
      shared(std::make_shared<LoaderView::Shared>(d.plan(), *engine)),
      is_made_ahead(o.quarantine.empty() && internal::stage_of(*d.node()).mode != internal::ExecutionMode::in_order),
      names_(internal::names_of(d.spec())),
      context_(engine->memory.pool(), engine->memory.may_keep()) {}

Loader::Run::~Run() {
  if (engine->is_of_another_process()) {  // Its locks may be held for ever: nothing of it can be given back.
    (void)iterator_.release();
    engine->stay();
    return;
  }
  const bool is_watched = shared.use_count() > 1;
  if (is_watched) keep_figures();
  close();
  shared->end(is_watched);
}

void Loader::Run::close() {
  if (std::exchange(is_closed, true)) return;
  trace::instant("stop", trace::Category::step);
  engine->stop();
  held_.reset();
  iterator_.reset();
  in_order.reset();
}

void Loader::Run::keep_figures() noexcept {
  try {
    if (iterator_) engine->keep_figures();
  } catch (...) {
    return;
  }
}

// ---- epochs

void Loader::Run::begin_epoch(StateVisitor* visitor) {
  engine->begin_epoch(epoch);
  const Dataset& now = in_order ? *in_order : dataset;
  const auto open = [&] { return engine->open(*now.node(), {options.seed, epoch}); };
  iterator_ = visitor != nullptr ? engine->restored(open, *visitor) : open();
  if (has_epoch(epoch + 1)) engine->expect_epoch({options.seed, epoch + 1});
  state = {.epoch = epoch, .index = 0, .position = {}};
  index_ = -1;
  gave_ = false;
}

std::optional<Error> Loader::Run::begin_epoch_if_needed() {
  wait_began_ = 0;
  waited_ns_ = -1;
  if (iterator_ || is_lost_) return std::nullopt;
  wait_began_ = now_ns();
  if (goes_back) return go_back();
  try {
    begin_epoch();
    return std::nullopt;
  } catch (...) {
    Error error = current_exception_error();
    is_lost_ = !may_begin_again(error);
    gave_ = true;
    return error;
  }
}

void Loader::Run::end_epoch() {
  trace::instant("epoch end", trace::Category::step, next_batch());
  keep_figures();
  ++epoch;
  held_.reset();
  is_lost_ = goes_back = false;
  failed_begins_ = 0;
  iterator_.reset();
  in_order.reset();
  state = {.epoch = epoch, .index = 0, .position = {}};
}

void Loader::Run::go_to(uint64_t at) {
  keep_figures();
  held_.reset();
  is_lost_ = gave_ = goes_back = false;
  iterator_.reset();
  engine->forget_losses();
  in_order.reset();
  epoch = at;
  index_ = -1;
  state = {.epoch = epoch, .index = 0, .position = {}};
  context_.failed.clear();
}

void Loader::Run::expect_start() {
  if (has_epoch(epoch)) engine->expect_start({options.seed, epoch});
}

// ---- restoring, and going back after a loss

Result<void> Loader::Run::restore(std::string_view saved) {
  auto restored = internal::restore(saved, dataset, options.seed);
  if (!restored) return fail(restored.error());
  auto changed = internal::run_in_order(dataset, restored->in_order);
  if (!changed) return fail(changed.error());
  failed_begins_ = 0;
  go_to(restored->epoch);
  if (restored->position.empty()) {
    expect_start();
  } else if (Error error = restore_position(*restored, std::move(*changed))) {
    return fail(std::move(error));
  }
  state = std::move(*restored);
  return {};
}

Error Loader::Run::restore_position(const internal::RunState& restored, Dataset changed) {
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
  index_ = restored.index - 1;
  gave_ = true;
  return {};
}

bool Loader::Run::may_begin_again(const Error& error) {
  return error.is_transient() && ++failed_begins_ < kMostFailedBegins;
}

void Loader::Run::lose(const Error& error) {
  if (!error.is_transient() || !engine->has_lost_in(epoch)) return;
  goes_back = may_begin_again(error);
  is_lost_ = !goes_back;
  iterator_.reset();
  engine->forget_loss_of(epoch);
}

std::optional<Error> Loader::Run::go_back() {
  internal::RunState at = state;
  const int64_t at_index = index_;
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
  gave_ = true;
  if (!error) {
    goes_back = false;
    state = std::move(at);
    return std::nullopt;
  }
  iterator_.reset();
  epoch = at.epoch;
  index_ = at_index;
  state = std::move(at);
  goes_back = may_begin_again(error);
  is_lost_ = !goes_back;
  return error;
}

// ---- next()

Result<Batch> Loader::Run::next(Call& call) {
  const OnlyCall only(*this);
  if (!only.is_so()) return fail(ErrorKind::FailedPrecondition, "Loader: another thread is in next()");
  return next_of_one_thread(call);
}

Result<Batch> Loader::Run::next_of_one_thread(Call& call) {
  if (engine->is_of_another_process()) {
    return fail(ErrorKind::FailedPrecondition, "Loader: it was made before fork(); its threads run in the parent only");
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
  was_ready_ = false;
  InCall in_call{*engine, was_ready_};
  while (has_epoch(epoch)) {
    if (auto lost = begin_epoch_if_needed()) {
      engine->count_answer(now_ns() - wait_began_, false);
      return fail(told(*lost, call.tells_pending));
    }
    Answer answer = held_ ? *std::exchange(held_, std::nullopt) : ask(call.may_wait);
    engine->count_defects(context_);
    in_call.is_empty = answer.got == Got::pending;
    if (!in_call.is_empty) engine->count_answer(waited_ns_, answer.got == Got::value);
    if (Error unwritten = write_failures()) {
      if (!in_call.is_empty) held_ = std::move(answer);
      return fail(told(unwritten, call.tells_pending));
    }
    call.is_pending = in_call.is_empty;
    if (call.is_pending) return fail(ErrorKind::DeadlineExceeded, "Loader: no batch is ready");
    gave_ = gave_ || answer.got != Got::end;
    if (answer.got == Got::error) return failed(answer.error, call);
    if (answer.got == Got::value) return give(answer.element);
    end_epoch();
    if (options.epochs < 0 && !gave_) return fail(internal::futile_epoch("Loader", epoch - 1));
    if (call.in_epoch) break;
  }
  return fail(internal::end_of_data("Loader"));
}

Loader::Run::Answer Loader::Run::ask(bool may_wait) {
  Answer answer;
  answer.got = pull(answer.element, may_wait);
  if (answer.got == Got::error) answer.error = std::move(context_.error);  // Nothing of it stays here.
  return answer;
}

Got Loader::Run::pull(Element& out, bool may_wait) {
  if (is_lost_) return Got::end;
  for (bool waited = false;; waited = true) {
    if (waited && look_for_interrupt())
      return context_.fail(Error(ErrorKind::Cancelled, "Loader: next() was interrupted"));
    const uint64_t seen = engine->consumer.progress();
    const Got got = next_of_iterator(out);
    if (got != Got::pending) {
      waited_ns_ = wait_began_ > 0 ? now_ns() - wait_began_ : -1;
      if (!waited && waited_ns_ < kLongOpenNs) waited_ns_ = -1;
      was_ready_ = got == Got::value && is_made_ahead && !in_order && !waited && wait_began_ == 0;
      return got;
    }
    if (wait_began_ == 0) wait_began_ = now_ns();
    if (engine->help(context_, may_wait)) continue;
    if (engine->threads == 0) {
      return context_.fail(
          Error(ErrorKind::Unknown, "Loader: internal error: nothing is ready and nothing can be computed"));
    }
    if (!may_wait) return Got::pending;
    const trace::SpanWithArgs span("wait for a batch", trace::Category::wait,
                                   trace::enabled() ? this_wait() : next_batch());
    engine->wait(seen);
  }
}

Got Loader::Run::next_of_iterator(Element& out) {
  const CurrentPool current(engine->memory.pool());
  try {
    return iterator_->next(context_, out);
  } catch (...) {
    out.clear();
    return context_.fail(current_exception_error());
  }
}

Error Loader::Run::write_failures() {
  if (!context_.failed.empty()) {
    failures.add(context_.failed);
    engine->set_failed(failures.counts());
  }
  auto written = failures.write();
  return written ? Error() : written.error();
}

Result<Batch> Loader::Run::give(Element& out) {
  const int64_t size = internal::bytes_of(out);
  if (size > *options.memory) {
    return fail(ErrorKind::ResourceExhausted,
                fmt::format("Loader: element {} of epoch {} takes {} bytes, more than the memory of {}", index_ + 1,
                            epoch, size, *options.memory));
  }
  ++index_;
  failed_begins_ = 0;
  remember();
  engine->give_to_program(out, size);
  out.set_names(names_);
  return Result<Batch>(tl::in_place, std::move(out), static_cast<int64_t>(epoch), index_);
}

tl::unexpected<Error> Loader::Run::failed(const Error& error, const Call& call) {
  lose(error);
  if (trace::enabled()) {
    const int64_t text = trace::text_arg(trace::intern_message(error.message()));
    trace::instant("error", trace::Category::step, {&kErrorArgs, {text, static_cast<int64_t>(epoch), index_ + 1}});
  }
  return fail(told(error, call.tells_pending));
}

void Loader::Run::remember() {
  state.index = index_ + 1;
  state.position = internal::position_of(*iterator_);
}

std::string Loader::Run::text_of(const internal::RunState& at) {
  if (auto synced = failures.sync(); !synced) log(LogLevel::warning, synced.error().to_string());
  trace::instant("checkpoint", trace::Category::step, {&kBatchArgs, {static_cast<int64_t>(at.epoch), at.index}});
  return internal::save(at, identity.get(), options.seed);
}

trace::Args Loader::Run::this_wait() const {
  const char* const kind = internal::name_of(engine->kind_of_wait());
  return {&kWaitArgs, {trace::text_arg(kind), static_cast<int64_t>(epoch), index_ + 1}};
}

trace::Args Loader::Run::next_batch() const { return {&kBatchArgs, {static_cast<int64_t>(epoch), index_ + 1}}; }

}  // namespace headpond
