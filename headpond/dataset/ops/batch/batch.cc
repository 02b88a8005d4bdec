// SPDX-License-Identifier: Apache-2.0
#include "headpond/dataset/ops/batch.h"

#include "headpond/dataset/bases/batching.h"
#include "headpond/dataset/bases/stack_internal.h"
#include "headpond/dataset/check_internal.h"

namespace headpond {
namespace {

class BatchView final : public View {
 public:
  BatchView(const Batching& node, const Binding& binding) : node_(node), input_(view_of(node.input(), binding)) {}

  Got at(int64_t k, Context& context, OutputSlots outputs, Element& out) const override {
    Got got = Got::error;
    try {
      got = gather(k, context, outputs, out);
    } catch (...) {
      context.error = current_exception_error();
    }
    if (got != Got::value) out.clear();
    internal::name_batch(out, k);
    return got;
  }

 private:
  Got gather(int64_t k, Context& context, OutputSlots outputs, Element& out) const {
    const int64_t first = k * node_.batch_size(), count = node_.rows_at(k);
    internal::Stack stack(node_.input().spec(), count, context, outputs, out);
    for (int64_t r = 0; r < count; ++r) {
      Element row;
      if (const Got got = input_->at(first + r, context, stack.row_outputs(), row); got != Got::value) return got;
      if (Error error = node_.check_row(stack.first(), r, row)) return context.fail(std::move(error));
      stack.add(std::move(row));
    }
    stack.finish();
    return Got::value;
  }

  const Batching& node_;
  const std::shared_ptr<const View> input_;
};

class Batch final : public Batching {
 public:
  Batch(const Node::Ref& input, int64_t batch_size, const BatchOptions& options)
      : Batching("batch", "", input, input->spec(), batch_size, options.drop_remainder) {}

  std::shared_ptr<const View> bind(const Binding& binding) const override {
    return kind() == Kind::indexed ? std::make_shared<BatchView>(*this, binding) : Batching::bind(binding);
  }
  Error check(const Element* first, int64_t number, const Element& row) const override {
    if (first == nullptr) return internal::check_element(input().spec(), row);
    return internal::check_same_shapes(*first, number, row);
  }
  void stack(std::span<const Element> rows, Context& context, OutputSlots outputs, Element& out) const override {
    for (size_t i = 0; i < rows[0].size(); ++i) internal::stack_field(rows, i, context, outputs, out);
  }
};

}  // namespace

Step batch(int64_t batch_size, BatchOptions options) {
  return [batch_size, options](const Dataset& input) {
    return Dataset(std::make_shared<Batch>(input.node(), batch_size, options));
  };
}

}  // namespace headpond
