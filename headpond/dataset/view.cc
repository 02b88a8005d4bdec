// SPDX-License-Identifier: Apache-2.0
#include "headpond/dataset/view.h"

#include <algorithm>

#include "headpond/dataset/node.h"

namespace headpond {
namespace {

constexpr size_t kBoundViews = 16;

}  // namespace

std::byte* Context::allocate_output(Element& out, OutputSlots outputs, DType dtype, const Shape& shape) {
  const OutputSlot output = out.size() < outputs.size() ? outputs[out.size()] : OutputSlot();
  if (output.data != nullptr && output.spec->dtype == dtype && output.spec->shape == shape) {
    out.append(Tensor::writable_view(output.data, dtype, shape));
    return output.data;
  }
  out.append(Tensor::empty(dtype, shape, pool_));
  return out[out.size() - 1].mutable_data();
}

bool Context::lent_is_whole() {
  const auto is_whole = [](std::span<const std::byte> tail) {
    return std::any_of(tail.begin(), tail.end(), [](std::byte byte) { return byte != std::byte{0}; });
  };
  const bool all = std::all_of(lent_.begin(), lent_.end(), is_whole);
  lent_.clear();
  return all;
}

std::shared_ptr<const View> Context::view(const Node& node, const Binding& binding) {
  for (const Bound& bound : bound_) {
    if (bound.node == &node && bound.binding == binding) return bound.view;
  }
  Bound bound{&node, binding, view_of(node, binding)};
  if (bound_.size() < kBoundViews) return bound_.emplace_back(std::move(bound)).view;
  oldest_ = (oldest_ + 1) % kBoundViews;
  bound_[oldest_] = std::move(bound);
  return bound_[oldest_].view;
}

Got internal::ask(const View& view, int64_t i, Context& context, OutputSlots outputs, Element& out) {
  try {
    return view.at(i, context, outputs, out);
  } catch (...) {
    out.clear();
    return context.fail(current_exception_error());
  }
}

bool View::fill(std::span<const int64_t>, Context&, OutputSlots, uint64_t*) const { return false; }

}  // namespace headpond
