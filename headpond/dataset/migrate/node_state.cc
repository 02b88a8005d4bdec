// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <utility>

#include "headpond/dataset/migrate/in_order.h"
#include "headpond/dataset/migrate/node_state_internal.h"
#include "headpond/dataset/run_state.h"

namespace headpond::internal {
namespace {

// Opens a dataset sequentially, and notes which part of a saved state each iterator wrote.
class NotingFeed final : public Feed {
 public:
  std::unique_ptr<Iterator> open(const Node& node, const Binding& binding) override {
    return std::make_unique<Noted>(*this, node, headpond::open(node, binding, *this));
  }
  NodeState take() { return std::move(last_); }

 private:
  struct Open {
    const Node* node;  // The node that was opened.
    const StateVisitor* visitor;
    size_t own_from;
    NodeState state;
  };

  class Noted final : public Iterator {
   public:
    Noted(NotingFeed& feed, const Node& node, std::unique_ptr<Iterator> iterator)
        : feed_(feed), node_(node), iterator_(std::move(iterator)) {}
    Got next(Context& context, Element& out) override { return iterator_->next(context, out); }
    void visit_state(StateVisitor& visitor) override {
      if (visitor.is_restoring()) return iterator_->visit_state(visitor);
      feed_.begin(node_, visitor);
      const size_t from = visitor.saved().size();
      iterator_->visit_state(visitor);
      feed_.end(visitor, from);
    }

   private:
    NotingFeed& feed_;
    const Node& node_;
    const std::unique_ptr<Iterator> iterator_;
  };

  void begin(const Node& node, const StateVisitor& visitor) {
    const size_t from = visitor.saved().size();
    if (!open_.empty() && open_.back().visitor == &visitor) add_own(open_.back(), from);
    Open open{&node, &visitor, from, {}};
    const Node& plan = plan_node(node);
    open.state.node = &plan;
    open.state.in_order = &plan != &node && !plan.iterates();
    open_.push_back(std::move(open));
  }
  void end(const StateVisitor& visitor, size_t from) {
    Open done = std::move(open_.back());
    open_.pop_back();
    done.state.bytes = visitor.saved().substr(from);
    if (done.node->iterates()) {
      add_own(done, visitor.saved().size());
    } else {
      StateVisitor reader = StateVisitor::restoring(done.state.bytes);
      reader.number(done.state.position.emplace());
    }
    if (open_.empty()) {
      last_ = std::move(done.state);
    } else if (open_.back().visitor == &visitor) {
      add_input(open_.back(), done, visitor.saved().size());
    }
  }
  static void add_own(Open& open, size_t to) {
    open.state.own.push_back(open.visitor->saved().substr(open.own_from, to - open.own_from));
  }
  // An input that is there twice counts as the first of them, then as the second.
  static void add_input(Open& parent, Open& input, size_t to) {
    const auto& inputs = parent.node->facts().inputs;
    for (size_t i = 0; i < inputs.size(); ++i) {
      const auto& numbers = parent.state.numbers;
      if (inputs[i].get() != input.node || std::find(numbers.begin(), numbers.end(), i) != numbers.end()) continue;
      parent.state.numbers.push_back(i);
      parent.state.inputs.push_back(std::move(input.state));
      break;
    }
    parent.own_from = to;
  }

  std::vector<Open> open_;
  NodeState last_;
};

}  // namespace

Result<NodeState> node_state(const Dataset& dataset, const Binding& binding, const std::string& position) {
  NotingFeed feed;
  const auto iterator = feed.open(*dataset.node(), binding);
  if (!position.empty()) {
    StateVisitor visitor = StateVisitor::restoring(position);
    iterator->visit_state(visitor);
    if (Error error = position_error(visitor)) return fail(std::move(error));
  }
  (void)position_of(*iterator);
  return feed.take();
}

bool is_whole(const NodeState& state) {
  if (state.position) return true;
  const size_t inputs = state.node->facts().inputs.size();
  return state.inputs.size() == inputs && state.own.size() == inputs + 1;
}

NodeState state_at(const Node& node, int64_t position) {
  NodeState state{.node = &node, .bytes = saved_number(position)};
  state.position = position;
  return state;
}

std::string saved_number(int64_t number) {
  StateVisitor visitor;
  visitor.number(number);
  return visitor.saved();
}

int64_t first_number(std::string_view own) {
  StateVisitor visitor = StateVisitor::restoring(own);
  int64_t number = 0;
  visitor.number(number);
  return number;
}

std::string with_first_number(const std::string& own, const std::string& other) {
  const auto size_of_first = [](const std::string& bytes) {
    const auto last = std::find_if(bytes.begin(), bytes.end(), [](char byte) { return (byte & 0x80) == 0; });
    return static_cast<size_t>(last - bytes.begin()) + (last == bytes.end() ? 0 : 1);
  };
  return other.substr(0, size_of_first(other)) + own.substr(size_of_first(own));
}

}  // namespace headpond::internal
