// SPDX-License-Identifier: Apache-2.0
// Options of a queue.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "headpond/queue/wait.h"
#include "headpond/tensor/element.h"

namespace headpond {

struct QueueOptions {
  int64_t capacity;                     ///< Most elements inside, below 2^40; below 0: kUnbounded; 0 is refused.
  std::vector<DType> dtypes;            ///< One per component; at least one.
  std::vector<Shape> shapes = {};       ///< None, or one per component; needed by dequeue_many and dequeue_up_to.
  std::vector<std::string> names = {};  ///< None, or one per component; then elements are named.
  std::string name = "";                ///< For messages, charts and traces; "": `default_name` and a number.
  std::string shared_name = "";  ///< Queues with one shared name are one queue; all options but `name` must agree.
  /// Most bytes of payload inside, or kUnbounded. An enqueue waits until its element fits. An element that is larger
  /// than the limit is refused as ResourceExhausted. A limit below min_after_dequeue + 1 elements is refused; where
  /// elements differ in size, the minimum may exceed it.
  int64_t memory_limit = kUnbounded;
  /// After a call has waited this long and no element has moved, the log says once which call waits for what, and what
  /// the producers of QueueRunners are doing. A dequeue whose producers have all ended without closing the queue then
  /// fails with FailedPrecondition. {} switches both off. The log's sink runs on another thread: see log.h.
  std::optional<std::chrono::nanoseconds> watchdog = std::chrono::seconds(60);
  /// If the rate of the first 64 elements means that min_after_dequeue takes longer than this, the log warns once, with
  /// the forecast and a minimum that would be reached in time.
  std::chrono::nanoseconds fill_patience = std::chrono::seconds(60);
  std::string default_name = "";  ///< "": the shared name without a number, else the type's name in TensorFlow.
};

}  // namespace headpond
