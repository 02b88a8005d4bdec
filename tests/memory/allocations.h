// SPDX-License-Identifier: Apache-2.0
// This program's malloc, and so its operator new, measured by thread and failing when a test says so. Blocks that are
// mapped without malloc (large buffers of tensors) are neither.
#pragma once

#include <cstdint>

namespace headpond::test {

/// What the calling thread allocated, less what it freed.
int64_t live_allocations();

/// The most memory, in bytes, that the calling thread's live allocations had at once since this was made, above what
/// they had then. One at a time.
class PeakBytes {
 public:
  PeakBytes();
  int64_t bytes() const;

 private:
  int64_t before_;
};

enum class Failing : uint8_t { once, from_then_on };

/// While it lives, the `nth` allocation of the calling thread (from 1) fails, and optionally all later ones. One at a
/// time.
class FailingAllocation {
 public:
  FailingAllocation(int64_t nth, Failing failing);
  ~FailingAllocation();
  FailingAllocation(const FailingAllocation&) = delete;
  FailingAllocation& operator=(const FailingAllocation&) = delete;

  /// Whether one failed, so far.
  bool has_failed() const;
};

}  // namespace headpond::test
