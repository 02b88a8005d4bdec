// SPDX-License-Identifier: Apache-2.0
// A work item: a batch or a group of elements. One thread at a time opens the next item of a stage; any threads then
// make its rows, a few at a time; when all rows are made it is ready; the consumer takes it when all items before it
// were taken.
#pragma once

#include <atomic>
#include <cstdint>

#include "headpond/engine/executor/engine_lock_internal.h"

namespace headpond::internal {

struct WorkItem {
  virtual ~WorkItem() = default;
  int64_t size = 0;         ///< Rows of work.
  int64_t elements = 0;     ///< Rows in all.
  int64_t bytes = 0;        ///< Set by the thread that makes it; right when it is ready.
  bool has_memory = false;  ///< All that it needs was allocated when it was opened.
  bool is_last = false;     ///< Set when it is opened: no item comes after it. False if that is not known yet.
  /// A row is not as expected: see ReorderBuffer::refuse_broken(). Set by any thread that works on it.
  std::atomic<bool> broken = false;
  std::atomic<int64_t> left_out = 0;  ///< Context::left_out of the threads that made it.

 private:
  friend class ReorderBuffer;
  int64_t ordinal = 0;                 // In its buffer. Set when it is opened.
  int64_t begun_ns = 0, ready_ns = 0;  // 0: not yet.
  int64_t claimed HEADPOND_GUARDED_BY(engine_state) = 0, made HEADPOND_GUARDED_BY(engine_state) = 0;  // Rows.
  int64_t reserved HEADPOND_GUARDED_BY(engine_state) = 0;                                             // Bytes.
  bool ready HEADPOND_GUARDED_BY(engine_state) = false, dropped HEADPOND_GUARDED_BY(engine_state) = false;
  std::atomic<bool> has_arrow = false;  // A trace shows where one of its rows was made.
};

}  // namespace headpond::internal
