// SPDX-License-Identifier: Apache-2.0
// The queues. A new type is a branch in make_queue().
#include <utility>

#include "headpond/queue/padding_fifo_queue.h"
#include "headpond/queue/priority_queue.h"
#include "nanobind/stl/optional.h"
#include "nanobind/stl/string.h"
#include "nanobind/stl/vector.h"
#include "python/src/queue_objects.h"

namespace headpond::python {
namespace {

void make_queue(PythonQueue* self, const std::string& type, Dict options, int64_t min_after_dequeue, uint64_t seed) {
  const QueueOptions all =
      queue_options(nb::cast<int64_t>(options["capacity"]), nb::cast<std::vector<std::string>>(options["dtypes"]),
                    options["shapes"], nb::cast<std::vector<std::string>>(options["names"]),
                    nb::cast<std::string>(options["shared_name"]), nb::cast<std::string>(options["name"]),
                    nb::cast<int64_t>(options["memory_limit"]), nb::cast<std::optional<double>>(options["watchdog"]));
  const bool is_alone = all.shared_name.empty();
  if (type == "RandomShuffleQueue") {
    new (self) PythonQueue(RandomShuffleQueue(all, min_after_dequeue, seed), is_alone);
  } else if (type == "PaddingFIFOQueue") {
    new (self) PythonQueue(PaddingFIFOQueue(all), is_alone);
  } else if (type == "PriorityQueue") {
    new (self) PythonQueue(PriorityQueue(all), is_alone);
  } else {
    new (self) PythonQueue(FIFOQueue(all), is_alone);
  }
}

int traverse_queue(PyObject* self, visitproc visit, void* arg) noexcept {
  Py_VISIT(Py_TYPE(self));
  if (!nb::inst_ready(self)) return 0;
  const auto& exceptions = nb::inst_ptr<PythonQueue>(self)->exceptions();
  return exceptions != nullptr ? exceptions->visit(visit, arg) : 0;
}

// The frames of the tracebacks break the cycle.
int clear_queue(PyObject*) noexcept { return 0; }

PyType_Slot queue_slots[] = {{Py_tp_traverse, reinterpret_cast<void*>(traverse_queue)},
                             {Py_tp_clear, reinterpret_cast<void*>(clear_queue)},
                             {0, nullptr}};

Dict stats_of(const PythonQueue& queue) {
  const QueueStats stats = queue.queue().stats();
  Dict all;
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
  all["enqueue_wait_p50_ns"] = stats.enqueue_wait_p50_ns;
  all["enqueue_wait_p99_ns"] = stats.enqueue_wait_p99_ns;
  all["dequeue_wait_p50_ns"] = stats.dequeue_wait_p50_ns;
  all["dequeue_wait_p99_ns"] = stats.dequeue_wait_p99_ns;
  all["enqueue_size_mean"] = stats.enqueue_size_mean;
  all["dequeue_size_mean"] = stats.dequeue_size_mean;
  all["size_peak"] = stats.size_peak;
  all["bytes"] = stats.bytes;
  all["bytes_peak"] = stats.bytes_peak;
  return all;
}

}  // namespace

void add_queues(nb::module_& module) {
  const auto timeout = [] { return nb::arg("timeout").none() = nb::none(); };
  const auto stop = [] { return nb::arg("stop").none() = nb::none(); };
  const auto copy = [] { return nb::arg("copy") = true; };
  nb::class_<PythonQueue>(module, "Queue", nb::type_slots(queue_slots))
      .def("__init__", make_queue)
      .def("enqueue", &PythonQueue::enqueue, nb::arg("element"), nb::kw_only(), timeout(), stop(), copy())
      .def("enqueue_many", &PythonQueue::enqueue_many, nb::arg("rows"), nb::kw_only(), timeout(), stop(), copy())
      .def("dequeue", &PythonQueue::dequeue, nb::kw_only(), timeout(), stop())
      .def("dequeue_many", &PythonQueue::dequeue_many, nb::arg("n"), nb::kw_only(), timeout(), stop())
      .def("dequeue_up_to", &PythonQueue::dequeue_up_to, nb::arg("n"), nb::kw_only(), timeout(), stop())
      .def("close", &PythonQueue::close, nb::arg("cancel_pending_enqueues") = false)
      .def("close_with_error", &PythonQueue::close_with_error, nb::arg("exception"),
           nb::sig("def close_with_error(self, exception: BaseException) -> None"))
      .def("is_closed", [](const PythonQueue& self) { return self.queue().is_closed(); })
      .def("size", [](const PythonQueue& self) { return self.queue().size(); })
      .def("stats", stats_of)
      .def_prop_ro("name", [](const PythonQueue& self) { return self.queue().name(); })
      .def_prop_ro("capacity", [](const PythonQueue& self) { return self.queue().capacity(); })
      .def_prop_ro("names", [](const PythonQueue& self) { return self.queue().names(); })
      .def(
          "__iter__", [](nb::handle self) { return nb::borrow(self); }, nb::sig("def __iter__(self) -> Queue"))
      .def("__next__", &PythonQueue::next);
}

}  // namespace headpond::python
