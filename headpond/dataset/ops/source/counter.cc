// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "headpond/dataset/ops/source/number_dtype_internal.h"
#include "headpond/dataset/ops/sources.h"

namespace headpond {
namespace {

__extension__ using Wide = __int128;

struct Counter {
  int64_t start, step;
  /// False: the number is beyond 64 bits.
  bool number(int64_t i, int64_t& value) const {
    const Wide wide = Wide{i} * step + start;
    value = static_cast<int64_t>(wide);
    return value == wide;
  }
};

class CounterView final : public View {
 public:
  CounterView(const Node& node, const Counter& counter, uint64_t source)
      : node_(node), counter_(counter), source_(source) {}
  Got at(int64_t i, Context& context, OutputSlots, Element& out) const override {
    int64_t value = 0;
    if (!counter_.number(i, value)) {
      return context.fail({ErrorKind::OutOfRange, fmt::format("{}: number {} is beyond 64 bits", node_.title(), i)});
    }
    out.append(Tensor::scalar(value));
    out.key = static_cast<uint64_t>(i);
    out.provenance = {.source = source_, .record = static_cast<uint64_t>(i)};
    return Got::value;
  }
  bool fill(std::span<const int64_t> positions, Context&, OutputSlots columns, uint64_t* keys) const override {
    for (size_t r = 0; r < positions.size(); ++r) {
      int64_t value = 0;
      if (!counter_.number(positions[r], value)) return false;
      std::memcpy(columns[0].data + r * sizeof(value), &value, sizeof(value));
    }
    if (keys != nullptr) std::copy(positions.begin(), positions.end(), keys);
    return true;
  }

 private:
  const Node& node_;
  const Counter counter_;
  const uint64_t source_;
};

class CounterNode final : public Node {
 public:
  CounterNode(const Counter& counter, DType dtype)
      : Node({.op = "counter",
              .args =
                  fmt::format("start={}, step={}{}", counter.start, counter.step, internal::dtype_args("dtype", dtype)),
              .spec = {{"", dtype, {}}},
              .slots = kEndless}),
        counter_(counter),
        source_(register_source("counter")) {}
  std::shared_ptr<const View> bind(const Binding&) const override {
    return internal::as_dtype(std::make_shared<CounterView>(*this, counter_, source_), spec()[0].dtype);
  }

 private:
  const Counter counter_;
  const uint64_t source_;
};

}  // namespace

Dataset counter(int64_t start, int64_t step, DType dtype) {
  internal::check_number_dtype("counter", "dtype", dtype);
  return Dataset(std::make_shared<CounterNode>(Counter{start, step}, dtype));
}

}  // namespace headpond
