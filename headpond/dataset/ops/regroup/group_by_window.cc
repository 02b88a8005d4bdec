// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "headpond/dataset/ops/element/map_result_internal.h"
#include "headpond/dataset/ops/regroup.h"
#include "headpond/dataset/ops/regroup/gathering_internal.h"
#include "headpond/dataset/ops/regroup/window_runs_internal.h"

namespace headpond::internal {
namespace {

constexpr const char* kOp = "group_by_window";

class GroupByWindow final : public Node, public GroupRules {
 public:
  GroupByWindow(Facts facts, Function key, GroupReduce reduce, const GroupByWindowOptions& options)
      : Node(std::move(facts)), key_(std::move(key)), reduce_(std::move(reduce)), options_(options) {}
  std::unique_ptr<Iterator> iterate(const Binding& binding, Feed& feed) const override;

  Result<Member> member(const Element& element) const override {
    const auto key = call_integer(key_, element);
    if (!key) return fail(key.error());
    if (const int64_t size = window_size(*key); size < 1) {
      return fail(ErrorKind::InvalidArgument, fmt::format("a window size of {} for the key {}", size, *key));
    }
    return Member{.key = *key};
  }
  Error check(const Member&, const Group&, const Element&) const override { return {}; }
  bool takes(const Member&, const Group&) const override { return true; }
  bool is_full(int64_t key, const Group& group) const override {
    return std::cmp_greater_equal(group.elements.size(), window_size(key));
  }
  Dataset reduced(int64_t key, const Group& group) const {
    return reduce_(key, window_of(input().spec(), group.elements));
  }

 private:
  int64_t window_size(int64_t key) const {
    return options_.window_size_func ? options_.window_size_func(key) : options_.window_size;
  }

  const Function key_;
  const GroupReduce reduce_;
  const GroupByWindowOptions options_;
};

class GroupByWindowIterator final : public Iterator {
 public:
  GroupByWindowIterator(const GroupByWindow& node, const Binding& binding, Feed& feed)
      : node_(node), groups_(node, node, binding, feed, node.facts().holds), runs_(node, binding), holes_(node) {}
  Got next(Context& context, Element& out) override {
    while (true) {
      if (!runs_.is_open()) {
        Got got = groups_.next(context, key_);
        if (got != Got::value) return got;
        got = runs_.open([this] { return node_.reduced(key_, groups_[key_]); }, context);
        if (got == Got::error) groups_.remove(key_);
        if (got == Got::error) return got;
      }
      Got got = runs_.next(context, out);
      if (!runs_.is_open()) groups_.remove(key_);
      if (got == Got::end) got = Got::hole;
      if (got = holes_.count(got, context); got != Got::hole) return got;
    }
  }
  void visit_state(StateVisitor& visitor) override {
    runs_.visit_state(visitor);
    groups_.visit_state(visitor);
  }

 private:
  const GroupByWindow& node_;
  Groups groups_;
  WindowRuns runs_;
  int64_t key_ = 0;        // The key of the group that runs_ delivers.
  internal::Holes holes_;  // Groups that give no element.
};

std::unique_ptr<Iterator> GroupByWindow::iterate(const Binding& binding, Feed& feed) const {
  return std::make_unique<GroupByWindowIterator>(*this, binding, feed);
}

void check(const GroupByWindowOptions& options) {
  if (!options.window_size_func == (options.window_size == 0)) {
    refuse(kOp, "exactly one of window_size and window_size_func is needed");
  }
  if (options.window_size < 0)
    refuse(kOp, fmt::format("a window_size of {}: it must be at least 1", options.window_size));
  if (options.max_held < 1 || options.max_held > kMostHeld) {
    refuse(kOp, fmt::format("max_held={}: it must be 1 to {}", options.max_held, kMostHeld));
  }
}

}  // namespace

Step group_by_window_step(const Function& key, const GroupReduce& reduce, const GroupByWindowOptions& options) {
  check_integer(kOp, "key", key);
  check(options);
  if (!reduce) refuse(kOp, "the reduce function is empty");
  return [=](const Dataset& input) {
    key.check(kOp, input.spec());
    const std::string size = options.window_size_func ? "by key" : fmt::format("{}", options.window_size);
    Node::Facts facts{.op = kOp,
                      .args = fmt::format("window_size={}, max_held={}, {}", size, options.max_held,
                                          function_label({.name = options.name, .version = options.version})),
                      .spec = options.output,
                      .kind = Kind::stream,
                      .inputs = {input.node()},
                      .holds = options.max_held,
                      .computes = true,
                      .makes_datasets = true,
                      .opaque = options.name.empty()};
    if (facts.spec.empty()) {
      const Dataset sample = reduce(0, window_of(input.spec(), {}));
      facts.spec = sample.spec();
      facts.role = role_of(sample);
    }
    facts.slots = input.node()->facts().slots.then([](int64_t slots) { return slots == 0 ? slots : kEndless; });
    return Dataset(std::make_shared<GroupByWindow>(std::move(facts), key, reduce, options));
  };
}

}  // namespace headpond::internal
