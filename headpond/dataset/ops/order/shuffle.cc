// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "headpond/base/permutation.h"
#include "headpond/dataset/bases/choosing.h"
#include "headpond/dataset/bases/pointwise.h"
#include "headpond/dataset/ops/order.h"
#include "headpond/dataset/ops/order/shuffle_stream_internal.h"
#include "headpond/dataset/ops/order/window_order_internal.h"

namespace headpond {
namespace {

using internal::WindowOrder;

Node::Facts facts_of(const Node::Ref& input, const ShuffleOptions& options) {
  const std::string args = fmt::format("window={}{}", options.window < 0 ? "all" : fmt::format("{}", options.window),
                                       options.reshuffle_each_iteration ? "" : ", reshuffle_each_iteration=false");
  Node::Facts facts = facts_over(input, "shuffle", args, input->spec());
  if (options.window < 0) {
    facts.slots = facts.slots.then([](int64_t slots) {
      if (slots == kEndless) refuse("shuffle", "the input has no end: shuffle before repeat, or give a window");
      return slots;
    });
  }
  facts.random_streams = {options.name};
  facts.role = Role::order;
  facts.permutes = true;
  if (input->kind() == Kind::stream && options.window > 0) facts.holds = 2 * options.window;
  facts.is_of_library = true;
  return facts;
}

class Shuffle final : public Node {
 public:
  Shuffle(const Node::Ref& input, const ShuffleOptions& options) : Node(facts_of(input, options)), options_(options) {}

  std::shared_ptr<const View> bind(const Binding& binding) const override {
    auto view = view_of(input(), binding);
    if (options_.window < 0) {
      const Permutation order(key(binding), slots());
      return std::make_shared<PositionMap<Permutation, const Permutation&>>(*this, std::move(view), order);
    }
    const WindowOrder order(key(binding), slots(), options_.window);
    return std::make_shared<PositionMap<WindowOrder, WindowOrder::Near>>(*this, std::move(view), order);
  }
  std::unique_ptr<Iterator> iterate(const Binding& binding, Feed& feed) const override {
    return internal::shuffle_stream(feed.open(input(), binding), key(binding), options_.window);
  }
  // What has positions is never iterated: a stream's order is another one than the permutation.
  bool iterates() const override { return kind() == Kind::stream; }

 private:
  RandomKey key(Binding binding) const {
    if (!options_.reshuffle_each_iteration) binding.epoch = 0;
    return random_key(binding);
  }

  const ShuffleOptions options_;
};

}  // namespace

Step shuffle(ShuffleOptions options) {
  if (options.window == 0 || options.window > internal::kMostWindow) {
    refuse("shuffle", fmt::format("a window of {}: must be 1 to {}", options.window, internal::kMostWindow));
  }
  return [options = std::move(options)](const Dataset& input) {
    if (options.window < 0 && input.kind() == Kind::stream)
      refuse("shuffle", "a stream has no positions to permute: give a window, or shuffle nearer to the source");
    check_reads_positions("shuffle", *input.node());
    return Dataset(std::make_shared<Shuffle>(input.node(), options));
  };
}

Step internal::shuffle_within(int64_t window) {
  if (window < 1) refuse("shuffle", fmt::format("a window of {}: at least 1 is needed", window));
  return shuffle({.window = window});
}

}  // namespace headpond
