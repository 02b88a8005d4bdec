// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <map>

#include "headpond/dataset/bases/own_memory_internal.h"
#include "headpond/dataset/bases/resumable_input.h"
#include "headpond/dataset/ops/element/failure_limits_internal.h"
#include "headpond/dataset/quarantine/quarantine.h"
#include "headpond/dataset/run_state.h"
#include "headpond/tensor/source_names.h"

namespace headpond {

struct QuarantineReplay::Run {
  explicit Run(Dataset all) : dataset(std::move(all)) {
    internal::prepare(dataset, internal::one_by_one);
    (void)dataset.node()->slots();
    int64_t step = 0;
    find_handlers(*dataset.node(), step);
    pipeline = fmt::format("{:016x}", internal::fingerprint_of(dataset));
  }

  void find_handlers(const Node& node, int64_t& step) {
    for (const Node::Ref& input : node.facts().inputs) find_handlers(*input, step);
    ++step;
    if (node.facts().decides_in_order) inputs[step] = &node.input();
  }
  const Node* input_of(const QuarantineEntry& entry) const {
    const auto found = entry.step ? inputs.find(*entry.step) : inputs.end();
    return found == inputs.end() ? nullptr : found->second;
  }

  // The next element or failure that on_error counts. The run ends, by `iterator` being null, with an error that it
  // passes on, as with the end.
  Got next(Context& context, Element& out) {
    out = Element();
    Got got = Got::pending;
    while (got == Got::pending) got = iterator->next(context, out);
    context.failed.clear();
    ++next_element;
    if (got == Got::end || (got == Got::error && !internal::is_bad_data(context.error))) iterator.reset();
    return got;
  }

  // The element in order, after all before it.
  Got in_order(const Node& input, const Binding& binding, int64_t element, Context& context, Element& out) {
    if (iterator == nullptr || iterated != &input || iterated_as != binding || element < next_element) {
      iterator = feed.open(input, binding);
      iterated = &input;
      iterated_as = binding;
      next_element = 0;
    }
    Got got = next(context, out);
    while (iterator != nullptr && next_element <= element) got = next(context, out);
    return got;
  }

  Got answer(const Node& input, const QuarantineEntry& entry, Context& context, Element& out) {
    const Binding binding{.seed = static_cast<uint64_t>(entry.seed), .epoch = static_cast<uint64_t>(entry.epoch)};
    if (input.iterates()) return in_order(input, binding, entry.element, context, out);
    if (!entry.position || *entry.position >= input.slots()) return Got::end;
    return internal::ask(*context.view(input, binding), *entry.position, context, {}, out);
  }

  const Dataset dataset;
  std::string pipeline;
  std::map<int64_t, const Node*> inputs;  // Input of each on_error, by its step.
  internal::SequentialFeed feed;
  // The run in order that reads the entries now.
  std::unique_ptr<Iterator> iterator;
  const Node* iterated = nullptr;
  Binding iterated_as;
  int64_t next_element = 0;
};

QuarantineReplay::QuarantineReplay(Dataset dataset) : run_(std::make_unique<Run>(std::move(dataset))) {}
QuarantineReplay::~QuarantineReplay() = default;

Result<Element> QuarantineReplay::read(const QuarantineEntry& entry) try {
  const Node* const input = run_->input_of(entry);
  if (input == nullptr) {
    return fail(ErrorKind::FailedPrecondition, entry.step
                                                   ? fmt::format("step {} of the pipeline is no on_error", *entry.step)
                                                   : std::string("the on_error is in a dataset that a function made"));
  }
  Context context;
  Element out;
  const Got got = run_->answer(*input, entry, context, out);
  if (got == Got::end || got == Got::hole)
    return fail(ErrorKind::FailedPrecondition, fmt::format("the pipeline has no element {} there", entry.element));
  const RecordPlace from = place_of(out.provenance);
  const auto is_at = [&](const std::string& source, uint64_t record) {
    return source == entry.source && (!entry.record || std::cmp_equal(record, *entry.record));
  };
  // The entry has the record that failed, and a batch has no record of its own. Where the files of a folder were not
  // known any more, the entry has the folder and a number.
  const bool is_same = (got == Got::value && internal::gathers_rows(*input)) || is_at(from.source, from.record) ||
                       is_at(source_name(out.provenance.source), out.provenance.record);
  if (!is_same && !from.source.empty() && !entry.source.empty()) {
    return fail(ErrorKind::FailedPrecondition,
                fmt::format("the pipeline has another record there: {}", to_string(out.provenance)));
  }
  if (got != Got::value) return fail(internal::not_the_end(context.error, "replay"));
  internal::own_memory(out);
  out.set_names(internal::names_of(input->spec()));
  return out;
} catch (...) {
  return fail(internal::not_the_end(current_exception_error(), "replay"));
}

Spec QuarantineReplay::spec_of(const QuarantineEntry& entry) const {
  const Node* const input = run_->input_of(entry);
  return input != nullptr ? input->spec() : Spec();
}

bool QuarantineReplay::is_of_this_pipeline(const QuarantineEntry& entry) const {
  return entry.pipeline == run_->pipeline;
}

}  // namespace headpond
