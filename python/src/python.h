// SPDX-License-Identifier: Apache-2.0
// What the sources of the Python module share: Python objects on threads that do not have the interpreter's lock, waits
// that look for signals, errors, and values in both directions.
#pragma once

#include <nanobind/nanobind.h>

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "headpond/base/interrupt/interrupt.h"
#include "headpond/base/status.h"
#include "headpond/dataset/dataset.h"
#include "headpond/queue/wait.h"
#include "headpond/tensor/element.h"

namespace headpond::python {

namespace nb = nanobind;

// ---- python_lock.cc

/// A Python object that any thread may copy and destroy. One that dies without the interpreter's lock is dropped by the
/// next thread that has it.
using Ref = std::shared_ptr<PyObject>;
/// REQUIRES: the lock.
Ref hold(PyObject* object);
/// Adds no owner and takes none: gives one reference up, now or as soon as a thread has the lock.
void drop(PyObject* object) noexcept;
/// Drops the dead. REQUIRES: the lock.
void drop_dead();

/// The interpreter ends: no thread asks for its lock any more.
void begin_exit();
bool is_exiting();

/// Takes the lock on any thread. REQUIRES: !is_exiting().
class WithLock {
 public:
  WithLock() : state_(PyGILState_Ensure()) {}
  ~WithLock() { PyGILState_Release(state_); }
  WithLock(const WithLock&) = delete;
  WithLock& operator=(const WithLock&) = delete;

 private:
  const PyGILState_STATE state_;
};

/// Calls `call` without the lock. On the main thread it looks for signals while it waits; their exception (of ^C, say)
/// is raised afterwards. `stop`: is requested then, too.
template <class Call>
auto waiting(Call call, std::stop_source* stop = nullptr);

/// Returns true iff a signal's handler raised. REQUIRES: not the lock.
bool look_for_signals();
/// REQUIRES: the lock.
bool is_main_thread();

// ---- errors.cc

/// The class for a kind, by "DataLoss", ...
void set_error_class(const std::string& kind, nb::object type);
/// Raises what stands for the error: the user's own exception if it carries one, else the class of its kind.
[[noreturn]] void raise(const Error& error);
/// The exception that was raised, as an error that carries it. REQUIRES: the lock, and an exception.
Error error_of_python();

template <class T>
T value(Result<T> result) {
  if (!result) raise(result.error());
  if constexpr (!std::is_void_v<T>) return *std::move(result);
}

// ---- numpy_api.cc

/// An array over the tensor's memory, which it keeps alive; a scalar or bytes for rank 0. New reference. It is writable
/// iff nobody else has that memory.
nb::object array_of(Tensor tensor);
/// Whose memory the tensor has: a copy; the array's if nobody else refers to that, else a copy; the array's.
enum class Share { copy, if_its_own, always };
/// The value's array, scalar or text. `want`: its dtype; numbers that are not arrays are converted if that keeps them.
Tensor tensor_of(nb::handle value, std::optional<DType> want = {}, Share share = Share::copy);

// ---- elements.cc

/// Keys of dicts, made once.
class Keys {
 public:
  explicit Keys(const Spec& spec);
  explicit Keys(const std::vector<std::string>& names);
  ~Keys();  ///< On any thread.
  Keys(const Keys&) = delete;
  Keys& operator=(const Keys&) = delete;
  /// A dict of named fields, a tuple of several, the value of one. Arrays are writable iff `element` was moved here and
  /// nobody else had its memory.
  nb::object value_of(Element element) const;

 private:
  std::vector<nb::object> names_;  // None: fields have no names.
};
/// The reverse. Throws Exception(InvalidArgument), "who: ...".
Element element_of(const std::string& who, nb::handle value, const Spec& spec, Share share);
/// Of a value whose fields are not known: their names, dtypes and ranks; dimensions are unknown.
Spec spec_of(nb::handle value);

/// {"x": ("float32", (3,))}, a list of such pairs, or one pair.
Spec to_spec(nb::handle spec);
nb::object from_spec(const Spec& spec);
DType to_dtype(nb::handle name);
Shape to_shape(nb::handle shape);
Wait to_wait(std::optional<double> timeout);

// ---- One function a source that adds to the module.
void add_datasets(nb::module_& module);
void add_loader(nb::module_& module);
void add_queues(nb::module_& module);
void add_files(nb::module_& module);

template <class Call>
auto waiting(Call call, std::stop_source* stop) {
  drop_dead();
  using Answer = decltype(call());
  std::optional<InterruptLook> look;
  std::optional<Answer> answer;
  bool raised = false;
  const bool looks = is_main_thread();
  {
    const nb::gil_scoped_release released;
    if (looks) {
      look.emplace([&] {
        raised = raised || look_for_signals();
        if (raised && stop != nullptr) stop->request_stop();
        return raised;
      });
    }
    answer.emplace(call());
    look.reset();
  }
  if (raised && !*answer) throw nb::python_error();
  if (raised) {  // The answer came at the same moment: it is given, and the signal's handler is called again.
    PyErr_Clear();
    PyErr_SetInterrupt();
  }
  return *std::move(answer);
}

}  // namespace headpond::python
