// SPDX-License-Identifier: Apache-2.0
// Queues and coordinators keep exceptions, whose tracebacks have the frames of the program, which have the queues and
// coordinators: the interpreter's collector must see that cycle.
#pragma once

#include <memory>

#include "python/src/python.h"

namespace headpond::python {

/// A queue's or a coordinator's part in it. With n owners an exception has n references: the Error's, and one for each
/// further owner. Each owner visits it once. It is destroyed with the interpreter's lock or without.
class ExceptionOwner : public std::enable_shared_from_this<ExceptionOwner> {
 public:
  ExceptionOwner();
  ~ExceptionOwner();
  ExceptionOwner(const ExceptionOwner&) = delete;
  ExceptionOwner& operator=(const ExceptionOwner&) = delete;

  /// `other` becomes an owner of all that this keeps, now or later; not null. REQUIRES: the lock.
  void share_with(const std::shared_ptr<ExceptionOwner>& other);
  /// Something that the collector does not see may have what this keeps: from now on nobody visits that.
  void hide();
  /// The error, whose exception this and those that it shares with own from now on. REQUIRES: the lock.
  Error keep(const Error& error);
  /// For tp_traverse. REQUIRES: the lock.
  int visit(visitproc visit, void* arg) const;
};

/// Its traceback is never made a text (errors.cc): the collector may be about to empty it, as nobody reaches its
/// owners.
void keep_whole(const PyObject* exception);

}  // namespace headpond::python
