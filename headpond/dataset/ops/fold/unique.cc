// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <unordered_set>

#include "headpond/dataset/bases/pointwise.h"
#include "headpond/dataset/ops/fold.h"
#include "headpond/dataset/run_state.h"

namespace headpond {
namespace {

// What tells values apart: of a text its bytes, else shape and bytes.
std::string text_of(const Tensor& value) {
  if (value.dtype() == DType::bytes && value.rank() == 0) return std::string(value.bytes_at(0));
  std::string text;
  for (int axis = 0; axis < value.rank(); ++axis) text += fmt::format("{},", value.dim(axis));
  return text.append(reinterpret_cast<const char*>(value.data()), value.byte_size());
}

// The state is how many answers of the input came. A restored run asks for as many again before it goes on.
class UniqueIterator final : public Iterator {
 public:
  UniqueIterator(const Node& node, const Node& input, const Binding& binding, Feed& feed)
      : node_(input), binding_(binding), feed_(feed), holes_(node) {}
  Got next(Context& context, Element& out) override {
    if (!input_) input_ = feed_.open(node_, binding_);
    while (true) {
      const size_t known = context.failed.size();
      Got got = input_->next(context, out);
      if (read_ < passed_) context.failed.resize(known);
      if (got == Got::pending || got == Got::end) return got;
      const bool is_new = got != Got::value || seen_.insert(text_of(out[size_t{0}])).second;
      const bool came_before = read_++ < passed_;
      if (!came_before) passed_ = read_;
      if (!came_before) got = holes_.count(is_new ? got : Got::hole, context);
      if (!came_before && got != Got::hole) return got;
      out.clear();
    }
  }
  void visit_state(StateVisitor& visitor) override { visitor.number_within(passed_, 0, kEndless); }

 private:
  const Node& node_;
  const Binding binding_;
  Feed& feed_;
  std::unique_ptr<Iterator> input_;
  std::unordered_set<std::string> seen_;
  int64_t read_ = 0;    // Answers of the input. Less than passed_ after a restore.
  int64_t passed_ = 0;  // How many of them come before this iterator's position.
  internal::Holes holes_;
};

class Unique final : public Node {
 public:
  explicit Unique(Facts facts) : Node(std::move(facts)) {}
  std::unique_ptr<Iterator> iterate(const Binding& binding, Feed& feed) const override {
    return std::make_unique<UniqueIterator>(*this, input(), binding, feed);
  }
};

}  // namespace

Step unique() {
  return [](const Dataset& input) {
    const Spec& spec = input.spec();
    const auto fits = [](DType dtype) { return dtype == DType::i64 || dtype == DType::i32 || dtype == DType::bytes; };
    if (spec.size() != 1 || !fits(spec[0].dtype)) {
      refuse("unique", fmt::format("needs one field of int64, int32 or bytes, not {}", to_string(spec)));
    }
    Node::Facts facts = facts_over(input.node(), "unique", "", spec);
    facts.kind = Kind::stream;
    facts.computes = true;
    facts.replays = true;
    return Dataset(std::make_shared<Unique>(std::move(facts)));
  };
}

}  // namespace headpond
