// SPDX-License-Identifier: Apache-2.0
// What fills queues and ends groups of threads: Coordinator, QueueRunner, LooperThread.
#include <algorithm>
#include <atomic>
#include <iterator>
#include <memory>
#include <utility>

#include "headpond/base/mutex.h"
#include "headpond/queue/runner/looper_thread.h"
#include "headpond/queue/runner/queue_runner.h"
#include "nanobind/stl/optional.h"
#include "nanobind/stl/string.h"
#include "nanobind/stl/vector.h"
#include "python/src/queue_objects.h"

namespace headpond::python {
namespace {

std::function<Result<void>()> called(const std::optional<nb::object>& function,
                                     const std::weak_ptr<ExceptionOwner>& owner) {
  if (!function) return {};
  return [held = hold(function->ptr()), owner] { return call_producer(held, owner); };
}

std::function<Result<void>()> at_end(const std::optional<nb::object>& function) {
  return function ? called_at_end(*function) : nullptr;
}

// Calls its producers with what start() was given: the threads of a start, which may go on beside later calls of
// start(), have its coordinator's stop token.
class PythonRunner {
 public:
  PythonRunner(const PythonQueue& queue, const std::vector<nb::object>& producers,
               const std::vector<std::string>& queue_closed_kinds, const std::optional<nb::object>& close_op,
               const std::optional<nb::object>& cancel_op)
      : runner_(queue.queue(), functions_of(producers),
                {.queue_closed_kinds = kinds_of(queue_closed_kinds),
                 .close_op = at_end(close_op),
                 .cancel_op = at_end(cancel_op)}),
        exceptions_(queue.exceptions()),
        is_alone_(queue.exceptions() != nullptr) {
    for (const nb::object& producer : producers) functions_.push_back(producer.ptr());
    for (const auto& function : {close_op, cancel_op}) {
      if (function) functions_.push_back(function->ptr());
    }
  }

  // Of a coordinator that has stopped it calls cancel_op, which may do anything, start this runner among others.
  void start(const PythonCoordinator& coordinator, nb::handle given) {
    // A coordinator gives the queues of its runners its error, and a queue its producers' errors to the coordinator.
    const std::shared_ptr<ExceptionOwner> of_queue = exceptions_.lock();
    if (of_queue != nullptr) coordinator.exceptions().share_with(of_queue);
    if (!is_alone_) coordinator.exceptions().hide();
    coordinator.exceptions().share_with(own_exceptions_);  // It has the queue, too.
    const auto own = std::make_shared<Start>(coordinator->stop_token(), hold(given.ptr()),
                                             coordinator.exceptions().weak_from_this());
    const std::vector<std::shared_ptr<Start>> before = starts_->add(own);
    EndsOfRunners ends;
    bool has_begun = true;  // Threads may run, too, if it throws.
    ++starting_;
    try {
      const WithoutLock released;
      has_begun = runner_.start(*coordinator);
    } catch (...) {
      --starting_;
      starts_->settle(own, true, {});
      throw;
    }
    --starting_;
    starts_->settle(own, has_begun, before);
    ends.raise();
  }

  /// For tp_traverse. The functions are this runner's alone while no thread may call them: a traceback of what one of
  /// them raised may have a frame that has the runner.
  int visit(visitproc visit, void* arg) const {
    if (const int stops = own_exceptions_->visit(visit, arg); stops != 0) return stops;
    if (starting_ > 0 || !runner_.is_idle()) return 0;
    for (PyObject* const function : functions_) Py_VISIT(function);
    return 0;
  }

 private:
  struct Start {
    Start(std::stop_token of, Ref with, std::weak_ptr<ExceptionOwner> keeps)
        : stop(std::move(of)), given(std::move(with)), owner(std::move(keeps)) {}
    const std::stop_token stop;
    const Ref given;
    const std::weak_ptr<ExceptionOwner> owner;
    bool has_begun = false;  // Under the mutex of Starts.
  };

  class Starts {
   public:
    /// Returns those that had begun: if this one begins, their threads had ended.
    std::vector<std::shared_ptr<Start>> add(const std::shared_ptr<Start>& own) {
      MutexLock lock(mu_);
      std::vector<std::shared_ptr<Start>> begun;
      std::ranges::copy_if(all_, std::back_inserter(begun), [](const auto& one) { return one->has_begun; });
      all_.push_back(own);
      return begun;
    }
    void settle(const std::shared_ptr<Start>& own, bool has_begun, const std::vector<std::shared_ptr<Start>>& before) {
      MutexLock lock(mu_);
      own->has_begun = has_begun;
      std::erase_if(all_, [&](const auto& one) {
        return has_begun ? std::ranges::find(before, one) != before.end() : one == own;
      });
    }
    std::shared_ptr<Start> with(const std::stop_token& stop) {
      MutexLock lock(mu_);
      const auto has_it = [&](const auto& one) { return one->stop == stop; };
      const auto found = std::ranges::find_if(all_, has_it);
      return found != all_.end() ? *found : nullptr;
    }

   private:
    Mutex mu_;
    std::vector<std::shared_ptr<Start>> all_ HEADPOND_GUARDED_BY(mu_);  // Those with one token have one coordinator.
  };

  std::vector<QueueRunner::Producer> functions_of(const std::vector<nb::object>& producers) const {
    std::vector<QueueRunner::Producer> functions;
    for (const nb::object& producer : producers) {
      functions.emplace_back([held = hold(producer.ptr()), starts = starts_](const std::stop_token& stop) {
        const std::shared_ptr<Start> start = starts->with(stop);
        return start != nullptr ? call_producer(held, start->owner, start->given) : call_producer(held);
      });
    }
    return functions;
  }

  const std::shared_ptr<Starts> starts_ = std::make_shared<Starts>();
  QueueRunner runner_;
  const std::weak_ptr<ExceptionOwner> exceptions_;  // The queue's.
  const bool is_alone_;
  const std::shared_ptr<ExceptionOwner> own_exceptions_ = std::make_shared<ExceptionOwner>();
  std::vector<PyObject*> functions_;  // Those that runner_ holds; never changed.
  std::atomic<int> starting_ = 0;     // Calls of start() that have not returned.
};

void start_thread(const PythonCoordinator& self, const std::string& name, nb::object body) {
  self->start(name, [held = hold(body.ptr()), owner = self.exceptions().weak_from_this()](std::stop_token) {
    return call_producer(held, owner);
  });
}

void join(const PythonCoordinator& self, double stop_grace_period, bool ignore_live_threads) {
  const JoinOptions options{.stop_grace_period = to_wait(stop_grace_period).timeout,
                            .ignore_live_threads = ignore_live_threads};
  value(waiting([&] { return self->join(options); }));
}

bool wait_for_stop(const PythonCoordinator& self, std::optional<double> timeout) {
  return value(waiting([&]() -> Result<bool> {
    const bool stopped = self->wait_for_stop(to_wait(timeout).timeout);
    if (!stopped && is_interrupted()) return fail(ErrorKind::Cancelled, "wait_for_stop() was interrupted");
    return stopped;
  }));
}

// The exception itself, or none.
void request_stop(const PythonCoordinator& self, nb::handle exception) {
  const Error error = exception.is_none() ? Error() : self.exceptions().keep(error_of_exception(exception));
  EndsOfRunners ends;
  value(waiting([&] { return self->request_stop(error); }));
  ends.raise();
}

void start_loop(const PythonCoordinator& coordinator, double interval, nb::object body, const std::string& name,
                const std::optional<nb::object>& first, const std::optional<nb::object>& last) {
  const std::weak_ptr<ExceptionOwner> owner = coordinator.exceptions().weak_from_this();
  LooperThread::loop(*coordinator, std::chrono::nanoseconds(static_cast<int64_t>(interval * 1e9)), called(body, owner),
                     {.name = name, .start_loop = called(first, owner), .stop_loop = called(last, owner)});
}

int traverse_coordinator(PyObject* self, visitproc visit, void* arg) noexcept {
  Py_VISIT(Py_TYPE(self));
  return nb::inst_ready(self) ? nb::inst_ptr<PythonCoordinator>(self)->exceptions().visit(visit, arg) : 0;
}

int traverse_runner(PyObject* self, visitproc visit, void* arg) noexcept {
  Py_VISIT(Py_TYPE(self));
  return nb::inst_ready(self) ? nb::inst_ptr<PythonRunner>(self)->visit(visit, arg) : 0;
}

// The frames of the tracebacks break the cycle.
int clear_nothing(PyObject*) noexcept { return 0; }

PyType_Slot coordinator_slots[] = {{Py_tp_traverse, reinterpret_cast<void*>(traverse_coordinator)},
                                   {Py_tp_clear, reinterpret_cast<void*>(clear_nothing)},
                                   {0, nullptr}};
PyType_Slot runner_slots[] = {{Py_tp_traverse, reinterpret_cast<void*>(traverse_runner)},
                              {Py_tp_clear, reinterpret_cast<void*>(clear_nothing)},
                              {0, nullptr}};

}  // namespace

void add_runners(nb::module_& module) {
  nb::class_<PythonCoordinator>(module, "Coordinator", nb::type_slots(coordinator_slots))
      .def("__init__",
           [](PythonCoordinator* self, const std::vector<std::string>& kinds) {
             new (self) PythonCoordinator({.clean_stop_kinds = kinds_of(kinds)});
           })
      .def("start", start_thread)
      .def("should_stop", [](const PythonCoordinator& self) { return self->should_stop(); })
      .def("request_stop", request_stop, nb::arg("exception").none())
      .def("wait_for_stop", wait_for_stop, nb::arg("timeout").none())
      .def("clear_stop", [](const PythonCoordinator& self) { self->clear_stop(); })
      .def("join", join)
      .def_prop_ro("joined", [](const PythonCoordinator& self) { return self->joined(); })
      .def("raise_requested_exception",
           [](const PythonCoordinator& self) { value(self->raise_requested_exception()); });
  nb::class_<PythonRunner>(module, "QueueRunner", nb::type_slots(runner_slots))
      .def(nb::init<const PythonQueue&, const std::vector<nb::object>&, const std::vector<std::string>&,
                    const std::optional<nb::object>&, const std::optional<nb::object>&>(),
           nb::arg("queue"), nb::arg("producers"), nb::arg("queue_closed_kinds"), nb::arg("close_op").none(),
           nb::arg("cancel_op").none())
      .def("start", &PythonRunner::start);
  module.def("start_loop", start_loop, nb::arg("coordinator"), nb::arg("interval"), nb::arg("body"), nb::arg("name"),
             nb::arg("start_loop").none(), nb::arg("stop_loop").none());
}

}  // namespace headpond::python
