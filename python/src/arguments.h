// SPDX-License-Identifier: Apache-2.0
// Arguments that a call takes as they were given and converts itself: one of another type is a TypeError that names
// call and argument, as python/headpond/_arguments.py has it.
#pragma once

#include <nanobind/nanobind.h>

#include <concepts>
#include <cstdint>
#include <optional>
#include <vector>

namespace headpond::python {

namespace nb = nanobind;

class PythonCoordinator;

/// Converted by of(), which throws nb::type_error for another type, and Exception(InvalidArgument) for a number that is
/// out of range. `call`: "dequeue()". REQUIRES: the call that got it has not returned.
struct Given {
  nb::handle value = {};
};
struct Timeout : Given {  ///< In seconds; None: no end.
  static constexpr auto Name = nb::detail::const_name("float");
  std::optional<double> of(const char* call) const;
};
struct Stop : Given {  ///< None: null.
  static constexpr auto Name = nb::detail::const_name("Coordinator");
  const PythonCoordinator* of(const char* call) const;
};
struct Integer : Given {
  static constexpr auto Name = nb::detail::const_name("int");
  int64_t of(const char* call, const char* argument) const;
};
struct Flag : Given {
  static constexpr auto Name = nb::detail::const_name("bool");
  bool of(const char* call, const char* argument) const;
};
struct Indices : Given {  ///< Integers.
  static constexpr auto Name = nb::detail::const_name("collections.abc.Sequence[int]");
  std::vector<int64_t> of(const char* call) const;
};

/// True iff the exception that is set is of that type: then it is cleared. REQUIRES: one is set.
bool was_raised(PyObject* type);
/// Clears the exception that is set, if there is one. Throws it if it is of another type: the value's own.
void clear_only(PyObject* type);
/// Throws nb::type_error, "call: argument=...: must be `what`".
[[noreturn]] void refuse_type(const char* call, const char* argument, nb::handle value, const char* what);

}  // namespace headpond::python

template <std::derived_from<headpond::python::Given> T>
struct nanobind::detail::type_caster<T> {
  NB_TYPE_CASTER(T, T::Name)
  bool from_python(handle src, uint8_t /*flags*/, cleanup_list* /*cleanup*/) noexcept {
    value.value = src;
    return true;
  }
};
