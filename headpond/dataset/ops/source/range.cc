// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "headpond/dataset/ops/sources.h"

namespace headpond {
namespace {

class RangeView final : public View {
 public:
  RangeView(int64_t start, int64_t step, uint64_t source) : start_(start), step_(step), source_(source) {}
  Got at(int64_t i, Context&, OutputSlots, Element& out) const override {
    out.append(Tensor::scalar(number(i)));
    out.key = static_cast<uint64_t>(i);
    out.provenance = {.source = source_, .record = static_cast<uint64_t>(i)};
    return Got::value;
  }
  bool fill(std::span<const int64_t> positions, Context&, OutputSlots columns, uint64_t* keys) const override {
    for (size_t r = 0; r < positions.size(); ++r) {
      const int64_t value = number(positions[r]);
      std::memcpy(columns[0].data + r * sizeof(value), &value, sizeof(value));
    }
    if (keys != nullptr) std::copy(positions.begin(), positions.end(), keys);
    return true;
  }

 private:
  // Unsigned, because i * step alone may be beyond 64 bits.
  int64_t number(int64_t i) const {
    const uint64_t distance = static_cast<uint64_t>(i) * static_cast<uint64_t>(step_);
    return static_cast<int64_t>(static_cast<uint64_t>(start_) + distance);
  }

  const int64_t start_, step_;
  const uint64_t source_;
};

__extension__ using Wide = __int128;

// In 128 bits, because stop - start may be beyond 64.
int64_t count(int64_t start, int64_t stop, int64_t step) {
  if (step == 0) internal::refuse("range", "a step of 0 never ends");
  const Wide span = step > 0 ? Wide{stop} - start : Wide{start} - stop;
  const Wide stride = step > 0 ? Wide{step} : -Wide{step};
  const Wide slots = span <= 0 ? 0 : (span + stride - 1) / stride;
  if (slots >= kEndless) internal::refuse("range", fmt::format("{} to {} is more than 2^63 - 2 elements", start, stop));
  return static_cast<int64_t>(slots);
}

class Range final : public Node {
 public:
  Range(int64_t start, int64_t stop, int64_t step)
      : Node({.op = "range",
              .args = fmt::format("start={}, stop={}, step={}", start, stop, step),
              .spec = {{"", DType::i64, {}}},
              .slots = count(start, stop, step)}),
        start_(start),
        step_(step),
        source_(register_source("range")) {}
  std::shared_ptr<const View> bind(const Binding&) const override {
    return std::make_shared<RangeView>(start_, step_, source_);
  }

 private:
  const int64_t start_, step_;
  const uint64_t source_;
};

}  // namespace

Dataset range(int64_t stop) { return range(0, stop); }
Dataset range(int64_t start, int64_t stop, int64_t step) { return Dataset(std::make_shared<Range>(start, stop, step)); }

}  // namespace headpond
