// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cstring>
#include <optional>
#include <utility>

#include "headpond/dataset/bases/columns.h"
#include "headpond/dataset/ops/element/kernel_pairs_internal.h"
#include "headpond/dataset/views/lending.h"

namespace headpond::internal {

struct KernelPairs::Sample {
  Element in;
  Loan loan;
  Tensor field;  // The argument, then the result.
  OutputSlot target;
};

namespace {

// What is counted beside the values, as it was before unless keep() is called: the caller makes the samples again.
class Counts {
 public:
  explicit Counts(Context& context)
      : context_(context), defects_(context.scratch().defects.count), left_out_(context.left_out) {}
  ~Counts() {
    if (is_kept_) return;
    context_.scratch().defects.count = defects_;
    context_.left_out = left_out_;
  }
  Counts(const Counts&) = delete;
  Counts& operator=(const Counts&) = delete;
  bool have_defects() const { return context_.scratch().defects.count > defects_; }
  void keep() { is_kept_ = true; }

 private:
  Context& context_;
  const int64_t defects_, left_out_;
  bool is_kept_ = false;
};

}  // namespace

bool KernelPairs::fill(const View& input, std::span<const int64_t> positions, std::span<const RandomKey> random_keys,
                       Context& context, OutputSlots columns, uint64_t* keys) const {
  Counts counts(context);
  ColumnsLeft left(columns, keys);
  while (!positions.empty()) {
    const auto two = positions.first(std::min(positions.size(), size_t{2}));
    if (!fill_two(input, two, random_keys, context, left.columns(), left.keys()) || counts.have_defects()) return false;
    positions = positions.subspan(two.size());
    if (!positions.empty()) left.pass(two.size());
  }
  counts.keep();
  return true;
}

bool KernelPairs::take(const View& input, int64_t position, Context& context, Sample& sample) const {
  const Got got = kernel_.takes_lent() ? MayLend(input).lend(position, context, sample.in, sample.loan)
                                       : input.at(position, context, {}, sample.in);
  if (got != Got::value) return false;
  sample.field = sample.in[field_];
  return true;
}

// One or two positions.
bool KernelPairs::fill_two(const View& input, std::span<const int64_t> positions,
                           std::span<const RandomKey> random_keys, Context& context, OutputSlots columns,
                           uint64_t* keys) const {
  std::array<Sample, 2> samples;
  std::array<std::optional<KernelCall>, 2> calls;
  const OutputSlot& column = columns[field_];
  for (size_t i = 0; i < positions.size(); ++i) {
    Sample& sample = samples[i];
    if (!take(input, positions[i], context, sample)) return false;
    sample.target = {column.data + i * row_bytes(*column.spec), column.spec};
    calls[i].emplace(std::span(&sample.field, 1), random_keys, sample.in.key, OutputSlots(&sample.target, 1),
                     context.scratch());
    if (keys != nullptr) keys[i] = sample.in.key;
  }
  if (calls[1]) {
    const auto done = kernel_.run_two(*calls[0], *calls[1]);
    if (!done[0] || !done[1]) return false;
  } else if (!kernel_.run(*calls[0])) {
    return false;
  }
  for (size_t i = 0; i < positions.size(); ++i) {
    calls[i]->finish();
    if (!put(samples[i], i, columns)) return false;
  }
  return true;
}

bool KernelPairs::put(Sample& sample, size_t row, OutputSlots columns) const {
  sample.in[field_] = std::move(sample.field);
  for (size_t f = 0; f < columns.size(); ++f) {
    const Tensor& value = sample.in[f];
    const FieldSpec& spec = *columns[f].spec;
    const size_t bytes = row_bytes(spec);
    std::byte* const to = columns[f].data + row * bytes;
    if (value.dtype() != spec.dtype || !value.has_shape(spec.shape)) return false;
    if (value.data() != to && bytes > 0) std::memcpy(to, value.data(), bytes);
  }
  return sample.loan.is_whole();
}

}  // namespace headpond::internal
