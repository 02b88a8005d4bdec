// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "headpond/base/permutation.h"
#include "headpond/dataset/columns_internal.h"
#include "headpond/dataset/ops/order.h"
#include "headpond/dataset/ops/order/shuffle_stream_internal.h"
#include "headpond/dataset/ops/order/window_order_internal.h"
#include "headpond/dataset/pointwise.h"

namespace headpond {
namespace {

// `Order` gives the position at a place; `Many`, made of it, those of many.
template <class Order, class Many>
class OrderView final : public View {
 public:
  OrderView(std::shared_ptr<const View> input, const Order& order) : input_(std::move(input)), order_(order) {}
  Got at(int64_t i, Context& context, OutputSlots outputs, Element& out) const override {
    return input_->at(order_(i), context, outputs, out);
  }
  bool fill(std::span<const int64_t> positions, Context& context, OutputSlots columns, uint64_t* keys) const override {
    Many many(order_);
    const auto places = [&many](std::span<const int64_t> numbers, int64_t* to) { many.places(numbers, to); };
    return internal::fill_from(*input_, places, positions, context, columns, keys);
  }

 private:
  const std::shared_ptr<const View> input_;
  const Order order_;
};

Node::Facts facts_of(const Node::Ref& input, const ShuffleOptions& options) {
  const std::string args = fmt::format("window={}{}", options.window < 0 ? "all" : fmt::format("{}", options.window),
                                       options.reshuffle_each_iteration ? "" : ", reshuffle_each_iteration=false");
  Node::Facts facts = internal::facts_over(input, "shuffle", args, input->spec());
  facts.random_stream = options.name;
  return facts;
}

class Shuffle final : public Node {
 public:
  Shuffle(const Node::Ref& input, const ShuffleOptions& options) : Node(facts_of(input, options)), options_(options) {}

  std::shared_ptr<const View> bind(const Binding& binding) const override {
    using internal::WindowOrder;
    auto view = input().bind(binding);
    if (options_.window < 0) {
      return std::make_shared<OrderView<Permutation, const Permutation&>>(std::move(view),
                                                                          Permutation(key(binding), slots()));
    }
    return std::make_shared<OrderView<WindowOrder, WindowOrder::Near>>(
        std::move(view), WindowOrder(key(binding), slots(), options_.window));
  }
  std::unique_ptr<Iterator> iterate(const Binding& binding, Feed& feed) const override {
    return internal::shuffle_stream(feed.open(input(), binding), key(binding), options_.window);
  }
  bool iterates() const override { return kind() == Kind::stream; }  // Else the order would be another one.

 private:
  RandomKey key(Binding binding) const {
    if (!options_.reshuffle_each_iteration) binding.epoch = 0;
    return random_key(binding);
  }

  const ShuffleOptions options_;
};

}  // namespace

Step shuffle(ShuffleOptions options) {
  using internal::refuse, internal::kMostWindow;
  if (options.window == 0 || options.window > kMostWindow) {
    refuse("shuffle", fmt::format("a window of {}: 1 to {} is possible", options.window, kMostWindow));
  }
  return [options = std::move(options)](const Dataset& input) {
    if (options.window < 0 && input.kind() == Kind::stream)
      refuse("shuffle", "a stream has no places to permute: give a window, or shuffle nearer to the source");
    if (options.window < 0 && input.node()->slots() == kEndless)
      refuse("shuffle", "the input has no end: shuffle below repeat, or give a window");
    return Dataset(std::make_shared<Shuffle>(input.node(), options));
  };
}

Step shuffle(int64_t window) {
  if (window < 1) internal::refuse("shuffle", fmt::format("a window of {}: at least 1 is needed", window));
  return shuffle({.window = window});
}

}  // namespace headpond
