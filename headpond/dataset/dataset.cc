// SPDX-License-Identifier: Apache-2.0
#include "headpond/dataset/dataset.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <string_view>

#include "headpond/dataset/run_state.h"
#include "headpond/tensor/source_names.h"

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

using Line = std::string (Node::*)() const;

void write_plan(const Node& node, Line line, size_t depth, std::string& text) {
  for (const Node::Ref& input : node.facts().inputs) {
    write_plan(*input, line, depth + (node.facts().inputs.size() > 1 ? 1 : 0), text);
  }
  fmt::format_to(std::back_inserter(text), "{:{}}{}\n", "", 2 * depth, (node.*line)());
}

void prepare_all(const Node& node, const ParallelFor& parallel, std::set<const Node*>& done) {
  if (!done.insert(&node).second) return;
  for (const Node::Ref& input : node.facts().inputs) prepare_all(*input, parallel, done);
  node.prepare(parallel);
}

}  // namespace

std::optional<int64_t> Dataset::cardinality() const {
  if (node_->slots() == kEndless && node_->kind() != Kind::indexed) return std::nullopt;
  if (node_->kind() != Kind::indexed && node_->slots() > 0) return std::nullopt;
  return node_->slots();
}

std::string Dataset::plan() const {
  std::string text;
  write_plan(*node_, &Node::title_with_data, 0, text);
  return text;
}

std::string internal::identity_of(const Dataset& dataset) {
  std::string text;
  write_plan(*dataset.node(), &Node::identity, 0, text);
  return text;
}

void internal::one_by_one(int64_t count, const std::function<void(int64_t)>& each) {
  for (int64_t i = 0; i < count; ++i) each(i);
}

void internal::prepare(const Dataset& dataset, const ParallelFor& parallel) {
  std::set<const Node*> done;
  prepare_all(*dataset.node(), parallel, done);
}

Result<void> check(const Dataset& dataset) {
  try {
    internal::prepare(dataset, internal::one_by_one);
    (void)dataset.node()->slots();
    return {};
  } catch (...) {
    return fail(current_exception_error());
  }
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

void refuse(const std::string& op, const std::string& what) {
  throw Exception(Error(ErrorKind::InvalidArgument, fmt::format("{}: {}", op, what)));
}

std::string element_name(uint64_t key, Provenance provenance) {
  const std::string record = to_string(provenance);
  return record.empty() ? fmt::format("element {}", key) : record;
}

ErrorPlace element_place(std::string op, uint64_t key, Provenance provenance) {
  ErrorPlace place{.op = std::move(op), .key = key};
  RecordPlace found = place_of(provenance);
  if (!found.is_file) return place;
  place.source = std::move(found.source);
  place.record = found.record;
  return place;
}

}  // namespace headpond
