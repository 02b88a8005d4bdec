// SPDX-License-Identifier: Apache-2.0
#include <dlfcn.h>
#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>

#include "headpond/base/mutex.h"
#include "headpond/base/thread.h"
#include "headpond/engine/executor/thread_end.h"
#include "python/src/python.h"

namespace headpond::python {
namespace {

struct Dead {
  Mutex mu;
  std::vector<PyObject*> objects HEADPOND_GUARDED_BY(mu);
  std::atomic<bool> is_announced = false;  // Changed under `mu`; whoever has the interpreter's lock looks without it.
};

Dead& dead() {
  static Dead* const all = new Dead;  // Never destroyed: threads may outlive static objects.
  return *all;
}

std::atomic<bool> exiting = false;

int drop_announced(void*) {
  drop_dead();
  return 0;
}

}  // namespace

// Not PyGILState_Check: once there was a sub-interpreter, that says yes to every thread. Every CPython has one of these
// functions; the stable ABI does not name them, so they are looked up.
bool has_lock() {
  static const auto current = [] {
    void* const found = dlsym(RTLD_DEFAULT, "PyThreadState_GetUnchecked");  // Python 3.13 and later.
    return reinterpret_cast<PyThreadState* (*)()>(
        found != nullptr ? found : dlsym(RTLD_DEFAULT, "_PyThreadState_UncheckedGet"));
  }();
  PyThreadState* const now = current();
  return now != nullptr && now == PyGILState_GetThisThreadState();
}

#if PY_VERSION_HEX < 0x030C0000
// Here Py_AddPendingCall() asks the thread state that has the lock, of whichever thread, for its interpreter. If that
// thread ends at this moment its state is no more, and the program crashes. The function that it calls is told the
// interpreter; it is exported, but no header has it.
bool add_pending_call(int (*call)(void*), void* argument) {
  using Add = int (*)(PyInterpreterState*, int (*)(void*), void*);
  static const auto add = reinterpret_cast<Add>(dlsym(RTLD_DEFAULT, "_PyEval_AddPendingCall"));
  PyInterpreterState* const interpreter = PyInterpreterState_Main();  // Null: the program is ending.
  if (add != nullptr) return interpreter != nullptr && add(interpreter, call, argument) == 0;
  // Without that function only a thread that has the lock may ask.
  return has_lock() && Py_AddPendingCall(call, argument) == 0;
}
#else
bool add_pending_call(int (*call)(void*), void* argument) { return Py_AddPendingCall(call, argument) == 0; }
#endif

Ref hold(PyObject* object) {
  Py_INCREF(object);
  return {object, drop};
}

void drop(PyObject* object) noexcept {
  if (is_exiting()) return;  // The interpreter frees nothing any more, or is gone.
  if (has_lock()) {
    Py_DECREF(object);
    return;
  }
  bool announces = false;
  {
    Dead& all = dead();
    MutexLock lock(all.mu);
    all.objects.push_back(object);
    announces = !all.is_announced.exchange(true);
  }
  // The interpreter's list of calls may be full: then the next call of the module drops them.
  if (announces) (void)add_pending_call(drop_announced, nullptr);
}

void drop_dead() {
  Dead& all = dead();
  if (!all.is_announced.load(std::memory_order_relaxed)) return;
  std::vector<PyObject*> objects;
  {
    MutexLock lock(all.mu);
    all.is_announced = false;
    objects.swap(all.objects);
  }
  for (PyObject* const object : objects) Py_DECREF(object);
}

namespace {

// To be in a frame of its own, as the one that ends it may be a destructor, which no thread may be ended in.
class StopsUnlessDone {
 public:
  StopsUnlessDone() = default;
  ~StopsUnlessDone() {
    while (!is_done_) std::this_thread::sleep_for(std::chrono::hours(1));
  }
  StopsUnlessDone(const StopsUnlessDone&) = delete;
  StopsUnlessDone& operator=(const StopsUnlessDone&) = delete;
  void done() { is_done_ = true; }

 private:
  bool is_done_ = false;
};

}  // namespace

__attribute__((noinline)) void take_lock_again(PyThreadState* state) {
  StopsUnlessDone asks;
  PyEval_RestoreThread(state);
  asks.done();
}

__attribute__((noinline)) PyGILState_STATE take_lock() {
  StopsUnlessDone asks;
  const PyGILState_STATE before = PyGILState_Ensure();
  asks.done();
  return before;
}

__attribute__((noinline)) void give_lock(PyGILState_STATE before) {
  StopsUnlessDone asks;
  PyGILState_Release(before);
  asks.done();
}

namespace {

// Objects of the thread go, too, whose functions may give the lock up.
void end_state(PyThreadState* state, PyGILState_STATE first) {
  take_lock_again(state);
  give_lock(first);
}

class KeptState {
 public:
  KeptState() = default;
  ~KeptState() { end(); }
  KeptState(const KeptState&) = delete;
  KeptState& operator=(const KeptState&) = delete;
  void keep() {
    if (state_ != nullptr || PyGILState_GetThisThreadState() != nullptr) return;
    first_ = take_lock();
    state_ = PyEval_SaveThread();
  }
  void end() {
    PyThreadState* const state = std::exchange(state_, nullptr);
    if (state != nullptr && !is_exiting() && home_.is_here()) end_state(state, first_);
  }

 private:
  const HomeProcess home_;
  PyThreadState* state_ = nullptr;
  PyGILState_STATE first_ = PyGILState_UNLOCKED;
};

}  // namespace

void keep_thread_state() {
  thread_local KeptState state;
  state.keep();
  // A thread of a Loader ends it while the Loader waits and can say so; others where they end.
  internal::at_thread_end = [] { state.end(); };
}

struct Ending::State {
  std::mutex mu;
  std::condition_variable ended;
  bool is_done = false;
};

namespace {

struct Endings {
  std::mutex mu;
  std::vector<std::pair<std::shared_ptr<Ending>, Thread>> all;
};

Endings& endings() {
  static auto* const all = new Endings;  // Never destroyed: one may run for ever.
  return *all;
}

const HomeProcess home_process;

// Those that are done, whose threads end at once.
std::vector<std::pair<std::shared_ptr<Ending>, Thread>> take_done() {
  Endings& running = endings();
  std::vector<std::pair<std::shared_ptr<Ending>, Thread>> done;
  const std::lock_guard lock(running.mu);
  std::erase_if(running.all, [&](auto& one) {
    if (!one.first->wait(std::chrono::nanoseconds(0))) return false;
    done.push_back(std::move(one));
    return true;
  });
  return done;
}

int raise_kept(void* exception) {
  const nb::object kept = nb::steal(static_cast<PyObject*>(exception));
  PyErr_SetObject(reinterpret_cast<PyObject*>(Py_TYPE(kept.ptr())), kept.ptr());
  return -1;
}

}  // namespace

std::shared_ptr<Ending> Ending::start(std::function<void()> work) {
  auto ending = std::make_shared<Ending>();
  ending->state_ = std::make_shared<State>();
  // What the work has goes on its own thread: copies of `run` share it.
  const auto run = [state = ending->state_, once = std::make_shared<std::function<void()>>(std::move(work))] {
    (*once)();
    *once = nullptr;
    const std::lock_guard lock(state->mu);
    state->is_done = true;
    state->ended.notify_all();
  };
  if (!home_process.is_here()) {
    run();
    return ending;
  }
  (void)take_done();
  Thread thread;
  try {
    thread = Thread("headpond/end", run);
  } catch (const std::exception&) {  // The system has no more threads. What it waits for may need the lock.
    std::optional<WithoutLock> released;
    if (has_lock()) released.emplace();
    run();
    return ending;
  }
  Endings& running = endings();
  const std::lock_guard lock(running.mu);
  running.all.emplace_back(ending, std::move(thread));
  return ending;
}

bool Ending::wait(std::chrono::nanoseconds most) {
  std::unique_lock lock(state_->mu);
  return state_->ended.wait_for(lock, most, [&] { return state_->is_done; });
}

bool Ending::wait_for_all(std::chrono::nanoseconds most) {
  std::vector<std::shared_ptr<Ending>> all;
  {
    const std::lock_guard lock(endings().mu);
    for (const auto& one : endings().all) all.push_back(one.first);
  }
  const auto end = std::chrono::steady_clock::now() + most;
  return std::all_of(all.begin(), all.end(), [&](const std::shared_ptr<Ending>& one) {
    return one->wait(std::max(end - std::chrono::steady_clock::now(), std::chrono::nanoseconds(0)));
  });
}

void raise_later() {
  PyObject *type = nullptr, *exception = nullptr, *trace = nullptr;
  PyErr_Fetch(&type, &exception, &trace);
  PyErr_NormalizeException(&type, &exception, &trace);
  if (trace != nullptr) PyException_SetTraceback(exception, trace);
  Py_XDECREF(type);
  Py_XDECREF(trace);
  if (exception != nullptr && !add_pending_call(raise_kept, exception)) {
    Py_DECREF(exception);
    PyErr_SetInterrupt();  // The interpreter's list is full.
  }
}

OneAtATime::OneAtATime(bool& is_used, const char* who) : is_used_(is_used) {
  if (is_used) {
    throw Exception(
        Error(ErrorKind::FailedPrecondition, fmt::format("{}: another thread uses it; one thread at a time may", who)));
  }
  is_used = true;
}

void begin_exit() { exiting = true; }
bool is_exiting() { return exiting; }

void WhileCalling::stop_if_without_lock() {
  if (has_lock()) return;
  while (true) std::this_thread::sleep_for(std::chrono::hours(1));
}

bool look_for_signals() {
  const WithLock lock;
  return PyErr_CheckSignals() != 0 || !give_log_lines();
}

bool is_main_thread() {
  static std::atomic<unsigned long> known = 0;  // Not made while it is initialised: the import gives the lock up.
  unsigned long main_thread = known.load(std::memory_order_relaxed);
  if (main_thread == 0) {
    main_thread = nb::cast<unsigned long>(nb::module_::import_("threading").attr("main_thread")().attr("ident"));
    known.store(main_thread, std::memory_order_relaxed);
  }
  return PyThread_get_thread_ident() == main_thread;
}

}  // namespace headpond::python
