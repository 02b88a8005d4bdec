// SPDX-License-Identifier: Apache-2.0
#include "headpond/dataset/dataset.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
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

// The lines of a plan. Nodes with equal lines and equal inputs are one part, so that the text of a long plan depends on
// what it says, and not on which of its nodes are one object.
class PlanText {
 public:
  explicit PlanText(Line line) : line_(line) {}

  std::string of(const Node& root) {
    const size_t part = part_of(root);
    refers_ = parts_[part].lines > kMostLines;
    write(part, 0);
    return std::move(text_);
  }

 private:
  // Of a longer plan each part is written once; where it is used again, a line names the step that it is written as.
  static constexpr uint64_t kMostLines = uint64_t{1} << 16;

  struct Part {
    std::string line;
    std::vector<size_t> inputs = {};
    uint64_t lines = 1;  // Its own and those of its inputs; kMostLines + 1 stands for any more.
    size_t step = 0;     // The first one as which it is written, from 1.
  };

  size_t part_of(const Node& node) {
    const auto known = of_node_.find(&node);
    if (known != of_node_.end()) return known->second;
    Part part{.line = (node.*line_)()};
    for (const Node::Ref& input : node.facts().inputs) {
      part.inputs.push_back(part_of(*input));
      part.lines = std::min(part.lines + parts_[part.inputs.back()].lines, kMostLines + 1);
    }
    const auto [equal, is_new] = of_content_.try_emplace({part.line, part.inputs}, parts_.size());
    if (is_new) parts_.push_back(std::move(part));
    return of_node_[&node] = equal->second;
  }

  void write(size_t number, size_t depth) {
    Part& part = parts_[number];
    const bool is_again = refers_ && part.step > 0 && !part.inputs.empty();
    for (const size_t input : is_again ? std::vector<size_t>() : part.inputs) {
      write(input, depth + (part.inputs.size() > 1 ? 1 : 0));
    }
    fmt::format_to(std::back_inserter(text_), "{:{}}{}", "", 2 * depth, part.line);
    if (is_again) fmt::format_to(std::back_inserter(text_), ", as step {}", part.step);
    text_ += "\n";
    ++steps_;
    if (part.step == 0) part.step = steps_;
  }

  const Line line_;
  std::map<const Node*, size_t> of_node_;
  std::map<std::pair<std::string, std::vector<size_t>>, size_t> of_content_;
  std::vector<Part> parts_;
  bool refers_ = false;
  size_t steps_ = 0;
  std::string text_;
};

// A run opens a part once for each use: in zips of a dataset with itself, stacked high, so often that it would never
// begin. Throws where that is beyond all doubt. Inputs of concatenate count like those of zip: each use is opened by
// itself, all at once if it has positions. To repeat one input there is repeat(), which counts once. `nodes`: what
// nodes_of() gave of a dataset.
void check_uses(const std::vector<const Node*>& nodes) {
  constexpr uint64_t kMostAgain = uint64_t{1} << 20;
  constexpr uint64_t kMany = uint64_t{1} << 62;  // Stands for any more.
  std::map<const Node*, uint64_t> opened;
  for (const Node* const node : nodes) {
    uint64_t count = 1;
    for (const Node::Ref& input : node->facts().inputs) count = std::min(count + opened[input.get()], kMany);
    opened[node] = count;
  }
  const uint64_t count = opened[nodes.back()];
  if (count - nodes.size() <= kMostAgain) return;
  refuse(nodes.back()->facts().op,
         fmt::format("a run would open {} operators, because an input is opened once for each use; at most {} uses may "
                     "be repeated: save what is used so often, and read that",
                     count < kMany ? fmt::to_string(count) : "more than 10^18", kMostAgain));
}

}  // namespace

std::optional<int64_t> Dataset::cardinality() const {
  if (node_->slots() == kEndless && node_->kind() != Kind::indexed) return std::nullopt;
  if (node_->kind() != Kind::indexed && node_->slots() > 0) return std::nullopt;
  return node_->slots();
}

std::string Dataset::plan() const { return PlanText(&Node::title_with_data).of(*node_); }

std::string internal::identity_of(const Dataset& dataset) { return PlanText(&Node::identity).of(*dataset.node()); }

void internal::one_by_one(int64_t count, const std::function<void(int64_t)>& each) {
  for (int64_t i = 0; i < count; ++i) each(i);
}

void internal::prepare(const Dataset& dataset, const ParallelFor& parallel) {
  const std::vector<const Node*> nodes = nodes_of(*dataset.node());
  check_uses(nodes);
  for (const Node* const node : nodes) node->prepare(parallel);
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
