// SPDX-License-Identifier: Apache-2.0
#include "headpond/dataset/dataset.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "headpond/dataset/run_state.h"

namespace headpond {
namespace {

// Goes through the positions of a node, without its holes.
class Positions final : public Iterator {
 public:
  Positions(const Node& node, const Binding& binding) : view_(node.bind(binding)), slots_(node.slots()), holes_(node) {}

  Got next(Context& context, Element& out) override {
    while (next_ < slots_) {
      const Got got = holes_.count(internal::ask(*view_, next_++, context, {}, out), context);
      if (got != Got::hole) return got;
      out.clear();
    }
    return Got::end;
  }
  void visit_state(StateVisitor& visitor) override { visitor.number_within(next_, 0, slots_); }

 private:
  const std::shared_ptr<const View> view_;
  const int64_t slots_;
  int64_t next_ = 0;
  internal::Holes holes_;
};

void write_plan(const Node& node, size_t depth, std::string& text) {
  for (const Node::Ref& input : node.facts().inputs) {
    write_plan(*input, depth + (node.facts().inputs.size() > 1 ? 1 : 0), text);
  }
  fmt::format_to(std::back_inserter(text), "{:{}}{}\n", "", 2 * depth, node.title());
}

}  // namespace

std::optional<int64_t> Dataset::cardinality() const {
  if (node_->slots() == kEndless && node_->kind() != Kind::indexed) return std::nullopt;
  if (node_->kind() != Kind::indexed && node_->slots() > 0) return std::nullopt;
  return node_->slots();
}

std::string Dataset::plan() const {
  std::string text;
  write_plan(*node_, 0, text);
  return text;
}

std::string to_string(const Spec& spec) {
  std::string text = "{";
  for (size_t i = 0; i < spec.size(); ++i) {
    const FieldSpec& field = spec[i];
    text +=
        fmt::format("{}{}: {}{}", i > 0 ? ", " : "", field.name.empty() ? fmt::format("{}", i) : "'" + field.name + "'",
                    name(field.dtype), field.shape.to_string());
  }
  return text + "}";
}

std::unique_ptr<Iterator> open(const Node& node, const Binding& binding, Feed& feed) {
  if (node.iterates()) return node.iterate(binding, feed);
  return std::make_unique<Positions>(node, binding);
}

void internal::refuse(const std::string& op, const std::string& what) {
  throw Exception(Error(ErrorKind::InvalidArgument, fmt::format("{}: {}", op, what)));
}

std::string internal::element_name(uint64_t key, Provenance provenance) {
  const std::string record = to_string(provenance);
  return record.empty() ? fmt::format("element {}", key) : record;
}

}  // namespace headpond
