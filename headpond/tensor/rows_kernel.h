// SPDX-License-Identifier: Apache-2.0
// RowsKernel: a kernel that makes the results of many small samples in one call, or of two large ones.
#pragma once

#include <array>
#include <cstddef>

#include "headpond/tensor/kernel.h"

namespace headpond {

/// Where a sample is one small image of a known shape, a call for each costs more than its pixels. Immutable,
/// thread-safe, as each Kernel. Where it draws random numbers, run_rows() isn't called.
class RowsKernel : public Kernel {
 public:
  /// True iff run_rows() can make the results of such images, and run() fails for none. `image`: one of Facts::result.
  virtual bool takes_rows(const FieldSpec& image) const = 0;
  /// Writes the results of `count` samples one after the other from `to` on, with the bytes of run(): `from` has their
  /// images in the same way. REQUIRES: takes_rows(image).
  virtual void run_rows(const FieldSpec& image, const std::byte* from, size_t count, std::byte* to) const = 0;
  /// True iff arguments of run() may lie in memory that is lent for one call, in a mapped file, say: nothing but the
  /// results refers to them afterwards, and run() stays within bounds whatever the values are and whenever they change.
  /// For another program may cut or rewrite the file while run() reads it. After a cut the result, also an error, is
  /// discarded; after a rewrite it may be of old and new values. So an index that is checked is copied first: read
  /// twice, it may be two numbers.
  virtual bool takes_lent() const { return false; }
  /// True iff run_two() may take less time than run() twice. It is called for neighbouring
  /// rows of a batch; if one of them fails or has a defect, run() makes them again, one by one.
  virtual bool takes_two() const { return false; }
  /// run() of two samples. The results are those of one run() after the other: nothing of a sample depends on the
  /// other. REQUIRES: the calls have one scratch.
  virtual std::array<Result<void>, 2> run_two(KernelCall& first, KernelCall& second) const {
    return {run(first), run(second)};
  }

 protected:
  using Kernel::Kernel;
};

}  // namespace headpond
