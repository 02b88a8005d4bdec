// SPDX-License-Identifier: Apache-2.0
// Recordings that share the process's one trace (base/trace.h), so that the end of one ends no other.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "headpond/base/trace.h"

namespace headpond {

/// The trace is recorded as long as one of these lives, or longer if trace::start() began it before the first of them.
/// The first one decides how much is kept. Thread-safe; trace::start() and trace::stop() concern all of them.
class Recording {
 public:
  explicit Recording(size_t events_per_thread = size_t{1} << 18, trace::Keep keep = trace::Keep::newest);
  ~Recording();
  Recording(const Recording&) = delete;
  Recording& operator=(const Recording&) = delete;

  /// Like trace::collect(), without what had ended before this began.
  std::vector<trace::ThreadEvents> events() const;

 private:
  const int64_t began_ns_;
};

}  // namespace headpond
