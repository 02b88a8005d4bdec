// SPDX-License-Identifier: Apache-2.0
// The samples of a map whose kernel makes two at once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "headpond/dataset/view.h"
#include "headpond/tensor/rows_kernel.h"

namespace headpond::internal {

/// View::fill of a map of one field by one kernel. Immutable; `kernel` and `out` outlive it.
class KernelPairs {
 public:
  /// `field`: its index. `out`: the fields after the map.
  KernelPairs(const RowsKernel& kernel, size_t field, const Spec& out) : kernel_(kernel), field_(field), out_(out) {}

  /// As View::fill: false too if a sample is none, its kernel fails, or has a defect, which at() tells. REQUIRES: no
  /// column is of dtype bytes.
  bool fill(const View& input, std::span<const int64_t> positions, std::span<const RandomKey> random_keys,
            Context& context, OutputSlots columns, uint64_t* keys) const;

 private:
  struct Sample;
  bool take(const View& input, int64_t position, Context& context, Sample& sample) const;
  bool fill_two(const View& input, std::span<const int64_t> positions, std::span<const RandomKey> random_keys,
                Context& context, OutputSlots columns, uint64_t* keys) const;
  bool put(Sample& sample, size_t row, OutputSlots columns) const;

  const RowsKernel& kernel_;
  const size_t field_;
  const Spec& out_;
};

}  // namespace headpond::internal
