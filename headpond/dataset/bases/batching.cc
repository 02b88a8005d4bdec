// SPDX-License-Identifier: Apache-2.0
#include "headpond/dataset/bases/batching.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "headpond/dataset/bases/stack_internal.h"
#include "headpond/dataset/dataset.h"

namespace headpond {
namespace {

Got assemble(const Batching& node, std::span<const Element> rows, int64_t number, Context& context, OutputSlots outputs,
             Element& out) {
  try {
    node.stack(rows, context, outputs, out);
  } catch (...) {
    out.clear();
    return context.fail(current_exception_error());
  }
  internal::name_batch(out, number);
  return Got::value;
}

Error check_next(const Batching& node, const std::vector<Element>& rows, const Element& row) {
  return node.check_row(rows.empty() ? nullptr : rows.data(), static_cast<int64_t>(rows.size()), row);
}

class GatherView final : public View {
 public:
  GatherView(const Batching& node, const Binding& binding) : node_(node), input_(view_of(node.input(), binding)) {}

  Got at(int64_t k, Context& context, OutputSlots outputs, Element& out) const override {
    std::vector<Element> rows;
    const int64_t first = k * node_.batch_size();
    for (int64_t i = first; i < first + node_.rows_at(k); ++i) {
      Element row;
      if (const Got got = input_->at(i, context, {}, row); got != Got::value) return got;
      if (Error error = check_next(node_, rows, row)) return context.fail(std::move(error));
      rows.push_back(std::move(row));
    }
    return assemble(node_, rows, k, context, outputs, out);
  }

 private:
  const Batching& node_;
  const std::shared_ptr<const View> input_;
};

class BatchIterator final : public Iterator {
 public:
  BatchIterator(const Batching& node, std::unique_ptr<Iterator> input) : node_(node), input_(std::move(input)) {}

  Got next(Context& context, Element& out) override {
    while (std::cmp_less(rows_.size(), node_.batch_size())) {
      Element row;
      const Got got = input_->next(context, row);
      if (got == Got::end) {
        if (node_.drop_remainder()) rows_.clear();
        if (rows_.empty()) return Got::end;
        break;
      }
      out.key = row.key;  // Key of the row that fails.
      out.provenance = row.provenance;
      if (got != Got::value) return got;
      if (Error error = check_next(node_, rows_, row)) return context.fail(std::move(error));
      rows_.push_back(std::move(row));
    }
    const Got got = assemble(node_, rows_, given_, context, {}, out);
    if (got == Got::value) ++given_;
    rows_.clear();
    return got;
  }
  // A state is taken after a batch, when no rows are gathered.
  void visit_state(StateVisitor& visitor) override {
    visitor.number_within(given_, 0, kEndless);
    input_->visit_state(visitor);
  }

 private:
  const Batching& node_;
  const std::unique_ptr<Iterator> input_;
  std::vector<Element> rows_;
  int64_t given_ = 0;
};

Node::Facts facts_of(std::string op, std::string args, const Node::Ref& input, const Spec& rows, int64_t batch_size,
                     bool drop_remainder, const Spec& batches) {
  if (batch_size < 1) refuse(op, fmt::format("batch_size={}: it must be at least 1", batch_size));
  const auto count = [batch_size, drop_remainder](int64_t slots) {
    if (slots == kEndless) return kEndless;
    return slots / batch_size + (slots % batch_size != 0 && !drop_remainder ? 1 : 0);
  };
  const bool indexed = input->kind() == Kind::indexed;
  Node::Facts facts{.op = std::move(op),
                    .args = fmt::format("batch_size={}, drop_remainder={}{}", batch_size, drop_remainder, args),
                    .kind = indexed ? Kind::indexed : Kind::stream,
                    .slots = input->facts().slots.then(count),
                    .inputs = {input},
                    .role = Role::batch};
  // Unknown also if the input divides evenly: elements that fail are missing in the last batch.
  const int64_t height = drop_remainder ? batch_size : kUnknown;
  for (const FieldSpec& field : rows) facts.spec.push_back({field.name, field.dtype, field.shape.stacked(height)});
  if (!batches.empty()) facts.spec = batches;
  return facts;
}

}  // namespace

Batching::Batching(std::string op, std::string args, const Node::Ref& input, const Spec& rows, int64_t batch_size,
                   bool drop_remainder, const Spec& batches)
    : Node(facts_of(std::move(op), std::move(args), input, rows, batch_size, drop_remainder, batches)),
      batch_size_(batch_size),
      drop_remainder_(drop_remainder) {}

std::shared_ptr<const View> Batching::bind(const Binding& binding) const {
  if (kind() != Kind::indexed) return Node::bind(binding);
  return std::make_shared<GatherView>(*this, binding);
}

std::unique_ptr<Iterator> Batching::iterate(const Binding& binding, Feed& feed) const {
  return std::make_unique<BatchIterator>(*this, feed.open(input(), binding));
}

Error Batching::check_row(const Element* first, int64_t number, const Element& row) const {
  const Error error = check(first, number, row);
  if (!error) return {};
  return {error.kind(), fmt::format("{}, {}: {}", title(), element_name(row.key, row.provenance), error.message())};
}

int64_t Batching::rows_at(int64_t k) const { return std::min(batch_size_, input().slots() - k * batch_size_); }

Got stack_rows(std::span<const Element> rows, Context& context, OutputSlots outputs, Element& out) {
  for (size_t r = 1; r < rows.size(); ++r) {
    if (Error error = internal::check_same_shapes(rows[0], static_cast<int64_t>(r), rows[r])) {
      return context.fail(std::move(error));
    }
  }
  for (size_t field = 0; field < rows[0].size(); ++field) internal::stack_field(rows, field, context, outputs, out);
  return Got::value;
}

uint64_t internal::batch_key(int64_t number) {
  constexpr uint64_t kBatch = 0x6261746368;  // "batch"
  return mix(kBatch, static_cast<uint64_t>(number));
}

void internal::name_batch(Element& batch, int64_t number) {
  static const uint64_t source = register_source("batch");
  batch.key = batch_key(number);
  batch.provenance = {.source = source, .record = static_cast<uint64_t>(number)};
}

}  // namespace headpond
