// SPDX-License-Identifier: Apache-2.0
#include "headpond/dataset/bases/resumable_input.h"

#include <algorithm>
#include <string>
#include <utility>

#include "headpond/dataset/run_state.h"

namespace headpond {
namespace {

class ResumableInput final : public Iterator {
 public:
  explicit ResumableInput(std::unique_ptr<Iterator> input) : input_(std::move(input)) {}

  Got next(Context& context, Element& out) override {
    while (true) {
      if (!std::exchange(asked_, true)) before_ = internal::position_of(*input_);
      const size_t known = context.failed.size();
      const Got got = input_->next(context, out);
      if (again_ > 0) context.failed.resize(known);  // It was delivered before the state was saved.
      if (got == Got::pending) return got;
      if (got != Got::error) {
        asked_ = false;
        errors_ = again_ = 0;
        return got;
      }
      if (again_ == 0) {
        ++errors_;
        return got;
      }
      --again_;
      out.clear();
    }
  }
  void visit_state(StateVisitor& visitor) override {
    visitor.number_within(errors_, 0, kEndless);
    if (!visitor.is_restoring() && asked_) return visitor.append(before_);
    input_->visit_state(visitor);
    if (visitor.is_restoring()) again_ = errors_;
  }

 private:
  const std::unique_ptr<Iterator> input_;
  std::string before_;  // The input's state after its last element.
  int64_t errors_ = 0;  // Errors that came since then.
  int64_t again_ = 0;   // How many of these are still to come again after a restore.
  bool asked_ = false;  // The input gave pending or an error since then.
};

}  // namespace

bool internal::gathers_rows(const Node& node) {
  return std::ranges::any_of(nodes_of(node), [](const Node* one) {
    return one->facts().role == Role::batch || one->facts().role == Role::rebatch;
  });
}

bool internal::counts_errors(const Node& input) { return input.iterates() && gathers_rows(input); }

std::unique_ptr<Iterator> open_resumable(Feed& feed, const Node& input, const Binding& binding) {
  std::unique_ptr<Iterator> opened = feed.open(input, binding);
  return internal::counts_errors(input) ? std::make_unique<ResumableInput>(std::move(opened)) : std::move(opened);
}

}  // namespace headpond
