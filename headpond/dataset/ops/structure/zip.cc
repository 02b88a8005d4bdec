// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "headpond/dataset/bases/columns.h"
#include "headpond/dataset/bases/field.h"
#include "headpond/dataset/bases/pointwise.h"
#include "headpond/dataset/ops/structure.h"
#include "headpond/dataset/views/lending.h"

namespace headpond {
namespace {

void append(Element& in, Element& out) {
  for (size_t field = 0; field < in.size(); ++field) out.append(std::move(in[field]));
  in.clear();
}

class ZipView final : public View, public internal::LendingView {
 public:
  ZipView(const Node& node, const Binding& binding) : node_(node) {
    for (const Node::Ref& input : node.facts().inputs) {
      inputs_.push_back(view_of(*input, binding));
      may_lend_.emplace_back(*inputs_.back());
    }
  }
  Got at(int64_t i, Context& context, OutputSlots outputs, Element& out) const override {
    return join(out, [&](size_t k, Element& in) {
      return inputs_[k]->at(i, context, take_first(outputs, node_.input(k).spec().size()), in);
    });
  }
  Got lend(int64_t i, Context& context, Element& out, internal::Loan& loan) const override {
    return join(out, [&](size_t k, Element& in) { return may_lend_[k].lend(i, context, in, loan); });
  }
  bool fill(std::span<const int64_t> positions, Context& context, OutputSlots columns, uint64_t* keys) const override {
    for (size_t k = 0; k < inputs_.size(); ++k) {
      const OutputSlots own = take_first(columns, node_.input(k).spec().size());
      if (!inputs_[k]->fill(positions, context, own, k == 0 ? keys : nullptr)) return false;
    }
    return true;
  }

 private:
  // `ask(k, in)` asks input k.
  template <class Ask>
  Got join(Element& out, const Ask& ask) const {
    Element in;
    for (size_t k = 0; k < inputs_.size(); ++k) {
      if (const Got got = ask(k, k == 0 ? out : in); got != Got::value) {
        if (k > 0) out.provenance = in.provenance;  // The one that failed.
        return got;
      }
      append(in, out);
    }
    return Got::value;
  }

  const Node& node_;
  std::vector<std::shared_ptr<const View>> inputs_;
  std::vector<internal::MayLend> may_lend_;
};

class ZipIterator final : public Iterator {
 public:
  ZipIterator(const Node& node, const Binding& binding, Feed& feed) : row_(node.facts().inputs.size()) {
    for (const Node::Ref& input : node.facts().inputs) inputs_.push_back(feed.open(*input, binding));
  }
  Got next(Context& context, Element& out) override {
    for (; turn_ < inputs_.size(); ++turn_) {
      row_[turn_].clear();  // A row that failed may have left an element.
      row_[turn_].provenance = {};
      const Got got = inputs_[turn_]->next(context, row_[turn_]);
      if (got == Got::end || got == Got::pending) return got;
      if (got != Got::error || error_) continue;
      error_ = std::move(context.error);
      failed_ = turn_;
    }
    turn_ = 0;
    out.key = row_[0].key;
    out.provenance = row_[failed_].provenance;
    if (error_) return context.fail(std::exchange(error_, {}));
    out.provenance = row_[0].provenance;
    for (Element& in : row_) append(in, out);
    return Got::value;
  }
  /// REQUIRES: the last next(), if any, did not return pending. A row that an input's end left incomplete is not saved:
  /// that input ends again.
  void visit_state(StateVisitor& visitor) override {
    for (const auto& input : inputs_) input->visit_state(visitor);
  }

 private:
  std::vector<std::unique_ptr<Iterator>> inputs_;
  std::vector<Element> row_;  // The row's elements so far: those of the inputs before turn_.
  size_t turn_ = 0;
  Error error_;        // The first one of this row.
  size_t failed_ = 0;  // The input that it came from.
};

Node::Facts facts_of(const std::vector<Dataset>& inputs) {
  if (inputs.empty()) refuse("zip", "no inputs");
  Node::Facts facts{.op = "zip", .args = "inputs=" + std::to_string(inputs.size())};
  facts.is_of_library = true;
  for (const Dataset& input : inputs) {
    facts.spec.insert(facts.spec.end(), input.spec().begin(), input.spec().end());
    if (input.kind() != Kind::indexed) facts.kind = Kind::stream;
    facts.inputs.push_back(input.node());
  }
  facts.slots = slots_of_all(facts.inputs, kEndless, [](int64_t a, int64_t b) { return std::min(a, b); });
  check_names("zip", facts.spec);
  return facts;
}

class Zip final : public Node {
 public:
  explicit Zip(const std::vector<Dataset>& inputs) : Node(facts_of(inputs)) {}
  std::shared_ptr<const View> bind(const Binding& b) const override { return std::make_shared<ZipView>(*this, b); }
  std::unique_ptr<Iterator> iterate(const Binding& binding, Feed& feed) const override {
    return std::make_unique<ZipIterator>(*this, binding, feed);
  }
};

}  // namespace

Dataset zip(const std::vector<Dataset>& inputs) { return Dataset(std::make_shared<Zip>(inputs)); }

}  // namespace headpond
