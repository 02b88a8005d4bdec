// SPDX-License-Identifier: Apache-2.0
// What both staging areas share.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <utility>

#include "headpond/base/clock.h"
#include "headpond/queue/shared_internal.h"
#include "headpond/queue/staging/staging_area.h"
#include "headpond/queue/store/components_internal.h"
#include "headpond/queue/store/sizes_seen_internal.h"
#include "headpond/queue/sync/wait_cell_internal.h"
#include "headpond/queue/sync/wait_queue_internal.h"

namespace headpond::internal {

/// The options with kUnbounded wherever they mean it.
template <class Options>
Options normal(Options options) {
  if (options.capacity <= 0) options.capacity = kUnbounded;
  if (options.memory_limit <= 0) options.memory_limit = kUnbounded;
  return options;
}

/// Throws Exception(InvalidArgument) for options that contradict each other; the message begins with `type`.
inline Components staging_components(const StagingOptions& options, std::string_view type) {
  try {
    return Components(
        {.capacity = kUnbounded, .dtypes = options.dtypes, .shapes = options.shapes, .names = options.names});
  } catch (const Exception& refused) {
    throw Exception(Error(ErrorKind::InvalidArgument, fmt::format("{}: {}", type, refused.error().message())));
  }
}

inline void staging_must_agree(const Agreement& agreement, const StagingOptions& has, const StagingOptions& given) {
  agreement.on("capacity", has.capacity, normal(given).capacity);
  agreement.on("memory_limit", has.memory_limit, normal(given).memory_limit);
  agreement.on_components(has, given);
}

/// False in a build that measures what counting costs (HEADPOND_STATS=OFF).
#if defined(HEADPOND_NO_STATS)
inline constexpr bool kAreasCount = false;
#else
inline constexpr bool kAreasCount = true;
#endif

/// How long the calls of an area waited.
class StagingWaits {
 public:
  /// WaitQueue::run(), and counts the call's wait.
  WaitResult run(WaitQueue& queue, CallKind kind, const Wait& wait, const WaitQueue::Attempt& attempt) {
    if (!kAreasCount) return queue.run(kind, wait, attempt);
    int64_t since = 0;
    const WaitResult result = queue.run(kind, wait, [&](bool is_first) {
      const bool is_done = attempt(is_first);
      if (!is_done && since == 0) since = now_ns();
      return is_done;
    });
    if (since != 0 && wait.timeout.count() > 0) {
      (kind == CallKind::put ? puts_ : gets_).add_without_lock(now_ns() - since);
    }
    return result;
  }
  void add_to(StagingStats& stats) const {
    stats.put_waits = puts_.count();
    stats.get_waits = gets_.count();
    stats.put_wait_ns = puts_.total_ns();
    stats.get_wait_ns = gets_.total_ns();
    stats.put_wait_p50_ns = puts_.quantile_ns(0.5);
    stats.put_wait_p99_ns = puts_.quantile_ns(0.99);
    stats.get_wait_p50_ns = gets_.quantile_ns(0.5);
    stats.get_wait_p99_ns = gets_.quantile_ns(0.99);
  }

 private:
  WaitCell puts_, gets_;
};

/// What an area counts of its elements. Guarded by the area's lock.
class StagingCounters {
 public:
  /// The area has so many elements, and bytes, after a put. `is_whole`: it added an element.
  void has_put(int64_t size, int64_t bytes, bool is_whole = true) {
    if (!kAreasCount) return;
    bytes_peak_ = std::max(bytes_peak_, bytes);
    if (is_whole) put_sizes_.add(puts_++, size);
  }
  /// The first attempt of a get finds so many.
  void begins_to_get(int64_t size) {
    if (kAreasCount) get_sizes_.add(gets_begun_++, size);
  }
  void has_taken() { gets_ += kAreasCount ? 1 : 0; }

  void add_to(StagingStats& stats) const {
    stats.puts = puts_;
    stats.gets = gets_;
    stats.put_size_mean = put_sizes_.mean();
    stats.get_size_mean = get_sizes_.mean();
    stats.size_peak = put_sizes_.peak();
    stats.bytes_peak = bytes_peak_;
  }

 private:
  SizesSeen put_sizes_, get_sizes_;
  int64_t puts_ = 0, gets_ = 0, gets_begun_ = 0;
  int64_t bytes_peak_ = 0;
};

template <class State>
StagingStats with_waiting(StagingStats stats, State& state) {
  stats.waiting_puts = state.waiting(CallKind::put);
  stats.waiting_gets = state.waiting(CallKind::take);
  return stats;
}

/// The error for an element, or part of a key, that never fits.
inline Error above_memory_limit(int64_t bytes, int64_t limit, std::string_view label) {
  return {ErrorKind::ResourceExhausted,
          fmt::format("Attempted to insert tensors with combined size of '{}' bytes into Staging Area with a memory "
                      "limit of '{}': {}",
                      bytes, limit, label)};
}

}  // namespace headpond::internal
