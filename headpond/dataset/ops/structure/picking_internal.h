// SPDX-License-Identifier: Apache-2.0
// The base of operators that pick elements of their input by a table, some perhaps several times.
#pragma once

#include <memory>
#include <utility>

#include "headpond/dataset/bases/columns.h"
#include "headpond/dataset/view.h"

namespace headpond::internal {

/// Element i is that at `pick.position(i)` of `input`; `pick.key(i, key)` is its key, if it has `key` there. At most
/// kFillBlock picks are made at once.
template <class Pick>
class PickView final : public View {
 public:
  PickView(std::shared_ptr<const View> input, Pick pick) : input_(std::move(input)), pick_(std::move(pick)) {}

  Got at(int64_t i, Context& context, OutputSlots outputs, Element& out) const override {
    const Got got = input_->at(pick_.position(i), context, outputs, out);
    if (got == Got::value || got == Got::error) out.key = pick_.key(i, out.key);
    return got;
  }
  bool fill(std::span<const int64_t> positions, Context& context, OutputSlots columns, uint64_t* keys) const override {
    const auto map = [this](std::span<const int64_t> some, int64_t* to) {
      for (const int64_t i : some) *to++ = pick_.position(i);
    };
    if (!fill_from(*input_, map, positions, context, columns, keys)) return false;
    for (size_t r = 0; keys != nullptr && r < positions.size(); ++r) keys[r] = pick_.key(positions[r], keys[r]);
    return true;
  }

 private:
  const std::shared_ptr<const View> input_;
  const Pick pick_;
};

}  // namespace headpond::internal
