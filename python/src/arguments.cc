// SPDX-License-Identifier: Apache-2.0
#include "python/src/arguments.h"

#include <fmt/format.h>

#include <string>

#include "python/src/queue_objects.h"

namespace headpond::python {
namespace {

constexpr Py_ssize_t kMostShown = 200;  // Characters of a value.

std::string shown(nb::handle value) {
  nb::object text = nb::steal(PyObject_Repr(value.ptr()));
  if (!text.is_valid()) throw nb::python_error();
  const bool is_long = PyUnicode_GetLength(text.ptr()) > kMostShown;
  if (is_long) text = nb::steal(PyUnicode_Substring(text.ptr(), 0, kMostShown));
  if (!text.is_valid()) throw nb::python_error();
  // UTF-8 has no half of a surrogate pair.
  const nb::object bytes = nb::steal(PyUnicode_AsEncodedString(text.ptr(), "utf-8", "backslashreplace"));
  if (!bytes.is_valid()) throw nb::python_error();
  return std::string(PyBytes_AsString(bytes.ptr())) + (is_long ? "..." : "");
}

std::string refusal(const char* call, const char* argument, nb::handle value, const char* what) {
  return fmt::format("{}: {}={}: must be {}", call, argument, shown(value), what);
}

// NumPy's bool, which is none of Python's.
bool is_flag(nb::handle value) {
  const nb::handle type = value.type();
  const std::string name = text_of(type.attr("__name__"));
  return (name == "bool" || name == "bool_") && text_of(type.attr("__module__")) == "numpy";
}

// After a conversion that failed. The TypeError that is set is the cause of this one if the value raised it itself, as
// its type can be converted.
[[noreturn]] void refuse_value(const char* call, const char* argument, nb::handle value, const char* what,
                               bool is_convertible) {
  nb::python_error own;  // Takes it.
  if (!own.matches(PyExc_TypeError)) throw own;
  if (!is_convertible) refuse_type(call, argument, value, what);
  const std::string text = refusal(call, argument, value, what);
  own.restore();
  nb::chain_error(PyExc_TypeError, "%s", text.c_str());
  throw nb::python_error();
}

}  // namespace

bool was_raised(PyObject* type) {
  if (PyErr_ExceptionMatches(type) == 0) return false;
  PyErr_Clear();
  return true;
}

void clear_only(PyObject* type) {
  if (PyErr_Occurred() != nullptr && !was_raised(type)) throw nb::python_error();
}

void refuse_type(const char* call, const char* argument, nb::handle value, const char* what) {
  throw nb::type_error(refusal(call, argument, value, what).c_str());
}

std::optional<double> Timeout::of(const char* call) const {
  if (value.is_none()) return {};
  const double seconds = PyFloat_AsDouble(value.ptr());
  if (PyErr_Occurred() == nullptr) return seconds;
  if (was_raised(PyExc_OverflowError))
    refuse_argument(fmt::format("{}: timeout: a number beyond those of float", call));
  clear_only(PyExc_TypeError);
  refuse_type(call, "timeout", value, "a number of seconds, or None");
}

const PythonCoordinator* Stop::of(const char* call) const {
  const PythonCoordinator* coordinator = nullptr;
  if (!value.is_none() && !nb::try_cast(value, coordinator)) refuse_type(call, "stop", value, "a Coordinator, or None");
  return coordinator;
}

int64_t Integer::of(const char* call, const char* argument) const {
  const nb::object number = nb::steal(PyNumber_Index(value.ptr()));
  if (!number.is_valid()) refuse_value(call, argument, value, "an integer", PyIndex_Check(value.ptr()) != 0);
  const int64_t made = PyLong_AsLongLong(number.ptr());
  if (PyErr_Occurred() == nullptr) return made;
  clear_only(PyExc_OverflowError);
  refuse_argument(fmt::format("{}: {}={}: must be in [-2**63, 2**63)", call, argument, shown(value)));
}

bool Flag::of(const char* call, const char* argument) const {
  if (value.ptr() == Py_True) return true;
  if (value.ptr() == Py_False) return false;
  if (!is_flag(value)) refuse_type(call, argument, value, "True or False");
  const int made = PyObject_IsTrue(value.ptr());
  if (made < 0) throw nb::python_error();
  return made != 0;
}

std::vector<int64_t> Indices::of(const char* call) const {
  const bool is_iterable = nb::hasattr(value.type(), "__iter__");
  const nb::object all = nb::steal(PySequence_Tuple(value.ptr()));
  if (!all.is_valid()) refuse_value(call, "indices", value, "a list of integers", is_iterable);
  std::vector<int64_t> made;
  for (nb::handle one : nb::borrow<nb::tuple>(all)) made.push_back(Integer{one}.of(call, "indices"));
  return made;
}

}  // namespace headpond::python
