// SPDX-License-Identifier: Apache-2.0
// The state that the handles of a TensorFlow 1 reader share: which files are being read, and by which threads.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "headpond/base/mutex.h"
#include "headpond/queue/queue.h"
#include "headpond/tf1/work_unit_internal.h"

namespace headpond::tf1::internal {

class ReaderState {
 public:
  explicit ReaderState(ReaderKind kind) : kind_(std::move(kind)) {}

  Result<std::vector<KeyValue>> read(const Queue& queue, int64_t n, const Wait& wait);
  int64_t records() const;
  int64_t completed() const;
  int64_t waiting() const;  ///< Calls that found no more names and wait for files that other calls read.
  std::string save() const;
  Result<void> restore(std::string_view state);
  void reset();

 private:
  /// A file that was begun. `unit`, `reached` and `error` belong to the thread that set is_busy.
  struct Begun {
    std::string name;
    UnitPosition position;                     // Under mu_.
    bool is_busy = false;                      // Under mu_.
    std::unique_ptr<WorkUnit> unit = nullptr;  // Null: not opened yet.
    UnitPosition reached = {};                 // After the last record that was returned.
    Error error = {};                          // Found after such records; the next call returns it.
  };
  using Ref = std::shared_ptr<Begun>;
  enum class End { goes_on, completed, failed };

  class ReadDeadline;

  Result<Ref> take(const Queue& queue, const ReadDeadline& deadline);
  Result<Ref> take_name(const Queue& queue, const Wait& wait) const;
  Ref take_idle() HEADPOND_REQUIRES(mu_);
  bool any_busy() const HEADPOND_REQUIRES(mu_);
  bool others_take_from(const std::string* queue) const HEADPOND_REQUIRES(mu_);
  Result<Ref> take_last(const std::string* queue, const Error& queue_ended, const Wait& wait);
  Result<void> open(Begun& begun) const;
  static Result<bool> read_one(Begun& begun, std::vector<KeyValue>& records);
  Result<End> read_from(Begun& begun, int64_t n, std::vector<KeyValue>& records) const;
  void give_back(const Ref& begun, End end, size_t records);

  const ReaderKind kind_;
  mutable Mutex mu_;
  CondVar given_back_;
  std::vector<Ref> begun_ HEADPOND_GUARDED_BY(mu_);  // In the order in which they were begun.
  // For each call that is taking a name, or has one that is not in begun_ yet, the address of its queue's name, which
  // tells the queue. Once the queue is closed such calls return soon.
  std::vector<const std::string*> taking_ HEADPOND_GUARDED_BY(mu_);
  int64_t waiting_ HEADPOND_GUARDED_BY(mu_) = 0;
  int64_t records_ HEADPOND_GUARDED_BY(mu_) = 0;
  int64_t completed_ HEADPOND_GUARDED_BY(mu_) = 0;
};

}  // namespace headpond::tf1::internal
