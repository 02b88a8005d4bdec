// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <utility>
#include <vector>

#include "headpond/base/mutex.h"
#include "nanobind/stl/string.h"
#include "python/src/exception_owner.h"
#include "python/src/python.h"

namespace headpond::python {
namespace {

constexpr const char* kDetails = "__headpond_error__";

std::map<std::string, nb::object>& classes() {
  static auto* const all = new std::map<std::string, nb::object>;  // Never destroyed, as the interpreter may be gone.
  return *all;
}

nb::object or_none(const std::string& text) { return text.empty() ? nb::none() : to_text(text); }
nb::object or_none(std::optional<uint64_t> number) { return number ? nb::object(nb::cast(*number)) : nb::none(); }

// The user's own exception, which the error of its function carries; null: none.
Ref own_exception(const Error& error) {
  return std::const_pointer_cast<PyObject>(std::static_pointer_cast<const PyObject>(error.host_object()));
}

thread_local const void* owner_of_call = nullptr;  // NOLINT(cppcoreguidelines-avoid-non-const-global-variables)

// A Loader may be thousands of failed elements ahead, and a traceback keeps all that the variables of its frames refer
// to. So all but the last few exceptions that nobody has seen yet have theirs as text only, in a note. One that
// next() has raised is never cut. One whose Error is gone leaves the list.
class Tracebacks {
 public:
  /// REQUIRES: the lock of the interpreter.
  void add(PyObject* exception, const void* owner) {
    nb::object old;
    {
      MutexLock lock(mu_);
      PyObject*& place = kept_.at(next_);
      owners_.at(next_) = owner;
      next_ = (next_ + 1) % kept_.size();
      old = nb::borrow(std::exchange(place, exception));
    }
    if (old.is_valid()) cut(old);
  }
  int visit_of(const void* owner, visitproc visit, void* arg) {
    std::array<PyObject*, kMost> all{};
    {
      MutexLock lock(mu_);
      for (size_t i = 0; i < kMost; ++i) all.at(i) = owners_.at(i) == owner ? kept_.at(i) : nullptr;
    }
    for (PyObject* const exception : all) Py_VISIT(exception);
    return 0;
  }
  /// Nobody will see the owner's any more, and the collector that frees it may have emptied them.
  void forget_of(const void* owner) {
    MutexLock lock(mu_);
    for (size_t i = 0; i < kMost; ++i) {
      if (owners_.at(i) == owner) kept_.at(i) = nullptr;
    }
  }
  /// With the interpreter's lock or without, before the exception goes.
  void forget(const PyObject* exception) {
    MutexLock lock(mu_);
    std::replace(kept_.begin(), kept_.end(), const_cast<PyObject*>(exception), static_cast<PyObject*>(nullptr));
  }

 private:
  static void cut(nb::handle exception) {
    try {
      // The collector has emptied it, as nobody reaches the owner: a text of it would end the process.
      if (nb::object(exception.attr("args")).is_none()) return;
      const nb::object text =
          nb::module_::import_("traceback")
              .attr("format_exception")(exception.type(), exception, exception.attr("__traceback__"));
      if (nb::hasattr(exception, "add_note")) exception.attr("add_note")(nb::str("").attr("join")(text));
      exception.attr("__traceback__") = nb::none();
    } catch (const nb::python_error&) {  // Of a class with rules of its own.
    }
  }

  static constexpr size_t kMost = 16;
  Mutex mu_;
  std::array<PyObject*, kMost> kept_ HEADPOND_GUARDED_BY(mu_) = {};
  std::array<const void*, kMost> owners_ HEADPOND_GUARDED_BY(mu_) = {};  // Of each, if known.
  size_t next_ HEADPOND_GUARDED_BY(mu_) = 0;
};

Tracebacks& tracebacks() {
  static auto* const all = new Tracebacks;  // Never destroyed, as the interpreter may be gone.
  return *all;
}

// The user's own exception, else an instance of the kind's class. Its causes follow it.
nb::object details_of(const Error& error, const PyObject* without = nullptr);
nb::object exception_of(const Error& error) {
  if (error.cause() == nullptr) {
    if (const Ref own = own_exception(error)) return nb::borrow(own.get());
  }
  return details_of(error);
}

// A limit of on_error ended the run: the exception of the last element is the cause of that.
bool is_limit(const Error& error) {
  const Error* first = &error;
  while (first->cause() != nullptr) first = first->cause();
  return error.kind() == ErrorKind::FailedPrecondition && first->kind() != ErrorKind::FailedPrecondition;
}

// The exception `without` is no cause: it refers to what is made here.
nb::object details_of(const Error& error, const PyObject* without) {
  const std::string kind(to_string(error.kind()));
  nb::object made = classes().at(kind)(to_text(error.message()));
  const ErrorPlace place = error.place();
  made.attr("message") = to_text(error.message());
  made.attr("file") = or_none(place.source);
  made.attr("stage") = or_none(place.op);
  made.attr("record") = or_none(place.record);
  made.attr("offset") = or_none(place.offset);
  made.attr("key") = or_none(place.key);
  if (error.cause() != nullptr) {
    nb::object cause = exception_of(*error.cause());
    if (cause.ptr() == without) return made;
    made.attr("cause") = cause;
    PyException_SetCause(made.ptr(), cause.release().ptr());  // Takes it.
  }
  return made;
}

void raise_object(nb::handle exception) {
  PyErr_SetObject(reinterpret_cast<PyObject*>(Py_TYPE(exception.ptr())), exception.ptr());
}

// Once, however often the exception is raised.
void add_note(nb::handle exception, const nb::object& note) {
  if (!nb::hasattr(exception, "add_note")) return;  // Before Python 3.11.
  const nb::object notes = nb::getattr(exception, "__notes__", nb::none());
  if (!notes.is_none() && nb::cast<bool>(notes.attr("__contains__")(note))) return;
  exception.attr("add_note")(note);
}

// The user's own exception leaves as it was raised, with a note that says where.
void raise_own(PyObject* exception, const Error& error) {
  const nb::handle own(exception);
  tracebacks().forget(exception);
  try {
    own.attr(kDetails) = details_of(error, exception);
    add_note(own, to_text("Headpond: " + error.message()));
  } catch (const nb::python_error&) {  // Of a class with slots. The note is a help, the exception is what counts.
  }
  raise_object(own);
}

// KeyboardInterrupt, SystemExit and such are Cancelled, which no policy takes for a bad element.
ErrorKind kind_of(nb::handle exception) {
  if (PyObject_IsInstance(exception.ptr(), PyExc_Exception) != 1) return ErrorKind::Cancelled;
  ErrorKind kind = ErrorKind::Unknown;
  for (int k = 0; k <= static_cast<int>(ErrorKind::Unknown); ++k) {
    const auto found = classes().find(std::string(to_string(static_cast<ErrorKind>(k))));
    if (found != classes().end() && PyObject_IsInstance(exception.ptr(), found->second.ptr()) == 1) {
      kind = static_cast<ErrorKind>(k);
    }
  }
  return kind;
}

std::string text_of_exception(nb::handle exception) {
  const std::string type = nb::cast<std::string>(exception.type().attr("__name__"));
  const nb::object text = nb::steal(PyObject_Str(exception.ptr()));
  if (!text.is_valid()) {
    PyErr_Clear();
    return type;
  }
  return fmt::format("{}: {}", type, text_of(text));
}

Error error_of_exception(const void* owner) {
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
  Ref own(exception.inc_ref().ptr(), [](PyObject* gone) {
    tracebacks().forget(gone);
    drop(gone);
  });
  tracebacks().add(own.get(), owner);
  return Error(kind_of(exception), text_of_exception(exception)).with_host_object(std::move(own));
}

}  // namespace

void refuse_argument(const std::string& what) { throw Exception(Error(ErrorKind::InvalidArgument, what)); }

void set_error_class(const std::string& kind, nb::object type) { classes()[kind] = std::move(type); }

void raise(const Error& error) {
  // The end of a queue whose producer failed stays an end.
  Ref own = error.kind() == ErrorKind::OutOfRange ? nullptr : own_exception(error);
  if (own != nullptr && is_limit(error)) {
    tracebacks().forget(own.get());  // The program has it, too.
    own = nullptr;
  }
  if (own != nullptr) {
    raise_own(own.get(), error);
  } else {
    raise_object(exception_of(error));
  }
  throw nb::python_error();
}

void set_error(const Error& error) {
  try {
    raise(error);
  } catch (nb::python_error& raised) {
    raised.restore();
  }
}

OwnsExceptions::OwnsExceptions(const void* owner) : before_(std::exchange(owner_of_call, owner)) {}
OwnsExceptions::~OwnsExceptions() { owner_of_call = before_; }
int visit_exceptions(const void* owner, visitproc visit, void* arg) { return tracebacks().visit_of(owner, visit, arg); }
void forget_exceptions(const void* owner) { tracebacks().forget_of(owner); }

void keep_whole(const PyObject* exception) { tracebacks().forget(exception); }

Error error_of_python() { return error_of_exception(nullptr); }
Error error_of_function() { return error_of_exception(owner_of_call); }

}  // namespace headpond::python
