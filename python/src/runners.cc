// SPDX-License-Identifier: Apache-2.0
// What fills queues and ends groups of threads: Coordinator, QueueRunner, LooperThread.
#include <utility>

#include "headpond/queue/runner/looper_thread.h"
#include "headpond/queue/runner/queue_runner.h"
#include "nanobind/stl/optional.h"
#include "nanobind/stl/string.h"
#include "nanobind/stl/vector.h"
#include "python/src/queue_objects.h"

namespace headpond::python {
namespace {

void make_runner(QueueRunner* self, const PythonQueue& queue, const std::vector<nb::object>& producers,
                 const std::vector<std::string>& queue_closed_kinds) {
  std::vector<QueueRunner::Producer> functions;
  for (const nb::object& producer : producers) {
    functions.emplace_back([held = hold(producer.ptr())](std::stop_token) { return call_producer(held); });
  }
  new (self) QueueRunner(queue.queue(), std::move(functions), {.queue_closed_kinds = kinds_of(queue_closed_kinds)});
}

void start_thread(const PythonCoordinator& self, const std::string& name, nb::object body) {
  self->start(name, [held = hold(body.ptr())](std::stop_token) { return call_producer(held); });
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
  Error error;
  if (!exception.is_none()) {
    PyErr_SetObject(reinterpret_cast<PyObject*>(Py_TYPE(exception.ptr())), exception.ptr());
    error = error_of_python();
  }
  value(waiting([&] { return self->request_stop(error); }));
}

std::function<Result<void>()> called(const std::optional<nb::object>& function) {
  if (!function) return {};
  return [held = hold(function->ptr())] { return call_producer(held); };
}

void start_loop(const PythonCoordinator& coordinator, double interval, nb::object body, const std::string& name,
                const std::optional<nb::object>& first, const std::optional<nb::object>& last) {
  LooperThread::loop(*coordinator, std::chrono::nanoseconds(static_cast<int64_t>(interval * 1e9)), called(body),
                     {.name = name, .start_loop = called(first), .stop_loop = called(last)});
}

}  // namespace

void add_runners(nb::module_& module) {
  nb::class_<PythonCoordinator>(module, "Coordinator")
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
  nb::class_<QueueRunner>(module, "QueueRunner")
      .def("__init__", make_runner)
      .def("start", [](QueueRunner& self, const PythonCoordinator& coordinator) { self.start(*coordinator); });
  module.def("start_loop", start_loop, nb::arg("coordinator"), nb::arg("interval"), nb::arg("body"), nb::arg("name"),
             nb::arg("start_loop").none(), nb::arg("stop_loop").none());
}

}  // namespace headpond::python
