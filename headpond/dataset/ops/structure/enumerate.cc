// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <cstring>

#include "headpond/dataset/field_internal.h"
#include "headpond/dataset/ops/structure.h"
#include "headpond/dataset/ops/structure/choosing_internal.h"

namespace headpond {
namespace {

using internal::Choice;

// `out`, which is empty, becomes start + i and the fields of `in`.
Got number(int64_t start, int64_t i, Element& in, Context& context, OutputSlots outputs, Element& out) {
  int64_t index = 0;
  if (__builtin_add_overflow(start, i, &index)) {
    return context.fail(Error(ErrorKind::OutOfRange, fmt::format("enumerate(start={}): no number for {}", start, i)));
  }
  std::memcpy(context.allocate_output(out, outputs, DType::i64, {}), &index, sizeof(index));
  for (size_t field = 0; field < in.size(); ++field) out.append(std::move(in[field]));
  out.key = in.key;
  out.provenance = in.provenance;
  return Got::value;
}

class EnumerateView final : public View {
 public:
  EnumerateView(std::shared_ptr<const View> input, int64_t start) : input_(std::move(input)), start_(start) {}
  Got at(int64_t i, Context& context, OutputSlots outputs, Element& out) const override {
    Element in;
    const Got got = input_->at(i, context, outputs.empty() ? outputs : outputs.subspan(1), in);
    return got == Got::value ? number(start_, i, in, context, outputs, out) : got;
  }
  bool fill(std::span<const int64_t> positions, Context& context, OutputSlots columns, uint64_t* keys) const override {
    for (size_t r = 0; r < positions.size(); ++r) {
      int64_t index = 0;
      if (__builtin_add_overflow(start_, positions[r], &index)) return false;
      std::memcpy(columns[0].data + r * sizeof(index), &index, sizeof(index));
    }
    return input_->fill(positions, context, columns.empty() ? columns : columns.subspan(1), keys);
  }

 private:
  const std::shared_ptr<const View> input_;
  const int64_t start_;
};

struct Numbering {
  int64_t start;

  Choice choose(int64_t& next) const {
    ++next;
    return Choice::keep;
  }
  int64_t most() const { return kEndless; }
  Got change(int64_t i, Context& context, Element& out) const {
    Element in = std::move(out);
    return number(start, i, in, context, {}, out);
  }
};

Node::Facts facts_of(const Node::Ref& input, int64_t start) {
  Node::Facts facts = internal::counting_facts(input, "enumerate", fmt::format("start={}", start));
  facts.spec.insert(facts.spec.begin(), {"index", DType::i64, {}});
  internal::check_names("enumerate", facts.spec);
  if (facts.slots != kEndless && start > kEndless - facts.slots) {
    internal::refuse("enumerate", fmt::format("start={} and {} elements go beyond 2^63 - 1", start, facts.slots));
  }
  return facts;
}

class Enumerate final : public Node {
 public:
  Enumerate(const Node::Ref& input, int64_t start) : Node(facts_of(input, start)), start_(start) {}

  std::shared_ptr<const View> bind(const Binding& binding) const override {
    return std::make_shared<EnumerateView>(view_of(input(), binding), start_);
  }
  std::unique_ptr<Iterator> iterate(const Binding& binding, Feed& feed) const override {
    return std::make_unique<internal::CountingIterator<Numbering>>(feed.open(input(), binding), Numbering{start_});
  }

 private:
  const int64_t start_;
};

}  // namespace

Step enumerate(int64_t start) {
  return [start](const Dataset& input) { return Dataset(std::make_shared<Enumerate>(input.node(), start)); };
}

}  // namespace headpond
