// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <climits>
#include <map>

#include "headpond/base/mutex.h"
#include "nanobind/stl/string.h"
#include "python/src/python.h"

namespace headpond::python {
namespace {

constexpr const char* kDetails = "__headpond_error__";

std::map<std::string, nb::object>& classes() {
  static auto* const all = new std::map<std::string, nb::object>;  // Never destroyed, as the interpreter may be gone.
  return *all;
}

nb::object or_none(const std::string& text) { return text.empty() ? nb::none() : nb::object(nb::cast(text)); }
nb::object or_none(std::optional<uint64_t> number) { return number ? nb::object(nb::cast(*number)) : nb::none(); }

// The exceptions that functions of Python raised lately, by number. An error carries its number where errors of the
// system have errno, below 0. A Loader may be thousands of failed elements ahead, so that many are kept, but all except
// the last few without what the variables of their frames refer to.
class Exceptions {
 public:
  /// REQUIRES: the lock of the interpreter.
  int add(nb::handle exception) {
    std::pair<int, Ref> one{0, hold(exception.ptr())};  // In the end the one before: it may run code of Python.
    Ref old;
    int number = 0;
    {
      const MutexLock lock(mu_);
      number = one.first = last_ = last_ == INT_MAX ? 1 : last_ + 1;
      kept_.at(static_cast<size_t>(last_) % kMost).swap(one);
      old = kept_.at((static_cast<size_t>(last_) + kMost - kWhole) % kMost).second;
    }
    if (old != nullptr) clear_frames(old.get());
    return -number;
  }
  Ref of(const Error& error) {
    if (error.os_error() >= 0) return nullptr;
    const MutexLock lock(mu_);
    const auto& [number, exception] = kept_.at(static_cast<size_t>(-error.os_error()) % kMost);
    return number == -error.os_error() ? exception : nullptr;
  }

 private:
  static constexpr size_t kMost = 8192, kWhole = 16;

  static void clear_frames(nb::handle exception) {
    const nb::object trace = nb::steal(PyException_GetTraceback(exception.ptr()));
    if (!trace.is_valid()) return;
    try {
      nb::module_::import_("traceback").attr("clear_frames")(trace);
    } catch (const nb::python_error&) {  // A frame that still runs keeps what it has.
    }
  }

  Mutex mu_;
  std::vector<std::pair<int, Ref>> kept_ HEADPOND_GUARDED_BY(mu_) = std::vector<std::pair<int, Ref>>(kMost);
  int last_ HEADPOND_GUARDED_BY(mu_) = 0;
};

Exceptions& exceptions() {
  static auto* const all = new Exceptions;
  return *all;
}

// The user's own exception, else an instance of the kind's class. Its causes follow it.
nb::object details_of(const Error& error);
nb::object exception_of(const Error& error) {
  if (error.cause() == nullptr) {
    if (const Ref own = exceptions().of(error)) return nb::borrow(own.get());
  }
  return details_of(error);
}

nb::object details_of(const Error& error) {
  const std::string kind(to_string(error.kind()));
  nb::object made = classes().at(kind)(nb::cast(error.message()));
  const ErrorPlace place = error.place();
  made.attr("message") = nb::cast(error.message());
  made.attr("file") = or_none(place.source);
  made.attr("stage") = or_none(place.op);
  made.attr("record") = or_none(place.record);
  made.attr("offset") = or_none(place.offset);
  if (error.cause() != nullptr) {
    nb::object cause = exception_of(*error.cause());
    made.attr("cause") = cause;
    PyException_SetCause(made.ptr(), cause.release().ptr());  // Takes it.
  }
  return made;
}

void raise_object(nb::handle exception) {
  PyErr_SetObject(reinterpret_cast<PyObject*>(Py_TYPE(exception.ptr())), exception.ptr());
}

// The user's own exception leaves as it was raised, with a note that says where.
void raise_own(PyObject* exception, const Error& error) {
  const nb::handle own(exception);
  try {
    own.attr(kDetails) = details_of(error);
    if (nb::hasattr(own, "add_note")) own.attr("add_note")(nb::cast("Headpond: " + error.message()));
  } catch (const nb::python_error&) {  // Of a class with slots. The note is a help, the exception is what counts.
  }
  raise_object(own);
}

std::string text_of(nb::handle exception) {
  const std::string type = nb::cast<std::string>(exception.type().attr("__name__"));
  const nb::object text = nb::steal(PyObject_Str(exception.ptr()));
  if (!text.is_valid()) {
    PyErr_Clear();
    return type;
  }
  return fmt::format("{}: {}", type, text.is_valid() ? nb::cast<std::string>(text) : "");
}

}  // namespace

void set_error_class(const std::string& kind, nb::object type) { classes()[kind] = std::move(type); }

void raise(const Error& error) {
  // The end of a queue whose producer failed stays an end.
  const Ref own = error.kind() == ErrorKind::OutOfRange ? nullptr : exceptions().of(error);
  if (own != nullptr) {
    raise_own(own.get(), error);
  } else {
    raise_object(exception_of(error));
  }
  throw nb::python_error();
}

Error error_of_python() {
  nb::object exception;
  {
    PyObject *type = nullptr, *own = nullptr, *trace = nullptr;
    PyErr_Fetch(&type, &own, &trace);
    PyErr_NormalizeException(&type, &own, &trace);
    if (trace != nullptr) PyException_SetTraceback(own, trace);
    exception = nb::steal(own);
    Py_XDECREF(type);
    Py_XDECREF(trace);
  }
  ErrorKind kind = ErrorKind::Unknown;
  for (int k = 0; k <= static_cast<int>(ErrorKind::Unknown); ++k) {
    const auto found = classes().find(std::string(to_string(static_cast<ErrorKind>(k))));
    if (found != classes().end() && PyObject_IsInstance(exception.ptr(), found->second.ptr()) == 1) {
      kind = static_cast<ErrorKind>(k);
    }
  }
  return Error::of_system(kind, text_of(exception), exceptions().add(exception));
}

}  // namespace headpond::python
