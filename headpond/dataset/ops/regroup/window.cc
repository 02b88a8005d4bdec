// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <deque>

#include "headpond/dataset/bases/batching.h"
#include "headpond/dataset/ops/order/cache_key_internal.h"
#include "headpond/dataset/ops/regroup.h"
#include "headpond/dataset/ops/regroup/held_input_internal.h"
#include "headpond/dataset/ops/regroup/window_runs_internal.h"

namespace headpond {
namespace {

constexpr const char* kOp = "window";

struct Windows {
  int64_t size, shift, stride;
  bool drop_remainder;
  int64_t span() const { return (size - 1) * stride + 1; }
  int64_t count(int64_t slots) const {
    if (slots == kEndless) return slots;
    if (!drop_remainder) return slots / shift + (slots % shift != 0 ? 1 : 0);
    return slots < span() ? 0 : (slots - span()) / shift + 1;
  }
};

class Window final : public Node {
 public:
  Window(Facts facts, const Windows& windows, Step each)
      : Node(std::move(facts)), windows_(windows), each_(std::move(each)) {}
  std::shared_ptr<const View> bind(const Binding& binding) const override;
  bool iterates() const override { return true; }  // Elements move up where one fails, and are made once.
  std::unique_ptr<Iterator> iterate(const Binding& binding, Feed& feed) const override;

  const Windows& windows() const { return windows_; }
  Dataset made(std::vector<Element> elements) const {
    return each_(internal::window_of(input().spec(), std::move(elements)));
  }

 private:
  const Windows windows_;
  const Step each_;
};

// Gives windows that are stacked, each to one element.
class WindowView final : public View {
 public:
  WindowView(const Window& node, const Binding& binding)
      : node_(node), binding_(binding), input_(view_of(node.input(), binding)), slots_(node.input().slots()) {}
  Got at(int64_t k, Context& context, OutputSlots, Element& out) const override {
    const Windows& windows = node_.windows();
    std::vector<Element> elements;
    for (int64_t j = 0; j < windows.size && j * windows.stride < slots_ - k * windows.shift; ++j) {
      Element element;
      const Got got = input_->at(k * windows.shift + j * windows.stride, context, {}, element);
      if (got != Got::value) return got;
      elements.push_back(std::move(element));
    }
    internal::WindowRuns runs(node_, binding_, k);
    const Got got = runs.open([&] { return node_.made(std::move(elements)); }, context);
    return got == Got::value ? runs.next(context, out) : got;
  }

 private:
  const Window& node_;
  const Binding binding_;
  const std::shared_ptr<const View> input_;
  const int64_t slots_;
};

class WindowIterator final : public Iterator {
 public:
  WindowIterator(const Window& node, const Binding& binding, Feed& feed)
      : node_(node), input_(node.input(), binding, feed), runs_(node, binding), holes_(node) {}
  Got next(Context& context, Element& out) override {
    while (true) {
      if (!runs_.is_open()) {
        Got got = gather(context);
        if (got != Got::value) return got;
        got = runs_.open([this] { return node_.made(elements()); }, context);
        if (got == Got::error) shift();
        if (got == Got::error) return got;
      }
      Got got = runs_.next(context, out);
      if (!runs_.is_open()) shift();
      if (got == Got::end) got = Got::hole;
      if (got = holes_.count(got, context); got != Got::hole) return got;
    }
  }
  void visit_state(StateVisitor& visitor) override {
    runs_.visit_state(visitor);
    visitor.number_within(to_skip_, 0, node_.windows().shift);
    input_.visit_state(visitor);
  }

 private:
  struct Held {
    Element element;
    int64_t ticket = 0;
  };
  // value: the next window is here; the last ones may lack elements.
  Got gather(Context& context) {
    while (!ended_ && (to_skip_ > 0 || std::cmp_less(held_.size(), node_.windows().span()))) {
      Held next;
      const Got got = input_.next(context, next.element, next.ticket);
      if (got == Got::error || got == Got::pending) return got;
      if (got == Got::end) {
        ended_ = true;
      } else if (to_skip_ > 0) {
        --to_skip_;
        input_.release(next.ticket);
      } else {
        held_.push_back(std::move(next));
      }
    }
    const bool is_short = std::cmp_less(held_.size(), node_.windows().span());
    return held_.empty() || (is_short && node_.windows().drop_remainder) ? Got::end : Got::value;
  }
  std::vector<Element> elements() const {
    std::vector<Element> some;
    const auto stride = static_cast<size_t>(node_.windows().stride);
    for (size_t i = 0; i < held_.size(); i += stride) some.push_back(held_[i].element);
    return some;
  }
  void shift() {
    to_skip_ = node_.windows().shift;
    for (; to_skip_ > 0 && !held_.empty(); --to_skip_) {
      input_.release(held_.front().ticket);
      held_.pop_front();
    }
  }

  const Window& node_;
  internal::HeldInput input_;
  internal::WindowRuns runs_;
  std::deque<Held> held_;  // From the first element of the window on.
  int64_t to_skip_ = 0;    // Elements between two windows.
  bool ended_ = false;
  internal::Holes holes_;  // Windows that give no element.
};

std::shared_ptr<const View> Window::bind(const Binding& binding) const {
  if (kind() == Kind::stream) return Node::bind(binding);
  return std::make_shared<WindowView>(*this, binding);
}

std::unique_ptr<Iterator> Window::iterate(const Binding& binding, Feed& feed) const {
  return std::make_unique<WindowIterator>(*this, binding, feed);
}

Windows checked(int64_t size, const WindowOptions& options) {
  const Windows windows{size, options.shift.value_or(size), options.stride, options.drop_remainder};
  if (windows.size < 1 || windows.shift < 1 || windows.stride < 1) {
    refuse(kOp, fmt::format("size={}, shift={}, stride={}: each must be at least 1", windows.size, windows.shift,
                            windows.stride));
  }
  if (windows.size > internal::kMostHeld || windows.stride > internal::kMostHeld ||
      windows.span() > internal::kMostHeld) {
    refuse(kOp, fmt::format("size={}, stride={}: a window has at most {} elements from first to last", windows.size,
                            windows.stride, internal::kMostHeld));
  }
  return windows;
}

Dataset windowed(const Dataset& input, const Windows& windows, const Step& each, bool stacks) {
  // Only its description is looked at, so the elements may be empty.
  const Dataset sample =
      each(internal::window_of(input.spec(), std::vector<Element>(static_cast<size_t>(windows.size))));
  Node::Facts facts{
      .op = kOp,
      .args = fmt::format("size={}, shift={}, stride={}, drop_remainder={}, {}", windows.size, windows.shift,
                          windows.stride, windows.drop_remainder, internal::steps_of(sample)),
      .spec = sample.spec(),
      .kind = stacks && input.kind() == Kind::indexed ? Kind::indexed : Kind::stream,
      .inputs = {input.node()},
      .holds = windows.span(),
      .role = internal::role_of(sample),
      .computes = true,
      .makes_datasets = internal::depends_on_seed(*sample.node()),
      .opaque = internal::has_opaque(*sample.node())};
  facts.slots = input.node()->facts().slots.then(
      [windows, stacks](int64_t slots) { return stacks || slots == 0 ? windows.count(slots) : kEndless; });
  return Dataset(std::make_shared<Window>(std::move(facts), windows, each));
}

}  // namespace

Step window(int64_t size, const WindowOptions& options) {
  const Windows windows = checked(size, options);
  const Step stack = batch(size, {.drop_remainder = options.drop_remainder});
  return [=](const Dataset& input) { return windowed(input, windows, stack, true); };
}

Step window(int64_t size, const Step& each, const WindowOptions& options) {
  if (!each) refuse(kOp, "the step for each window is empty");
  const Windows windows = checked(size, options);
  return [=](const Dataset& input) { return windowed(input, windows, each, false); };
}

}  // namespace headpond
