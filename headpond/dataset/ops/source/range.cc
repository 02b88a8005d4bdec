// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "headpond/dataset/ops/source/number_dtype_internal.h"
#include "headpond/dataset/ops/source/numbers_internal.h"
#include "headpond/dataset/ops/sources.h"

namespace headpond {
namespace {

__extension__ using Wide = __int128;

// In 128 bits, because stop - start may be beyond 64.
int64_t count(int64_t start, int64_t stop, int64_t step) {
  if (step == 0) refuse("range", "a step of 0 never ends");
  const Wide span = step > 0 ? Wide{stop} - start : Wide{start} - stop;
  const Wide stride = step > 0 ? Wide{step} : -Wide{step};
  const Wide slots = span <= 0 ? 0 : (span + stride - 1) / stride;
  if (slots >= kEndless) refuse("range", fmt::format("{} to {} is more than 2^63 - 2 elements", start, stop));
  return static_cast<int64_t>(slots);
}

class Range final : public Node {
 public:
  Range(int64_t start, int64_t stop, int64_t step, DType dtype)
      : Node({.op = "range",
              .args = fmt::format("start={}, stop={}, step={}{}", start, stop, step,
                                  internal::dtype_args("output_type", dtype)),
              .spec = {{"", dtype, {}}},
              .slots = count(start, stop, step)}),
        start_(start),
        step_(step),
        source_(register_source("range")) {}
  std::shared_ptr<const View> bind(const Binding&) const override {
    // Unsigned, because i * step alone may be beyond 64 bits.
    const auto start = static_cast<uint64_t>(start_), step = static_cast<uint64_t>(step_);
    const auto next = [start](int64_t i) { return static_cast<int64_t>(start + static_cast<uint64_t>(i)); };
    const auto number = [start, step](int64_t i) {
      return static_cast<int64_t>(start + static_cast<uint64_t>(i) * step);
    };
    const auto view = step_ == 1 ? internal::numbers_view(next, source_) : internal::numbers_view(number, source_);
    return internal::as_dtype(view, spec()[0].dtype);
  }

 private:
  const int64_t start_, step_;
  const uint64_t source_;
};

}  // namespace

Dataset range(int64_t stop) { return range(0, stop); }
Dataset range(int64_t stop, DType output_type) { return range(0, stop, 1, output_type); }
Dataset range(int64_t start, int64_t stop, int64_t step, DType output_type) {
  internal::check_number_dtype("range", "output_type", output_type);
  return Dataset(std::make_shared<Range>(start, stop, step, output_type));
}

}  // namespace headpond
