// SPDX-License-Identifier: Apache-2.0
// What queues, runners, staging areas and the input functions of TensorFlow 1 share.
#pragma once

#include <memory>
#include <stop_token>
#include <utility>

#include "headpond/queue/queue.h"
#include "headpond/queue/runner/coordinator.h"
#include "python/src/arguments.h"
#include "python/src/exception_owner.h"
#include "python/src/python.h"

namespace headpond::python {

/// Of what a queue's elements consist.
struct Fields {
  Fields(const std::vector<DType>& dtypes, const std::vector<std::string>& field_names);
  /// Throws Exception(InvalidArgument), "who: ...".
  Element element_of(const std::string& who, nb::handle value, bool copy) const;

  Spec spec;
  std::shared_ptr<const Keys> keys;
  Element::Names names;  ///< Null: none.
};

/// A Coordinator whose end may need the interpreter's lock on its threads.
class PythonCoordinator {
 public:
  explicit PythonCoordinator(const CoordinatorOptions& options)
      : coordinator_(std::make_shared<Coordinator>(options)) {}
  ~PythonCoordinator() { end_elsewhere(std::move(coordinator_)); }
  PythonCoordinator(const PythonCoordinator&) = delete;
  PythonCoordinator& operator=(const PythonCoordinator&) = delete;
  Coordinator& operator*() const { return *coordinator_; }
  Coordinator* operator->() const { return coordinator_.get(); }
  ExceptionOwner& exceptions() const { return *exceptions_; }

 private:
  std::shared_ptr<Coordinator> coordinator_;
  const std::shared_ptr<ExceptionOwner> exceptions_ = std::make_shared<ExceptionOwner>();
};

inline std::stop_token token_of(const PythonCoordinator* coordinator) {
  return coordinator != nullptr ? (*coordinator)->stop_token() : std::stop_token();
}

/// A call that waits: without the lock, until `stop` is requested, too, and until a signal's handler raises.
template <class Call>
auto interruptible(std::optional<double> timeout, const std::stop_token& stop, Call call) {
  std::stop_source source;
  const std::stop_callback linked(stop, [&] { source.request_stop(); });
  Wait wait = to_wait(timeout);
  wait.stop = source.get_token();
  return waiting([&] { return call(wait); }, &source);
}

/// The same of what a call was given.
template <class Call>
auto interruptible(const char* who, const Timeout& timeout, const Stop& stop, Call call) {
  return interruptible(timeout.of(who), token_of(stop.of(who)), std::move(call));
}

class PythonQueue {
 public:
  /// `is_alone`: nothing else has that queue.
  explicit PythonQueue(Queue queue, bool is_alone = false);
  ~PythonQueue() {
    const WithoutLock released;
    queue_.reset();
  }
  PythonQueue(const PythonQueue&) = delete;
  PythonQueue& operator=(const PythonQueue&) = delete;
  const Queue& queue() const { return *queue_; }
  /// Null of a queue that others may have, too.
  const std::shared_ptr<ExceptionOwner>& exceptions() const { return exceptions_; }

  void enqueue(nb::handle element, Timeout timeout, Stop stop, Flag copy);
  void enqueue_many(nb::handle rows, Timeout timeout, Stop stop, Flag copy);
  Any dequeue(Timeout timeout, Stop stop);
  Any dequeue_many(Integer n, Timeout timeout, Stop stop);
  Any dequeue_up_to(Integer n, Timeout timeout, Stop stop);
  Any next();
  void close(Flag cancel_pending_enqueues);
  void close_with_error(nb::handle exception);  ///< REQUIRES: an object of an exception's class.

 private:
  Element to_element(const char* call, nb::handle element, bool copy) const;

  std::optional<Queue> queue_;
  const Fields fields_;
  const std::shared_ptr<ExceptionOwner> exceptions_;
};

/// What all of them are made from; `shapes` may be None.
QueueOptions queue_options(int64_t capacity, const std::vector<std::string>& dtypes, nb::handle shapes,
                           std::vector<std::string> names, const std::string& shared_name, const std::string& name,
                           int64_t memory_limit, std::optional<double> watchdog);

/// Calls `function`, with `argument` if there is one, with the lock, from a thread that does not have it. StopIteration
/// is the end of the data. `owner` keeps what it raises.
Result<void> call_producer(const Ref& function, const std::weak_ptr<ExceptionOwner>& owner = {},
                           const Ref& argument = nullptr);
/// What a runner calls at its end. Nobody waits for it, so what it raises goes to sys.unraisablehook; but ^C and such,
/// which the main thread raises, end the program's work.
std::function<Result<void>()> called_at_end(const nb::object& function);

/// Stands around a call that may run the ends of several runners on this thread: each of them is run, and then the
/// first one's ^C or such is raised. REQUIRES: the lock, of all members.
class EndsOfRunners {
 public:
  EndsOfRunners();
  /// If the call itself threw: raises it later.
  ~EndsOfRunners();
  EndsOfRunners(const EndsOfRunners&) = delete;
  EndsOfRunners& operator=(const EndsOfRunners&) = delete;
  /// When the call has returned. Throws nb::python_error.
  void raise();

 private:
  friend std::function<Result<void>()> called_at_end(const nb::object& function);
  static void keep(PyObject* function);

  EndsOfRunners* const before_;
  PyObject *type_ = nullptr, *exception_ = nullptr, *trace_ = nullptr;
};

/// An error that carries an exception's object.
Error error_of_exception(nb::handle exception);
/// The error of the exception that such a function raised, which is set. REQUIRES: the lock.
Error producer_error();
/// "OutOfRange", ... Throws Exception(InvalidArgument) for another name.
std::vector<ErrorKind> kinds_of(const std::vector<std::string>& names);

}  // namespace headpond::python
