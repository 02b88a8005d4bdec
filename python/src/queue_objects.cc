// SPDX-License-Identifier: Apache-2.0
#include "python/src/queue_objects.h"

#include <fmt/format.h>

#include <utility>

#include "nanobind/stl/string.h"

namespace headpond::python {
namespace {

thread_local EndsOfRunners* ends_of_call = nullptr;  // NOLINT(cppcoreguidelines-avoid-non-const-global-variables)

}  // namespace

Fields::Fields(const std::vector<DType>& dtypes, const std::vector<std::string>& field_names)
    : keys(std::make_shared<const Keys>(field_names)),
      names(field_names.empty() ? nullptr : std::make_shared<const std::vector<std::string>>(field_names)) {
  for (size_t i = 0; i < dtypes.size(); ++i)
    spec.push_back({field_names.empty() ? "" : field_names.at(i), dtypes[i], Shape()});
}

Element Fields::element_of(const std::string& who, nb::handle value, bool copy) const {
  Element made = python::element_of(who, value, spec, copy ? Share::copy : Share::always);
  made.set_names(names);
  return made;
}

PythonQueue::PythonQueue(Queue queue, bool is_alone)
    : queue_(std::move(queue)),
      fields_(queue_->dtypes(), queue_->names()),
      exceptions_(is_alone ? std::make_shared<ExceptionOwner>() : nullptr) {}

Element PythonQueue::to_element(const char* call, nb::handle element, bool copy) const {
  return fields_.element_of(fmt::format("{} '{}'", call, queue_->name()), element, copy);
}

void PythonQueue::enqueue(nb::handle element, Timeout timeout, Stop stop, Flag copy) {
  Element made = to_element("enqueue", element, copy.of("enqueue()", "copy"));
  value(interruptible("enqueue()", timeout, stop,
                      [&](const Wait& wait) { return queue_->enqueue(std::move(made), wait); }));
}

void PythonQueue::enqueue_many(nb::handle rows, Timeout timeout, Stop stop, Flag copy) {
  Element made = to_element("enqueue_many", rows, copy.of("enqueue_many()", "copy"));
  value(interruptible("enqueue_many()", timeout, stop,
                      [&](const Wait& wait) { return queue_->enqueue_many(std::move(made), wait); }));
}

Any PythonQueue::dequeue(Timeout timeout, Stop stop) {
  return fields_.keys->value_of(
      value(interruptible("dequeue()", timeout, stop, [&](const Wait& wait) { return queue_->dequeue(wait); })));
}

Any PythonQueue::dequeue_many(Integer n, Timeout timeout, Stop stop) {
  const char* call = "dequeue_many()";
  return fields_.keys->value_of(value(interruptible(call, timeout, stop, [&, many = n.of(call, "n")](const Wait& wait) {
    return queue_->dequeue_many(many, wait);
  })));
}

Any PythonQueue::dequeue_up_to(Integer n, Timeout timeout, Stop stop) {
  const char* call = "dequeue_up_to()";
  return fields_.keys->value_of(value(interruptible(call, timeout, stop, [&, many = n.of(call, "n")](const Wait& wait) {
    return queue_->dequeue_up_to(many, wait);
  })));
}

Any PythonQueue::next() {
  auto element = interruptible(std::nullopt, {}, [&](const Wait& wait) { return queue_->dequeue(wait); });
  if (at_end(element)) throw nb::stop_iteration();
  return fields_.keys->value_of(value(std::move(element)));
}

void PythonQueue::close(Flag cancel_pending_enqueues) {
  const bool cancel = cancel_pending_enqueues.of("close()", "cancel_pending_enqueues");
  value(waiting([&] { return queue_->close(cancel); }));
}

void PythonQueue::close_with_error(nb::handle exception) {
  const Error given = error_of_exception(exception);
  value(waiting([&, error = exceptions_ != nullptr ? exceptions_->keep(given) : given]() -> Result<void> {
    queue_->close_with_error(error);
    return {};
  }));
}

QueueOptions queue_options(int64_t capacity, const std::vector<std::string>& dtypes, nb::handle shapes,
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

Error error_of_exception(nb::handle exception) {
  PyErr_SetObject(reinterpret_cast<PyObject*>(Py_TYPE(exception.ptr())), exception.ptr());
  return error_of_python();
}

Result<void> call_producer(const Ref& function, const std::weak_ptr<ExceptionOwner>& owner, const Ref& argument) {
  if (is_exiting()) return fail(ErrorKind::Cancelled, "the interpreter ends");
  const WithLock lock;
  drop_dead();
  const nb::object result = nb::steal([&] {
    const WhileCalling calling;
    return argument ? call_with(function.get(), argument.get()) : PyObject_CallNoArgs(function.get());
  }());
  if (result.is_valid()) return {};
  const Error error = producer_error();
  const std::shared_ptr<ExceptionOwner> keeper = owner.lock();
  return fail(keeper != nullptr ? keeper->keep(error) : error);
}

std::function<Result<void>()> called_at_end(const nb::object& function) {
  return [held = hold(function.ptr())]() -> Result<void> {
    if (is_exiting()) return {};
    const WithLock lock;
    drop_dead();
    const bool is_main = is_main_thread();
    const nb::object result = nb::steal([&] {
      const WhileCalling calling;
      return PyObject_CallNoArgs(held.get());
    }());
    if (result.is_valid()) return {};
    if (is_main && PyErr_ExceptionMatches(PyExc_Exception) == 0) {
      EndsOfRunners::keep(held.get());
    } else {
      PyErr_WriteUnraisable(held.get());
    }
    return {};
  };
}

EndsOfRunners::EndsOfRunners() : before_(std::exchange(ends_of_call, this)) {}

EndsOfRunners::~EndsOfRunners() {
  ends_of_call = before_;
  if (type_ == nullptr) return;
  PyErr_Restore(type_, exception_, trace_);
  raise_later();
}

void EndsOfRunners::raise() {
  if (type_ == nullptr) return;
  PyErr_Restore(std::exchange(type_, nullptr), exception_, trace_);
  throw nb::python_error();
}

// What is set now.
void EndsOfRunners::keep(PyObject* function) {
  EndsOfRunners* const ends = ends_of_call;
  if (ends == nullptr) {
    raise_later();
  } else if (ends->type_ == nullptr) {
    PyErr_Fetch(&ends->type_, &ends->exception_, &ends->trace_);
  } else {
    PyErr_WriteUnraisable(function);
  }
}

Error producer_error() {
  if (PyErr_ExceptionMatches(PyExc_StopIteration) != 0) {
    PyErr_Clear();
    return {ErrorKind::OutOfRange, "the producer's data ended"};
  }
  Error error = error_of_python();
  // The end of another queue, or a stop, in a producer is its normal end, whatever Python made of it.
  return error.kind() == ErrorKind::OutOfRange ? Error(ErrorKind::OutOfRange, error.message()) : error;
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

}  // namespace headpond::python
