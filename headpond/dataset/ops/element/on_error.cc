// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <array>
#include <memory>
#include <string>
#include <utility>

#include "headpond/dataset/bases/carried_internal.h"
#include "headpond/dataset/bases/own_memory_internal.h"
#include "headpond/dataset/bases/pointwise.h"
#include "headpond/dataset/bases/resumable_input.h"
#include "headpond/dataset/check_internal.h"
#include "headpond/dataset/ops/element.h"
#include "headpond/dataset/ops/element/failure_limits_internal.h"
#include "headpond/dataset/run_state.h"

namespace headpond {
namespace {

class OnError final : public Node {
 public:
  OnError(Facts facts, OnErrorOptions with_options)
      : Node(std::move(facts)),
        options(std::move(with_options)),
        shared_title(std::make_shared<const std::string>(title())) {}
  // What is asked by position passes as it is: there is no order to count in.
  std::shared_ptr<const View> bind(const Binding& binding) const override {
    if (kind() == Kind::stream) return Node::bind(binding);
    return view_of(input(), binding);
  }
  std::unique_ptr<Iterator> iterate(const Binding& binding, Feed& feed) const override;
  bool iterates() const override { return true; }

  const OnErrorOptions options;
  const std::shared_ptr<const std::string> shared_title;
};

class OnErrorIterator final : public Iterator {
 public:
  OnErrorIterator(const OnError& node, uint64_t epoch, std::unique_ptr<Iterator> input)
      : node_(node), epoch_(epoch), input_(std::move(input)), limits_(node.options) {}

  Got next(Context& context, Element& out) override {
    while (!over_) {
      out.key = 0;  // An error without an element leaves this key to its substitute.
      out.provenance = {};
      Got got = input_->next(context, out);
      if (got == Got::value) limits_.count_good();
      if (got != Got::error || !internal::is_bad_data(context.error)) return got;
      got = handle(context, out);
      if (got != Got::hole) return got;
      out.clear();
    }
    return context.fail(over_);
  }

  void visit_state(StateVisitor& visitor) override {
    limits_.visit_state(visitor);
    input_->visit_state(visitor);
    if (!visitor.is_restoring()) return;
    // Beside others of an operator over several datasets, this one is saved after its end, too.
    const std::string exceeded = limits_.exceeded();
    over_ = exceeded.empty() ? Error() : Error(ErrorKind::FailedPrecondition, limit_text(exceeded));
  }

 private:
  std::string limit_text(const std::string& exceeded) const { return fmt::format("{}: {}", node_.title(), exceeded); }
  // hole: the element is left out.
  Got handle(Context& context, Element& out) {
    const OnErrorPolicy policy = node_.options.policy;
    FailedElement failed = describe(context.error, out);
    const std::string exceeded = limits_.count_bad(context.error);
    if (!exceeded.empty()) {
      over_ = Error(ErrorKind::FailedPrecondition, limit_text(exceeded), context.error);
      context.failed.push_back(std::move(failed));
      return Got::hole;
    }
    failed.action = action_of(policy);
    context.failed.push_back(std::move(failed));
    if (policy == OnErrorPolicy::fail) return Got::error;
    if (policy == OnErrorPolicy::skip) return Got::hole;
    const Element& substitute = node_.options.substitute;
    out.clear();
    for (size_t i = 0; i < substitute.size(); ++i) out.append(substitute[i]);
    return Got::value;
  }

  FailedElement describe(const Error& error, const Element& out) {
    FailedElement failed{.handler = &node_,
                         .handler_title = node_.shared_title,
                         .epoch = epoch_,
                         .error_number = limits_.errors(),
                         .element_number = limits_.elements(),
                         .key = out.key,
                         .provenance = out.provenance,
                         .outer = "",
                         .error = error};
    if (node_.input().iterates()) return failed;
    // The state of a run over positions is the next one.
    const std::string state = internal::position_of(*input_);
    StateVisitor visitor = StateVisitor::restoring(state);
    visitor.number(failed.position);
    --failed.position;
    return failed;
  }
  static FailedAction action_of(OnErrorPolicy policy) {
    constexpr std::array kActions = {FailedAction::failed, FailedAction::skipped, FailedAction::substituted};
    return kActions[static_cast<size_t>(policy)];
  }

  const OnError& node_;
  const uint64_t epoch_;
  const std::unique_ptr<Iterator> input_;
  internal::FailureLimits limits_;
  Error over_;  // A limit was exceeded.
};

std::unique_ptr<Iterator> OnError::iterate(const Binding& binding, Feed& feed) const {
  return std::make_unique<OnErrorIterator>(*this, binding.epoch, open_resumable(feed, input(), binding));
}

std::string label(const OnErrorOptions& options) {
  constexpr std::array kNames = {"fail", "skip", "substitute"};
  std::string text = fmt::format("policy={}", kNames[static_cast<size_t>(options.policy)]);
  if (options.policy == OnErrorPolicy::fail) return text;
  if (options.max_errors >= 0) text += fmt::format(", max_errors={}", options.max_errors);
  if (options.max_error_share < 1)
    text += fmt::format(", max_error_share={}, window={}", options.max_error_share, options.window);
  text += fmt::format(", give_up_after={}", options.give_up_after);
  if (options.policy == OnErrorPolicy::substitute)
    text += fmt::format(", crc32c {:08x}", internal::digest_of(options.substitute));
  return text;
}

// The element in memory of its own: the program may hold it for longer than what it was made of.
Element checked_substitute(const OnErrorOptions& options, const Spec& spec) {
  if (options.policy != OnErrorPolicy::substitute) {
    if (options.substitute.size() > 0) refuse("on_error", "a substitute, and another policy");
    return {};
  }
  if (options.substitute.size() == 0 && !spec.empty())
    refuse("on_error", "policy=substitute needs a substitute, an element of " + to_string(spec));
  if (const Error error = internal::check_element(spec, options.substitute))
    refuse("on_error", "the substitute does not fit: " + error.message());
  Element substitute = options.substitute;
  internal::own_memory(substitute);
  return substitute;
}

}  // namespace

Step on_error(const OnErrorOptions& options) {
  if (options.policy > OnErrorPolicy::substitute) {
    refuse("on_error", fmt::format("policy={} is unknown", static_cast<int>(options.policy)));
  }
  internal::check_limits(options);
  return [options](const Dataset& input) {
    OnErrorOptions checked = options;
    checked.substitute = checked_substitute(options, input.spec());
    Node::Facts facts = facts_over(input.node(), "on_error", label(checked), input.spec());
    facts.is_of_library = true;
    if (options.policy == OnErrorPolicy::skip) {
      facts.kind = Kind::stream;
      facts.role = Role::filter;
    }
    facts.decides_in_order = true;
    return Dataset(std::make_shared<OnError>(std::move(facts), std::move(checked)));
  };
}

}  // namespace headpond
