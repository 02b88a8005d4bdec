// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "headpond/dataset/bases/batching.h"
#include "headpond/dataset/bases/pointwise.h"
#include "headpond/dataset/ops/regroup.h"
#include "headpond/dataset/ops/regroup/batch_rows_internal.h"

namespace headpond {
namespace {

using internal::BatchPart;

// Sizes that come again and again, and the first row of each batch.
struct Cycle {
  explicit Cycle(std::vector<int64_t> all) : sizes(std::move(all)), firsts(1, 0) {
    for (const int64_t size : sizes) {
      int64_t sum = 0;
      if (size < 1) refuse("rebatch", fmt::format("a batch size of {}: it must be at least 1", size));
      // So many rows there are not: the batches of a cycle after this one are never reached.
      firsts.push_back(__builtin_add_overflow(firsts.back(), size, &sum) ? kEndless : sum);
    }
    if (sizes.empty()) refuse("rebatch", "no batch sizes");
  }
  int64_t size(int64_t k) const { return sizes[static_cast<size_t>(k) % sizes.size()]; }
  int64_t first(int64_t k) const {
    const auto count = static_cast<int64_t>(sizes.size());
    return k / count * firsts.back() + firsts[static_cast<size_t>(k % count)];
  }
  /// Batches of `rows` rows.
  int64_t batches(int64_t rows, bool drop_remainder) const {
    const auto left = rows % firsts.back();
    const auto end = drop_remainder ? std::upper_bound(firsts.begin() + 1, firsts.end(), left) - 1
                                    : std::lower_bound(firsts.begin(), firsts.end(), left);
    return rows / firsts.back() * static_cast<int64_t>(sizes.size()) + (end - firsts.begin());
  }

  std::vector<int64_t> sizes;
  std::vector<int64_t> firsts;  // And the rows of the whole cycle.
};

class Rebatch final : public Node {
 public:
  Rebatch(Facts facts, Cycle cycle, int64_t rows, bool drop)
      : Node(std::move(facts)), sizes(std::move(cycle)), rows_in(rows), drop_remainder(drop) {}
  std::shared_ptr<const View> bind(const Binding& binding) const override;
  std::unique_ptr<Iterator> iterate(const Binding& binding, Feed& feed) const override;
  bool iterates() const override { return true; }  // Rows move up where a batch fails.

  const Cycle sizes;
  const int64_t rows_in;  // Rows of each batch of the input; kUnknown.
  const bool drop_remainder;
};

class RebatchView final : public View {
 public:
  RebatchView(const Rebatch& node, const Binding& binding)
      : node_(node), input_(view_of(node.input(), binding)), batches_(node.input().slots()) {}
  Got at(int64_t k, Context& context, OutputSlots outputs, Element& out) const override {
    const int64_t size = node_.sizes.size(k), rows = node_.rows_in;
    std::vector<BatchPart> parts;
    int64_t row = node_.sizes.first(k);
    for (int64_t count = 0; count < size && row / rows < batches_;) {
      BatchPart part{.first = row % rows, .count = std::min(rows - row % rows, size - count)};
      if (const Got got = input_->at(row / rows, context, {}, part.batch); got != Got::value) return got;
      const auto found = internal::count_rows(node_, part.batch, rows);
      if (!found) return context.fail(found.error());
      Error error = parts.empty() ? Error() : internal::check_rows(node_, parts[0].batch, part.batch);
      if (error) return context.fail(std::move(error));
      row += part.count;
      count += part.count;
      parts.push_back(std::move(part));
    }
    internal::append_rows(parts, context, outputs, out);
    internal::name_batch(out, k);
    return Got::value;
  }

 private:
  const Rebatch& node_;
  const std::shared_ptr<const View> input_;
  const int64_t batches_;
};

class RebatchIterator final : public Iterator {
 public:
  RebatchIterator(const Rebatch& node, std::unique_ptr<Iterator> input) : node_(node), rows_(node, std::move(input)) {}
  Got next(Context& context, Element& out) override {
    const int64_t size = node_.sizes.size(given_);
    while (gathered_ < size) {
      BatchPart part;
      const Got got = rows_.next(size - gathered_, context, part.first, part.count);
      if (got == Got::end && gathered_ > 0 && !node_.drop_remainder) break;
      if (got != Got::value) return got;
      part.batch = rows_.batch();
      if (Error error = parts_.empty() ? Error() : internal::check_rows(node_, parts_[0].batch, part.batch)) {
        rows_.drop_batch();
        return context.fail(std::move(error));
      }
      gathered_ += part.count;
      parts_.push_back(std::move(part));
    }
    const std::vector<BatchPart> parts = std::exchange(parts_, {});
    gathered_ = 0;
    internal::append_rows(parts, context, {}, out);
    internal::name_batch(out, given_++);
    return Got::value;
  }
  // A state is taken after a batch, when no rows are gathered.
  void visit_state(StateVisitor& visitor) override {
    visitor.number_within(given_, 0, kEndless);
    rows_.visit_state(visitor);
  }

 private:
  const Rebatch& node_;
  internal::BatchRows rows_;
  std::vector<BatchPart> parts_;
  int64_t gathered_ = 0;  // Their rows.
  int64_t given_ = 0;     // Batches.
};

std::shared_ptr<const View> Rebatch::bind(const Binding& binding) const {
  if (kind() == Kind::stream) return Node::bind(binding);
  return std::make_shared<RebatchView>(*this, binding);
}

std::unique_ptr<Iterator> Rebatch::iterate(const Binding& binding, Feed& feed) const {
  return std::make_unique<RebatchIterator>(*this, feed.open(input(), binding));
}

Dataset rebatched(const Dataset& input, const Cycle& cycle, bool drop_remainder) {
  const int64_t rows = internal::known_rows("rebatch", input.spec());
  Node::Facts facts =
      facts_over(input.node(), "rebatch",
                 fmt::format("batch_size={}, drop_remainder={}", fmt::join(cycle.sizes, " "), drop_remainder),
                 internal::rows_of(input.spec()));
  const bool one_size =
      std::all_of(cycle.sizes.begin(), cycle.sizes.end(), [&](int64_t s) { return s == cycle.size(0); });
  for (FieldSpec& field : facts.spec)
    field.shape = field.shape.stacked(one_size && drop_remainder ? cycle.size(0) : kUnknown);
  if (rows == kUnknown || rows == 0 || facts.kind == Kind::sparse) facts.kind = Kind::stream;
  facts.slots = facts.slots.then([cycle, rows, drop_remainder](int64_t slots) {
    int64_t all = 0;
    if (slots == 0 || rows == 0) return int64_t{0};
    if (slots == kEndless || rows == kUnknown) return kEndless;
    if (__builtin_mul_overflow(slots, rows, &all)) refuse("rebatch", "more rows than can be counted");
    return cycle.batches(all, drop_remainder);
  });
  facts.role = Role::rebatch;
  facts.computes = true;
  return Dataset(std::make_shared<Rebatch>(std::move(facts), cycle, rows, drop_remainder));
}

}  // namespace

Step rebatch(const std::vector<int64_t>& batch_sizes, BatchOptions options) {
  const Cycle cycle(batch_sizes);
  return [cycle, options](const Dataset& input) { return rebatched(input, cycle, options.drop_remainder); };
}

Step rebatch(int64_t batch_size, BatchOptions options) { return rebatch(std::vector<int64_t>{batch_size}, options); }

}  // namespace headpond
