// SPDX-License-Identifier: Apache-2.0
// What sources of numbers share: the element at position i is a function of i alone.
#pragma once

#include <algorithm>
#include <memory>
#include <utility>

#include "headpond/dataset/dataset.h"
#include "headpond/dataset/function.h"

namespace headpond::internal {

/// One unnamed field: the int64 `number(i)`, of a source that register_source() gave.
template <class Number>
class NumbersView final : public View {
 public:
  NumbersView(Number number, uint64_t source) : number_(std::move(number)), source_(source) {}
  Got at(int64_t i, Context&, OutputSlots, Element& out) const override {
    out.append(Tensor::scalar(number_(i)));
    out.key = static_cast<uint64_t>(i);
    out.provenance = {.source = source_, .record = static_cast<uint64_t>(i)};
    return Got::value;
  }
  bool fill(std::span<const int64_t> positions, Context&, OutputSlots columns, uint64_t* keys) const override {
    const Number number = number_;  // A copy that the stores below cannot change, so its values stay in registers.
    auto* const values = reinterpret_cast<int64_t*>(columns[0].data);
    has_avx2() ? each_value_avx2(number, positions.data(), values, positions.size())
               : each_value(number, positions.data(), values, positions.size());
    if (keys != nullptr) std::copy(positions.begin(), positions.end(), keys);
    return true;
  }

 private:
  const Number number_;
  const uint64_t source_;
};

template <class Number>
std::shared_ptr<const View> numbers_view(Number number, uint64_t source) {
  return std::make_shared<NumbersView<Number>>(std::move(number), source);
}

}  // namespace headpond::internal
