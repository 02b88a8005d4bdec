// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "headpond/base/log.h"
#include "headpond/dataset/bases/pointwise.h"
#include "headpond/dataset/ops/element.h"

namespace headpond {
namespace {

constexpr int64_t kMostInARow = 1'000;

class IgnoreErrors final : public Node {
 public:
  IgnoreErrors(Facts facts, bool log_warning) : Node(std::move(facts)), log_warning_(log_warning) {}
  std::shared_ptr<const View> bind(const Binding& binding) const override;
  std::unique_ptr<Iterator> iterate(const Binding& binding, Feed& feed) const override;

  /// Whether `got` is an error to leave out: one that every run has.
  bool ignores(Got got, const Context& context) const {
    if (got != Got::error || context.error.is_transient()) return false;
    const ErrorKind kind = context.error.kind();
    if (kind == ErrorKind::Cancelled || kind == ErrorKind::DeadlineExceeded) return false;
    if (log_warning_) log(LogLevel::warning, fmt::format("ignore_errors: {}", context.error.to_string()));
    return true;
  }

 private:
  const bool log_warning_;
};

class IgnoringView final : public View {
 public:
  IgnoringView(const IgnoreErrors& node, std::shared_ptr<const View> input) : node_(node), input_(std::move(input)) {}
  Got at(int64_t i, Context& context, OutputSlots outputs, Element& out) const override {
    const Got got = internal::ask(*input_, i, context, outputs, out);
    if (!node_.ignores(got, context)) return got;
    out.clear();
    return Got::hole;
  }

 private:
  const IgnoreErrors& node_;
  const std::shared_ptr<const View> input_;
};

class IgnoringIterator final : public Iterator {
 public:
  IgnoringIterator(const IgnoreErrors& node, std::unique_ptr<Iterator> input) : node_(node), input_(std::move(input)) {}
  Got next(Context& context, Element& out) override {
    while (true) {
      const Got got = input_->next(context, out);
      if (got == Got::pending) return got;
      in_a_row_ = got == Got::error ? in_a_row_ + 1 : 0;
      if (!node_.ignores(got, context)) return got;
      out.clear();
      if (in_a_row_ == kMostInARow) {
        in_a_row_ = 0;
        return got;
      }
    }
  }
  void visit_state(StateVisitor& visitor) override {
    visitor.number_within(in_a_row_, 0, kMostInARow);
    input_->visit_state(visitor);
  }

 private:
  const IgnoreErrors& node_;
  const std::unique_ptr<Iterator> input_;
  int64_t in_a_row_ = 0;
};

std::shared_ptr<const View> IgnoreErrors::bind(const Binding& binding) const {
  return std::make_shared<IgnoringView>(*this, view_of(input(), binding));
}

std::unique_ptr<Iterator> IgnoreErrors::iterate(const Binding& binding, Feed& feed) const {
  return std::make_unique<IgnoringIterator>(*this, feed.open(input(), binding));
}

}  // namespace

// What is logged is not among the arguments: a state holds either way.
Step ignore_errors(const IgnoreErrorsOptions& options) {
  return [log_warning = options.log_warning](const Dataset& input) {
    Node::Facts facts = facts_over(input.node(), "ignore_errors", "", input.spec());
    facts.is_of_library = true;
    if (facts.kind == Kind::indexed) facts.kind = Kind::sparse;
    facts.role = Role::filter;
    return Dataset(std::make_shared<IgnoreErrors>(std::move(facts), log_warning));
  };
}

}  // namespace headpond
