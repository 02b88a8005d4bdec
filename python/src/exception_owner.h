// SPDX-License-Identifier: Apache-2.0
// Queues and coordinators keep exceptions, whose tracebacks have the frames of the program, which have the queues and
// coordinators: the interpreter's collector must see that cycle.
#pragma once

#include <memory>
#include <vector>

#include "python/src/python.h"

namespace headpond::python {

/// A queue's or a coordinator's part in it. An exception that several keep is as good as kept by each: each has a
/// reference of its own that it shows to the collector, the first one that of the Error. REQUIRES: the lock.
class ExceptionOwner : public std::enable_shared_from_this<ExceptionOwner> {
 public:
  ExceptionOwner() = default;
  ~ExceptionOwner();
  ExceptionOwner(const ExceptionOwner&) = delete;
  ExceptionOwner& operator=(const ExceptionOwner&) = delete;

  /// What this keeps, now or later, `other` may keep, too. Null: one that the collector does not see; then this shows
  /// the collector nothing any more.
  void share_with(const std::shared_ptr<ExceptionOwner>& other);
  /// The error, whose exception this and those that it shares with keep from now on.
  Error keep(const Error& error);
  /// For tp_traverse.
  int visit(visitproc visit, void* arg) const;

 private:
  std::vector<std::weak_ptr<ExceptionOwner>> others_;
  bool is_hidden_ = false;
};

/// Its traceback is never made a text (errors.cc): the collector may be about to empty it, as nobody reaches its
/// owners.
void keep_whole(const PyObject* exception);

}  // namespace headpond::python
