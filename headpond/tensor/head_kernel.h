// SPDX-License-Identifier: Apache-2.0
// HeadKernel: a kernel from a file to a number that mostly follows from the file's first bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "headpond/tensor/kernel.h"

namespace headpond {

/// Takes a whole file (bytes []) and gives one number (int64 []). Immutable, thread-safe, as each Kernel.
class HeadKernel : public Kernel {
 public:
  /// The value that run() gives for a file of `file_bytes` whose first bytes are `head`. FailedPrecondition iff more
  /// of them are needed.
  virtual Result<int64_t> from_head(std::span<const std::byte> head, uint64_t file_bytes) const = 0;
  Result<void> run(KernelCall& call) const final;

 protected:
  /// `name` begins the error of a pipeline with other fields.
  HeadKernel(const std::string& title, const std::string& name);
};

}  // namespace headpond
