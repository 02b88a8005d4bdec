// SPDX-License-Identifier: Apache-2.0
// TensorBoard event files: scalars, histograms and texts over steps, as `tensorboard --logdir` shows them. Format:
// docs/monitoring.md.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "headpond/base/list_of_names.h"
#include "headpond/base/status.h"

namespace headpond {

struct EventWriterOptions {
  std::chrono::nanoseconds flush_every = std::chrono::seconds(120);
};

/// Writes one file, events.out.tfevents.<unix seconds>.<host>.<pid>.<n>, `n` counting the files of this process. Events
/// reach the file when it is flushed: by the first event after `flush_every`, by flush(), close() and the destructor. A
/// program that is killed leaves the events flushed before, whole. Thread-safe.
///
/// An error of the disk is sticky: every later call returns it.
class EventWriter {
 public:
  /// Makes `folder` and those above it if need be, and the file with its version record.
  static Result<std::unique_ptr<EventWriter>> open(const std::string& folder, EventWriterOptions options = {});
  static void open(internal::ListOfNames, EventWriterOptions = {}) = delete;
  /// Calls close(); an error is logged.
  ~EventWriter();
  EventWriter(const EventWriter&) = delete;
  EventWriter& operator=(const EventWriter&) = delete;

  /// One point of the chart `tag`, at the time now; stored as float32. InvalidArgument iff `tag` is empty or no UTF-8;
  /// FailedPrecondition after close().
  Result<void> scalar(std::string_view tag, double value, int64_t step);
  /// How `values` are distributed, at the time now: in 30 pieces of equal width. Errors as above; nothing is written
  /// for none. Values that are no numbers are left out.
  Result<void> histogram(std::string_view tag, std::span<const double> values, int64_t step);
  /// A text in Markdown, at the time now. Errors as above, also of a text that is no UTF-8.
  Result<void> text(std::string_view tag, std::string_view markdown, int64_t step);
  Result<void> flush();
  /// Writes what is left. Closing twice is fine.
  Result<void> close();
  const std::string& path() const;

 private:
  class State;
  explicit EventWriter(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace headpond
