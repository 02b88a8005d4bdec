// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

#include "headpond/dataset/bases/batching.h"
#include "headpond/dataset/check_internal.h"
#include "headpond/dataset/ops/regroup/window_runs_internal.h"
#include "headpond/dataset/quarantine/failed_place_internal.h"

namespace headpond::internal {
namespace {

class WindowElements final : public Node {
 public:
  WindowElements(const Spec& spec, std::vector<Element> elements)
      : Node({.op = "elements", .spec = spec, .slots = static_cast<int64_t>(elements.size())}),
        elements_(std::move(elements)) {}
  std::shared_ptr<const View> bind(const Binding&) const override {
    class ElementsView final : public View {
     public:
      explicit ElementsView(const std::vector<Element>& elements) : elements_(elements) {}
      Got at(int64_t i, Context&, OutputSlots, Element& out) const override {
        out = elements_[static_cast<size_t>(i)];
        return Got::value;
      }

     private:
      const std::vector<Element>& elements_;
    };
    return std::make_shared<ElementsView>(elements_);
  }

 private:
  const std::vector<Element> elements_;
};

// Nodes in `seen` have none.
bool has_opaque(const Node& node, std::set<const Node*>& seen) {
  if (!seen.insert(&node).second) return false;
  const auto& inputs = node.facts().inputs;
  return node.facts().opaque ||
         std::any_of(inputs.begin(), inputs.end(), [&](const Node::Ref& input) { return has_opaque(*input, seen); });
}

}  // namespace

Dataset window_of(const Spec& spec, std::vector<Element> elements) {
  return Dataset(std::make_shared<WindowElements>(spec, std::move(elements)));
}

WindowRuns::WindowRuns(const Node& node, const Binding& binding, int64_t first)
    : node_(node), binding_(binding), source_(register_source(node.facts().op)), number_(first) {}

Error WindowRuns::named(const Error& error) const {
  return Error(error.kind(), fmt::format("{}, window {}: {}", node_.title(), number_, error.message()), error)
      .at({.op = node_.title()});
}

void WindowRuns::close() {
  elements_.reset();
  dataset_.reset();
  ++number_;
  given_ = 0;
}

Got WindowRuns::open(const std::function<Dataset()>& make, Context& context) {
  try {
    dataset_ = make();
    prepare(*dataset_, one_by_one);
    elements_ = feed_.open(*dataset_->node(),
                           {.seed = mix(binding_.seed, static_cast<uint64_t>(number_)), .epoch = binding_.epoch});
    if (given_ > 0) {
      StateVisitor visitor = StateVisitor::restoring(state_);
      elements_->visit_state(visitor);
      if (Error error = position_error(visitor)) throw Exception(error);
    }
    return Got::value;
  } catch (...) {
    const Error error = named(current_exception_error());
    close();
    return context.fail(error);
  }
}

Got WindowRuns::next(Context& context, Element& out) {
  const size_t known = context.failed.size();
  const Got got = elements_->next(context, out);
  const Provenance window{.source = source_, .record = static_cast<uint64_t>(number_)};
  tell_outer({.key = batch_key(number_), .provenance = window}, *dataset_->node(), known, context);
  if (got == Got::error) return context.fail(named(located(context.error, *dataset_->node(), out.provenance)));
  if (got == Got::end) close();
  if (got != Got::value) return got;
  if (const Error error = check_element(node_.spec(), out)) {
    out.clear();
    return context.fail(named(error));
  }
  out.key = mix(batch_key(number_), out.key);
  out.provenance = window;
  ++given_;
  const Node& node = *dataset_->node();
  if (node.kind() == Kind::indexed && given_ >= node.slots()) close();
  return got;
}

void WindowRuns::visit_state(StateVisitor& visitor) {
  visitor.number_within(number_, 0, kEndless);
  visitor.number_within(given_, 0, kEndless);
  if (given_ == 0) return;
  if (is_open()) state_ = position_of(*elements_);
  visitor.text(state_);
}

std::string steps_of(const Dataset& dataset) {
  std::string text = identity_of(dataset);
  if (!text.empty()) text.pop_back();
  for (size_t at = text.find('\n'); at != std::string::npos; at = text.find('\n', at)) text.replace(at, 1, " | ");
  return text;
}

Role role_of(const Dataset& dataset) {
  for (const Node* node = dataset.node().get(); !node->facts().inputs.empty(); node = &node->input()) {
    if (node->facts().role == Role::batch) return Role::batch;
  }
  return Role::other;
}

bool has_opaque(const Node& node) {
  std::set<const Node*> seen;
  return has_opaque(node, seen);
}

}  // namespace headpond::internal
