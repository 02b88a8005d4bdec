// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <memory>

#include "headpond/engine/check/order_quality_internal.h"

namespace headpond::internal {
namespace {

constexpr int64_t kMostPositions = 1'000'000, kTenths = 10;

// Element i of the node's input is nothing but its number.
class Numbers final : public View {
 public:
  Got at(int64_t i, Context& /*context*/, OutputSlots /*outputs*/, Element& out) const override {
    out.key = static_cast<uint64_t>(i);
    return Got::value;
  }
};

// Puts them in place of the input.
class Replace final : public ViewObserver {
 public:
  explicit Replace(const Node& input) : input_(input) {}
  std::shared_ptr<const View> see(const Node& node, std::shared_ptr<const View> view) override {
    return &node == &input_ ? std::make_shared<Numbers>() : view;
  }

 private:
  const Node& input_;
};

// An input of so many elements that are nothing but their numbers.
class Counting final : public Iterator {
 public:
  explicit Counting(int64_t count) : count_(count) {}
  Got next(Context& /*context*/, Element& out) override {
    if (next_ == count_) return Got::end;
    out.key = static_cast<uint64_t>(next_++);
    return Got::value;
  }
  void visit_state(StateVisitor& visitor) override { visitor.number_within(next_, 0, count_); }
  int64_t read() const { return next_; }

 private:
  const int64_t count_;
  int64_t next_ = 0;
};

class CountingFeed final : public Feed {
 public:
  explicit CountingFeed(int64_t count) : count_(count) {}
  std::unique_ptr<Iterator> open(const Node&, const Binding&) override {
    auto input = std::make_unique<Counting>(count_);
    input_ = input.get();
    return input;
  }
  /// By the iterator that was opened last, which lives.
  int64_t read() const { return input_->read(); }

 private:
  const int64_t count_;
  const Counting* input_ = nullptr;
};

// Of a window that moves over a stream, so far that its begin and its end count for little. One that is too large to
// be tried has what ops/order.h says of it.
OrderQuality quality_of_stream(const Node& node, uint64_t seed) {
  constexpr int64_t kWindows = 20, kLeastWindows = 4;
  const int64_t window = std::max<int64_t>(node.facts().holds / 2, 1);
  if (window > kMostPositions / kLeastWindows)
    return {.op = node.title(), .displacement = static_cast<double>(window) / 2, .span = 2 * window - 1};
  const int64_t count = std::min(kMostPositions / window, kWindows) * window;
  CountingFeed feed(count);
  const auto numbers = node.iterate({.seed = seed, .epoch = 0}, feed);
  OrderQuality quality{.op = node.title()};
  Context context;
  int64_t place = 0;
  for (Element element; numbers->next(context, element) == Got::value; element = {}) {
    const int64_t distance = std::abs(static_cast<int64_t>(element.key) - place++);
    quality.displacement += static_cast<double>(distance);
    quality.span = std::max(quality.span, distance);
  }
  quality.displacement /= static_cast<double>(std::max<int64_t>(place, 1));
  return quality;
}

OrderQuality quality_of_positions(const Node& node, uint64_t seed, int64_t batch, int64_t rows) {
  const int64_t slots = node.slots();
  Replace replaced(node.input());
  const auto view = view_of(node, {.seed = seed, .epoch = 0, .observer = &replaced});
  Context context;
  Element element;
  const auto source = [&](int64_t i) {
    element.clear();
    const bool is_known = view->at(i, context, {}, element) == Got::value && element.key < static_cast<uint64_t>(slots);
    return is_known ? static_cast<int64_t>(element.key) : i;
  };
  OrderQuality quality = quality_of(source, slots, std::max<int64_t>(batch / rows, 1), kMostPositions);
  quality.op = node.title();
  if (rows == 1) return quality;
  quality.mix = std::nullopt;
  if (slots > kEndless / kTenths / rows) return quality;
  const auto source_of_row = [&](int64_t row) { return source(row / rows) * rows + row % rows; };
  quality.mix = quality_of(source_of_row, slots * rows, batch, kMostPositions).mix;
  return quality;
}

}  // namespace

OrderQuality quality_of(const std::function<int64_t(int64_t)>& source, int64_t count, int64_t batch, int64_t most) {
  OrderQuality quality;
  const int64_t rows = std::min(batch, count), batches = count / rows;
  const int64_t looked_at = std::clamp<int64_t>(most / rows, 1, batches);
  double moved = 0, spread = 0, even = 0;
  for (int64_t k = 0; k < looked_at; ++k) {
    const int64_t first = k * batches / looked_at * rows;
    std::array<double, kTenths> from = {};
    for (int64_t i = first; i < first + rows; ++i) {
      const int64_t at = source(i), distance = std::abs(at - i);
      moved += static_cast<double>(distance);
      quality.span = std::max(quality.span, distance);
      ++from[static_cast<size_t>(at * kTenths / count)];
    }
    for (int64_t tenth = 0; tenth < kTenths; ++tenth) {
      const int64_t size = (count * (tenth + 1) + kTenths - 1) / kTenths - (count * tenth + kTenths - 1) / kTenths;
      const double share = static_cast<double>(size) / static_cast<double>(count);
      const double expected = share * static_cast<double>(rows);
      spread += std::pow(from[static_cast<size_t>(tenth)] - expected, 2);
      even += expected * (1 - share) * static_cast<double>(count - rows) /
              static_cast<double>(std::max<int64_t>(count - 1, 1));
    }
  }
  quality.displacement = moved / static_cast<double>(looked_at * rows);
  quality.reach = 3 * quality.displacement / static_cast<double>(count);
  quality.mix = even > 0 ? spread / even : 1;
  return quality;
}

int64_t read_by_order(const Node& node, uint64_t seed, int64_t given) {
  CountingFeed feed(kEndless);
  const auto numbers = node.iterate({.seed = seed, .epoch = 0}, feed);
  Context context;
  for (Element element; given > 0 && numbers->next(context, element) == Got::value; element = {}) --given;
  return feed.read();
}

std::optional<OrderQuality> quality_of(const Node& node, uint64_t seed, int64_t batch, int64_t rows) {
  if (!node.facts().permutes || node.facts().inputs.size() != 1) return std::nullopt;
  const bool is_own = node.facts().is_of_library && node.facts().holds > 0;
  if (node.kind() == Kind::stream && is_own) return quality_of_stream(node, seed);
  if (node.kind() == Kind::stream || node.iterates()) return std::nullopt;
  if (node.slots() == kEndless || node.slots() < 1) return std::nullopt;
  return quality_of_positions(node, seed, batch, rows);
}

}  // namespace headpond::internal
