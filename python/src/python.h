// SPDX-License-Identifier: Apache-2.0
// What the sources of the Python module share: Python objects on threads that do not have the interpreter's lock, waits
// that look for signals, errors, and values in both directions.
#pragma once

#include <nanobind/nanobind.h>

#include <chrono>
#include <functional>
#include <list>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "headpond/base/interrupt/interrupt.h"
#include "headpond/base/mutex.h"
#include "headpond/base/status.h"
#include "headpond/dataset/dataset.h"
#include "headpond/monitor/timeline.h"
#include "headpond/monitor/wait_account.h"
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

/// Whether this thread has the interpreter's lock. On any thread.
bool has_lock();

/// The main thread calls that between two instructions of Python, with the lock. On any thread. False: the
/// interpreter's list of calls is full, or it has none for a thread without the lock.
bool add_pending_call(int (*call)(void*), void* argument);

/// New reference; null with an exception set. REQUIRES: the lock.
inline PyObject* call_with(PyObject* function, PyObject* argument) {
  return PyObject_Vectorcall(function, &argument, 1, nullptr);
}

/// The interpreter ends: no thread asks for its lock any more.
void begin_exit();
bool is_exiting();

/// Stands around what may give the lock up. Where the interpreter has ended meanwhile, it ends a thread that asks for
/// its lock again, before Python 3.14 in a way that C++ does not survive: here such a thread stops instead.
class WhileCalling {
 public:
  WhileCalling() = default;
  ~WhileCalling() {
    if (is_exiting()) stop_if_without_lock();
  }
  WhileCalling(const WhileCalling&) = delete;
  WhileCalling& operator=(const WhileCalling&) = delete;

 private:
  static void stop_if_without_lock();
};

/// A thread that Python did not start has no state in the interpreter: to take the lock makes one, and to give it up
/// frees it, which takes a sixth of the time of a short call. After this call the thread keeps its state, with what
/// functions keep in a threading.local, until it ends; to free it, it then takes the lock. So a thread that waits for
/// another one's end must not have the lock. REQUIRES: !is_exiting(), not the lock.
void keep_thread_state();

/// Takes the lock again that the thread gave up, by PyEval_SaveThread(). Where the interpreter has ended meanwhile, the
/// thread stops here, see WhileCalling.
void take_lock_again(PyThreadState* state);

/// Gives the lock up, and takes it again at its end. REQUIRES: the lock.
class WithoutLock {
 public:
  WithoutLock() : state_(PyEval_SaveThread()) {}
  ~WithoutLock() { take_lock_again(state_); }
  WithoutLock(const WithoutLock&) = delete;
  WithoutLock& operator=(const WithoutLock&) = delete;

 private:
  PyThreadState* const state_;
};

/// Takes the lock on any thread; what it returns is for give_lock(). Both stop a thread as take_lock_again() does: the
/// state of a thread that Python did not start goes with the lock, and its objects' functions may give the lock up.
PyGILState_STATE take_lock();
void give_lock(PyGILState_STATE before);

/// Takes the lock on any thread. REQUIRES: !is_exiting().
class WithLock {
 public:
  WithLock() : state_(take_lock()) {}
  ~WithLock() {
    { const WhileCalling ended; }
    give_lock(state_);
  }
  WithLock(const WithLock&) = delete;
  WithLock& operator=(const WithLock&) = delete;

 private:
  const PyGILState_STATE state_;
};

/// Work on a thread of its own, for what may wait for threads that need the interpreter's lock.
class Ending {
 public:
  /// Starts it; where the process is the child of a fork(), does it here.
  static std::shared_ptr<Ending> start(std::function<void()> work);
  /// True iff it is done before `most` has passed. REQUIRES: not the lock.
  bool wait(std::chrono::nanoseconds most);
  /// The same for all of them.
  static bool wait_for_all(std::chrono::nanoseconds most);

 private:
  struct State;
  std::shared_ptr<State> state_;
};
/// Destroys the object that way; nobody waits.
template <class T>
void end_elsewhere(std::shared_ptr<T> object) {
  (void)Ending::start([held = std::move(object)]() mutable { held.reset(); });
}

/// Raises the exception that is set now later, on the main thread, between two of its instructions.
void raise_later();

/// Calls `call` without the lock. On the main thread it looks for signals while it waits; their exception (of ^C, say)
/// is raised afterwards. `stop`: is requested then, too.
template <class Call>
auto waiting(Call call, std::stop_source* stop = nullptr, bool between_elements = false);

/// A flag of an object that one thread at a time may use, set while its call gives the lock up.
/// Throws Exception(FailedPrecondition) if it is set. REQUIRES: the lock, also when destroyed.
class OneAtATime {
 public:
  OneAtATime(bool& is_used, const char* who);
  ~OneAtATime() { is_used_ = false; }
  OneAtATime(const OneAtATime&) = delete;
  OneAtATime& operator=(const OneAtATime&) = delete;

 private:
  bool& is_used_;
};

/// Runs what waits for the main thread: signals' handlers, and those of log lines. Returns true iff one raised.
/// REQUIRES: not the lock; the main thread.
bool look_for_signals();
/// REQUIRES: the lock.
bool is_main_thread();

// ---- log_lines.cc

/// Passes the log's lines that wait to Python's logging. Returns false, with the exception set, iff a handler raised
/// what is no Exception, as ^C does; the lines after that one wait on. REQUIRES: the lock; the main thread.
bool give_log_lines();

// ---- errors.cc

/// Throws Exception(InvalidArgument).
[[noreturn]] void refuse_argument(const std::string& what);

/// The class for a kind, by "DataLoss", ...
void set_error_class(const std::string& kind, nb::object type);
/// Raises what stands for the error: the user's own exception if it carries one, else the class of its kind. A limit of
/// on_error is of that class, too; the user's exception is the last of its causes.
[[noreturn]] void raise(const Error& error);
/// Sets it as the exception of Python, for a function that answers by a null pointer. REQUIRES: the lock.
void set_error(const Error& error);
/// The exception that was raised, as an error that carries it. REQUIRES: the lock, and an exception.
Error error_of_python();
/// The same, of a function of a dataset: the error stays with the owner of the call (OwnsExceptions).
Error error_of_function();
/// While it lives, what functions of datasets raise on this thread is `owner`'s until the program gets it. Such
/// tracebacks have the frames of the program, which have the owner: the interpreter's collector must see that cycle.
/// Null: nobody's. What a function calls by itself gives its errors elsewhere.
class OwnsExceptions {
 public:
  explicit OwnsExceptions(const void* owner);
  ~OwnsExceptions();
  OwnsExceptions(const OwnsExceptions&) = delete;
  OwnsExceptions& operator=(const OwnsExceptions&) = delete;

 private:
  const void* const before_;
};
/// For the owner's tp_traverse: the exceptions that are its own.
int visit_exceptions(const void* owner, visitproc visit, void* arg);
/// Call when the owner is destroyed: its exceptions are not shortened any more.
void forget_exceptions(const void* owner);

/// Of whatever type: typing.Any in the types of the module.
class Any : public nb::object {
 public:
  static constexpr auto Name = nb::detail::const_name("typing.Any");
  using nb::object::object;
  Any(nb::object object) : nb::object(std::move(object)) {}
};
using Dict = nb::typed<nb::dict, nb::str, Any>;

template <class T>
T value(Result<T> result) {
  if (!result) raise(result.error());
  if constexpr (!std::is_void_v<T>) return *std::move(result);
}

// ---- numpy_api.cc

/// Raises ImportError if arrays of this dtype need a package that is absent.
void need_dtype(DType dtype);
/// Memory that arrays had, and that must not be used again yet: a device may still read it. On any thread.
class Returned {
 public:
  /// Takes the tensors in `some`, but after end().
  void add(std::list<Tensor>& some) noexcept {
    const MutexLock lock(mu_);
    if (!has_ended_) tensors_.splice(tensors_.end(), some);
  }
  /// All that came since the last call.
  std::list<Tensor> take() {
    const MutexLock lock(mu_);
    return std::exchange(tensors_, {});
  }
  /// Nobody uses the memory any more.
  void end() {
    std::list<Tensor> last;  // Ends without the lock.
    const MutexLock lock(mu_);
    has_ended_ = true;
    last.swap(tensors_);
  }

 private:
  Mutex mu_;
  std::list<Tensor> tensors_ HEADPOND_GUARDED_BY(mu_);
  bool has_ended_ HEADPOND_GUARDED_BY(mu_) = false;
};

/// An array over the tensor's memory, which it keeps alive; a scalar or bytes for rank 0. New reference. It is writable
/// iff nobody else has that memory. When the last of the array and its views is gone, the tensor goes `to` there, or
/// ends.
nb::object array_of(Tensor tensor, const std::shared_ptr<Returned>& to = nullptr);
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
  /// nobody else had its memory. `to`: as of array_of().
  nb::object value_of(Element&& element, const std::shared_ptr<Returned>& to = nullptr) const;
  nb::object value_of(const Element& element) const { return value_of(Element(element)); }

 private:
  std::vector<nb::object> names_;  // None: fields have no names.
};
/// The reverse. Throws Exception(InvalidArgument), "who: ...".
Element element_of(const std::string& who, nb::handle value, const Spec& spec, Share share);
/// Of a value whose fields are not known: their names, dtypes and ranks; dimensions are unknown.
Spec spec_of(nb::handle value);

/// What a dict has for a field, without a reference of its own, by which a value counts as its own no longer; an
/// invalid handle if it has none.
nb::handle value_in(nb::handle dict, const std::string& name);
/// A text, which may be the name of a file or a field in any encoding.
nb::object to_text(const std::string& text);
/// The text, or the bytes of a name that the system gave. Throws Exception(InvalidArgument) for another type.
std::string text_of(nb::handle text);

/// {"x": ("float32", (3,))}, a list of such pairs, or one pair.
Spec to_spec(nb::handle spec);
nb::object from_spec(const Spec& spec);
DType to_dtype(nb::handle name);
Shape to_shape(nb::handle shape);
Wait to_wait(std::optional<double> timeout);

// ---- monitor.cc

/// That of Python's WaitAccount.
const WaitAccount& account_of(nb::handle waits);
/// As hp.write_timeline() returns it.
Dict as_dict(const TimelineReport& report);

// ---- functions.cc

/// The dataset that a function of Python makes of an element of `input`.
std::function<Dataset(const Element&)> nested_of(const Dataset& input, const nb::object& function);

// ---- One function a source that adds to the module.
void add_datasets(nb::module_& module);
void add_functions(nb::module_& module);
void add_sequence(nb::module_& module);
void add_loader(nb::module_& module);
void add_batches(nb::module_& module);
void add_writers(nb::module_& module);
void add_queues(nb::module_& module);
void add_runners(nb::module_& module);
void add_staging(nb::module_& module);
void add_monitor(nb::module_& module);
void add_run_log(nb::module_& module);
void add_migrate(nb::module_& module);
void add_tf1(nb::module_& module);
void add_files(nb::module_& module);
void add_array_files(nb::module_& module);
void add_log(nb::module_& module);
void add_random(nb::module_& module);

template <class Call>
auto waiting(Call call, std::stop_source* stop, bool between_elements) {
  drop_dead();
  using Answer = decltype(call());
  std::optional<InterruptLook> look;
  std::optional<Answer> answer;
  struct {
    std::stop_source* stop;
    bool raised = false;
  } seen{stop};
  const bool looks = is_main_thread();
  {
    const WithoutLock released;
    if (looks) {
      look.emplace(
          [&seen] {  // One reference: std::function then allocates nothing.
            seen.raised = seen.raised || look_for_signals();
            if (seen.raised && seen.stop != nullptr) seen.stop->request_stop();
            return seen.raised;
          },
          between_elements);
    }
    answer.emplace(call());
    look.reset();
  }
  if (seen.raised && !*answer) throw nb::python_error();
  if (seen.raised) raise_later();  // The answer came at the same moment: it is given first.
  return *std::move(answer);
}

}  // namespace headpond::python
