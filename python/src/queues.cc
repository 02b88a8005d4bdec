// SPDX-License-Identifier: Apache-2.0
// Queues, runners and the coordinator.
#include <fmt/format.h>

#include <algorithm>
#include <stop_token>
#include <utility>

#include "headpond/queue/padding_fifo_queue.h"
#include "headpond/queue/priority_queue.h"
#include "headpond/queue/queue.h"
#include "headpond/queue/runner/coordinator.h"
#include "headpond/queue/runner/queue_runner.h"
#include "headpond/queue/staging/staging_area.h"
#include "nanobind/stl/optional.h"
#include "nanobind/stl/string.h"
#include "nanobind/stl/vector.h"
#include "python/src/python.h"

namespace headpond::python {
namespace {

// Of what a queue's elements consist.
struct Fields {
  Spec spec;
  std::shared_ptr<const Keys> keys;
  Element::Names names;  // Null: none.
};

Fields fields_of(const std::vector<DType>& dtypes, const std::vector<std::string>& names) {
  Spec spec;
  for (size_t i = 0; i < dtypes.size(); ++i) spec.push_back({names.empty() ? "" : names[i], dtypes[i], Shape()});
  const auto shared = names.empty() ? nullptr : std::make_shared<const std::vector<std::string>>(names);
  return {spec, std::make_shared<const Keys>(names), shared};
}

Element to_element(const std::string& who, nb::handle element, const Fields& fields, bool copy) {
  Element made = element_of(who, element, fields.spec, copy ? Share::copy : Share::always);
  made.set_names(fields.names);
  return made;
}

// A call that waits: without the lock, until `stop` is requested, too, and until a signal's handler raises.
template <class Call>
auto interruptible(std::optional<double> timeout, const std::stop_token& stop, Call call) {
  std::stop_source source;
  const std::stop_callback linked(stop, [&] { source.request_stop(); });
  Wait wait = to_wait(timeout);
  wait.stop = source.get_token();
  return waiting([&] { return call(wait); }, &source);
}

// A Coordinator whose end may need the interpreter's lock on its threads.
class PythonCoordinator {
 public:
  explicit PythonCoordinator(const CoordinatorOptions& options)
      : coordinator_(std::make_unique<Coordinator>(options)) {}
  ~PythonCoordinator() {
    const nb::gil_scoped_release released;
    coordinator_.reset();
  }
  PythonCoordinator(const PythonCoordinator&) = delete;
  PythonCoordinator& operator=(const PythonCoordinator&) = delete;
  Coordinator& operator*() const { return *coordinator_; }
  Coordinator* operator->() const { return coordinator_.get(); }

 private:
  std::unique_ptr<Coordinator> coordinator_;
};

std::stop_token token_of(const PythonCoordinator* coordinator) {
  return coordinator != nullptr ? (*coordinator)->stop_token() : std::stop_token();
}

class PythonQueue {
 public:
  explicit PythonQueue(Queue queue) : queue_(std::move(queue)), fields_(fields_of(queue_->dtypes(), queue_->names())) {}
  ~PythonQueue() {
    const nb::gil_scoped_release released;
    queue_.reset();
  }
  PythonQueue(const PythonQueue&) = delete;
  PythonQueue& operator=(const PythonQueue&) = delete;
  const Queue& queue() const { return *queue_; }

  void enqueue(nb::handle element, std::optional<double> timeout, const PythonCoordinator* stop, bool copy) {
    Element made = to_element("enqueue", element, copy);
    value(interruptible(timeout, token_of(stop),
                        [&](const Wait& wait) { return queue_->enqueue(std::move(made), wait); }));
  }
  void enqueue_many(nb::handle rows, std::optional<double> timeout, const PythonCoordinator* stop, bool copy) {
    Element made = to_element("enqueue_many", rows, copy);
    value(interruptible(timeout, token_of(stop),
                        [&](const Wait& wait) { return queue_->enqueue_many(std::move(made), wait); }));
  }
  nb::object dequeue(std::optional<double> timeout, const PythonCoordinator* stop) {
    return fields_.keys->value_of(
        value(interruptible(timeout, token_of(stop), [&](const Wait& wait) { return queue_->dequeue(wait); })));
  }
  nb::object dequeue_many(int64_t n, std::optional<double> timeout, const PythonCoordinator* stop) {
    return fields_.keys->value_of(
        value(interruptible(timeout, token_of(stop), [&](const Wait& wait) { return queue_->dequeue_many(n, wait); })));
  }
  nb::object dequeue_up_to(int64_t n, std::optional<double> timeout, const PythonCoordinator* stop) {
    return fields_.keys->value_of(value(
        interruptible(timeout, token_of(stop), [&](const Wait& wait) { return queue_->dequeue_up_to(n, wait); })));
  }
  nb::object next() {
    auto element = interruptible({}, {}, [&](const Wait& wait) { return queue_->dequeue(wait); });
    if (at_end(element)) throw nb::stop_iteration();
    return fields_.keys->value_of(value(std::move(element)));
  }
  void close(bool cancel_pending_enqueues) {
    value(waiting([&] { return queue_->close(cancel_pending_enqueues); }));
  }

 private:
  Element to_element(const char* call, nb::handle element, bool copy) const {
    return python::to_element(fmt::format("{} '{}'", call, queue_->name()), element, fields_, copy);
  }

  std::optional<Queue> queue_;
  const Fields fields_;
};

QueueOptions options_of(int64_t capacity, const std::vector<std::string>& dtypes, nb::handle shapes,
                        std::vector<std::string> names, const std::string& shared_name, const std::string& name,
                        int64_t memory_limit, std::optional<double> watchdog) {
  QueueOptions options{.capacity = capacity, .dtypes = {}};
  options.names = std::move(names);
  options.name = name;
  options.shared_name = shared_name;
  for (const std::string& dtype : dtypes) options.dtypes.push_back(to_dtype(nb::cast(dtype)));
  if (!shapes.is_none()) {
    for (nb::handle shape : shapes) options.shapes.push_back(to_shape(shape));
  }
  options.memory_limit = memory_limit;
  options.watchdog = watchdog ? std::optional(to_wait(watchdog).timeout) : std::nullopt;
  return options;
}

void make_queue(PythonQueue* self, const std::string& type, nb::dict options, int64_t min_after_dequeue,
                uint64_t seed) {
  const QueueOptions all =
      options_of(nb::cast<int64_t>(options["capacity"]), nb::cast<std::vector<std::string>>(options["dtypes"]),
                 options["shapes"], nb::cast<std::vector<std::string>>(options["names"]),
                 nb::cast<std::string>(options["shared_name"]), nb::cast<std::string>(options["name"]),
                 nb::cast<int64_t>(options["memory_limit"]), nb::cast<std::optional<double>>(options["watchdog"]));
  if (type == "RandomShuffleQueue") {
    new (self) PythonQueue(RandomShuffleQueue(all, min_after_dequeue, seed));
  } else if (type == "PaddingFIFOQueue") {
    new (self) PythonQueue(PaddingFIFOQueue(all));
  } else if (type == "PriorityQueue") {
    new (self) PythonQueue(PriorityQueue(all));
  } else {
    new (self) PythonQueue(FIFOQueue(all));
  }
}

nb::dict stats_of(const PythonQueue& queue) {
  const QueueStats stats = queue.queue().stats();
  nb::dict all;
  all["enqueued"] = stats.enqueued;
  all["dequeued"] = stats.dequeued;
  all["waiting_enqueues"] = stats.waiting_enqueues;
  all["waiting_dequeues"] = stats.waiting_dequeues;
  all["enqueue_waits"] = stats.enqueue_waits;
  all["enqueue_wait_ns"] = stats.enqueue_wait_ns;
  all["dequeue_waits"] = stats.dequeue_waits;
  all["dequeue_wait_ns"] = stats.dequeue_wait_ns;
  all["capacity"] = stats.capacity;
  all["min_after_dequeue"] = stats.min_after_dequeue;
  all["size"] = stats.size;
  return all;
}

// Calls `function` with the lock. StopIteration is the end of the data.
Result<void> call_producer(const Ref& function) {
  if (is_exiting()) return fail(ErrorKind::Cancelled, "the interpreter ends");
  const WithLock lock;
  drop_dead();
  const nb::object result = nb::steal(PyObject_CallNoArgs(function.get()));
  if (result.is_valid()) return {};
  if (PyErr_ExceptionMatches(PyExc_StopIteration) != 0) {
    PyErr_Clear();
    return fail(ErrorKind::OutOfRange, "the producer's data ended");
  }
  Error error = error_of_python();
  // The end of another queue, or a stop, in a producer is its normal end, whatever Python made of it.
  if (error.kind() == ErrorKind::OutOfRange) return fail(ErrorKind::OutOfRange, error.message());
  return fail(std::move(error));
}

std::vector<ErrorKind> kinds_of(const std::vector<std::string>& names) {
  std::vector<ErrorKind> kinds;
  for (const std::string& name : names) {
    bool found = false;
    for (int k = 0; k <= static_cast<int>(ErrorKind::Unknown); ++k) {
      if (to_string(static_cast<ErrorKind>(k)) == name) {
        kinds.push_back(static_cast<ErrorKind>(k));
        found = true;
      }
    }
    if (!found) throw Exception(Error(ErrorKind::InvalidArgument, fmt::format("no kind of error '{}'", name)));
  }
  return kinds;
}

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

class PythonArea {
 public:
  explicit PythonArea(const QueueOptions& all)
      : area_(StagingOptions{.dtypes = all.dtypes,
                             .shapes = all.shapes,
                             .names = all.names,
                             .capacity = all.capacity,
                             .memory_limit = all.memory_limit,
                             .shared_name = all.shared_name,
                             .name = all.name}),
        fields_(fields_of(all.dtypes, all.names)) {}
  void put(nb::handle element, std::optional<double> timeout) {
    Element made = to_element("put", element, fields_, true);
    value(interruptible(timeout, {}, [&](const Wait& wait) { return area_.put(std::move(made), wait); }));
  }
  nb::object get(std::optional<double> timeout) {
    return fields_.keys->value_of(value(interruptible(timeout, {}, [&](const Wait& wait) { return area_.get(wait); })));
  }
  nb::object peek(int64_t index, std::optional<double> timeout) {
    return fields_.keys->value_of(
        value(interruptible(timeout, {}, [&](const Wait& wait) { return area_.peek(index, wait); })));
  }
  int64_t size() const { return area_.size(); }
  void clear() const { area_.clear(); }

 private:
  const StagingArea area_;
  const Fields fields_;
};

void make_area(PythonArea* self, const std::vector<std::string>& dtypes, nb::handle shapes,
               const std::vector<std::string>& names, int64_t capacity, int64_t memory_limit,
               const std::string& shared_name) {
  new (self) PythonArea(options_of(capacity, dtypes, shapes, names, shared_name, "", memory_limit, {}));
}

void add_coordinator(nb::module_& module) {
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
}

void add_queue(nb::module_& module) {
  const auto timeout = [] { return nb::arg("timeout").none() = nb::none(); };
  const auto stop = [] { return nb::arg("stop").none() = nb::none(); };
  const auto copy = [] { return nb::arg("copy") = true; };
  nb::class_<PythonQueue>(module, "Queue")
      .def("__init__", make_queue)
      .def("enqueue", &PythonQueue::enqueue, nb::arg("element"), nb::kw_only(), timeout(), stop(), copy())
      .def("enqueue_many", &PythonQueue::enqueue_many, nb::arg("rows"), nb::kw_only(), timeout(), stop(), copy())
      .def("dequeue", &PythonQueue::dequeue, nb::kw_only(), timeout(), stop())
      .def("dequeue_many", &PythonQueue::dequeue_many, nb::arg("n"), nb::kw_only(), timeout(), stop())
      .def("dequeue_up_to", &PythonQueue::dequeue_up_to, nb::arg("n"), nb::kw_only(), timeout(), stop())
      .def("close", &PythonQueue::close, nb::arg("cancel_pending_enqueues") = false)
      .def("is_closed", [](const PythonQueue& self) { return self.queue().is_closed(); })
      .def("size", [](const PythonQueue& self) { return self.queue().size(); })
      .def("stats", stats_of)
      .def_prop_ro("name", [](const PythonQueue& self) { return self.queue().name(); })
      .def_prop_ro("capacity", [](const PythonQueue& self) { return self.queue().capacity(); })
      .def_prop_ro("names", [](const PythonQueue& self) { return self.queue().names(); })
      .def("__iter__", [](nb::handle self) { return nb::borrow(self); })
      .def("__next__", &PythonQueue::next);
  nb::class_<QueueRunner>(module, "QueueRunner")
      .def("__init__", make_runner)
      .def("start", [](QueueRunner& self, const PythonCoordinator& coordinator) { self.start(*coordinator); });
}

void add_staging(nb::module_& module) {
  const auto timeout = [] { return nb::arg("timeout").none() = nb::none(); };
  nb::class_<PythonArea>(module, "StagingArea")
      .def("__init__", make_area, nb::arg("dtypes"), nb::arg("shapes").none(), nb::arg("names"), nb::arg("capacity"),
           nb::arg("memory_limit"), nb::arg("shared_name"))
      .def("put", &PythonArea::put, nb::arg("element"), nb::kw_only(), timeout())
      .def("get", &PythonArea::get, nb::kw_only(), timeout())
      .def("peek", &PythonArea::peek, nb::arg("index"), nb::kw_only(), timeout())
      .def("size", &PythonArea::size)
      .def("clear", &PythonArea::clear);
}

}  // namespace

void add_queues(nb::module_& module) {
  add_coordinator(module);
  add_queue(module);
  add_staging(module);
}

}  // namespace headpond::python
