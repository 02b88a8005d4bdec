// SPDX-License-Identifier: Apache-2.0
#include "headpond/dataset/sequence.h"

#include <optional>
#include <utility>

#include "headpond/base/log.h"
#include "headpond/dataset/migrate/in_order.h"
#include "headpond/dataset/quarantine/failure_log.h"
#include "headpond/dataset/run_state.h"

namespace headpond {

struct Sequence::Run {
  Run(Dataset d, SequenceOptions o)
      : dataset(std::move(d)),
        options(std::move(o)),
        names(internal::names_of(dataset.spec())),
        failures(dataset, options.seed, options.quarantine) {
    internal::prepare(dataset, internal::one_by_one);
    const int64_t slots = dataset.node()->slots();
    if (slots == kEndless && dataset.kind() == Kind::indexed && options.epochs != 1) {
      refuse("Sequence", "a dataset without an end has one epoch; limit it with take()");
    }
  }

  bool has_epoch() const { return options.epochs < 0 || epoch < static_cast<uint64_t>(options.epochs); }
  void begin_epoch() {
    iterator = feed.open(*(in_order ? *in_order : dataset).node(), {options.seed, epoch});
    state = {.epoch = epoch, .index = 0, .position = {}};
    index = -1;
    gave = false;
  }
  // After an exception on opening, the epoch has ended.
  Got next_of_iterator(Element& out) {
    if (is_lost) return Got::end;
    try {
      if (!iterator) begin_epoch();
      return iterator->next(context, out);
    } catch (...) {
      is_lost = !iterator;
      out.clear();
      return context.fail(current_exception_error());
    }
  }
  struct Answer {
    Got got = Got::end;
    Element element;
    Error error;
  };
  Answer ask() {
    Answer answer;
    answer.got = next_of_iterator(answer.element);
    if (answer.got == Got::error) answer.error = std::move(context.error);
    return answer;
  }
  Result<Element> next() {
    while (has_epoch()) {
      Answer answer = held ? *std::exchange(held, std::nullopt) : ask();
      failures.add(context.failed);
      if (auto written = failures.write(); !written) {
        held = std::move(answer);
        return fail(written.error());
      }
      gave = gave || answer.got == Got::value || answer.got == Got::error;
      switch (answer.got) {
        case Got::value:
          state.index = ++index + 1;
          state.position = internal::position_of(*iterator);
          answer.element.set_names(names);
          return std::move(answer.element);
        case Got::error:
          return fail(internal::not_the_end(answer.error, "Sequence"));
        case Got::pending:
          continue;
        default:
          ++epoch;
          is_lost = false;
          iterator.reset();
          in_order.reset();
          state = {.epoch = epoch, .index = 0, .position = {}};
          if (options.epochs < 0 && !gave) return fail(internal::futile_epoch("Sequence", epoch - 1));
      }
    }
    return fail(internal::end_of_data("Sequence"));
  }

  const Dataset dataset;
  const SequenceOptions options;
  const Element::Names names;
  internal::SequentialFeed feed;
  Context context;
  std::optional<Dataset> in_order;     // Runs this epoch instead of `dataset`: its plan changed on the way.
  std::unique_ptr<Iterator> iterator;  // Null: at the beginning of `epoch`.
  uint64_t epoch = 0;
  int64_t index = -1;
  bool is_lost = false;      // It could not be opened.
  bool gave = false;         // An element or an error, in this epoch.
  internal::RunState state;  // After the last element.
  internal::FailureLog failures;
  std::optional<Answer> held;  // To be given when what came before it is written down.
};

Sequence::Sequence(Dataset dataset, SequenceOptions options)
    : run_(std::make_unique<Run>(std::move(dataset), std::move(options))) {}
Sequence::~Sequence() = default;
Sequence::Sequence(Sequence&& other) noexcept = default;
Sequence& Sequence::operator=(Sequence&& other) noexcept = default;

Sequence::Run& Sequence::run() const {
  if (!run_) throw Exception(Error(ErrorKind::FailedPrecondition, "Sequence: it was moved from"));
  return *run_;
}

Result<Sequence> Sequence::restored(Dataset dataset, SequenceOptions options, std::string_view state) {
  Sequence sequence(std::move(dataset), std::move(options));
  Run& run = *sequence.run_;
  auto restored = internal::restore(state, run.dataset, run.options.seed);
  if (!restored) return fail(restored.error());
  run.epoch = restored->epoch;
  if (restored->position.empty()) {
    run.state = std::move(*restored);
    return sequence;
  }
  if (!restored->in_order.empty()) {
    auto in_order = internal::run_in_order(run.dataset, restored->in_order);
    if (!in_order) return fail(in_order.error());
    run.in_order = std::move(*in_order);
  }
  run.begin_epoch();
  StateVisitor visitor = StateVisitor::restoring(restored->position);
  run.iterator->visit_state(visitor);
  if (Error error = internal::position_error(visitor)) return fail(std::move(error));
  run.index = restored->index - 1;
  run.gave = true;
  run.state = std::move(*restored);
  return sequence;
}

Result<Element> Sequence::next() { return run().next(); }
int64_t Sequence::epoch() const { return static_cast<int64_t>(run().epoch); }
int64_t Sequence::index() const { return run().index; }
const std::vector<FailedCounts>& Sequence::failed() const { return run().failures.counts(); }
std::string Sequence::state() const {
  Run& all = run();
  if (auto synced = all.failures.sync(); !synced) log(LogLevel::warning, synced.error().to_string());
  return internal::save(all.state, all.dataset, all.options.seed);
}

}  // namespace headpond
