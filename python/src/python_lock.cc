// SPDX-License-Identifier: Apache-2.0
#include <atomic>
#include <utility>

#include "headpond/base/mutex.h"
#include "python/src/python.h"

namespace headpond::python {
namespace {

struct Dead {
  Mutex mu;
  std::vector<PyObject*> objects HEADPOND_GUARDED_BY(mu);
  bool is_announced HEADPOND_GUARDED_BY(mu) = false;
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

Ref hold(PyObject* object) {
  Py_INCREF(object);
  return {object, drop};
}

void drop(PyObject* object) noexcept {
  if (is_exiting()) return;  // The interpreter frees nothing any more, or is gone.
  if (PyGILState_Check() != 0) {
    Py_DECREF(object);
    return;
  }
  bool announces = false;
  {
    Dead& all = dead();
    MutexLock lock(all.mu);
    all.objects.push_back(object);
    announces = !std::exchange(all.is_announced, true);
  }
  // The interpreter's list of calls may be full: then the next call of the module drops them.
  if (announces) (void)Py_AddPendingCall(drop_announced, nullptr);
}

void drop_dead() {
  std::vector<PyObject*> objects;
  {
    Dead& all = dead();
    MutexLock lock(all.mu);
    all.is_announced = false;
    objects.swap(all.objects);
  }
  for (PyObject* const object : objects) Py_DECREF(object);
}

void begin_exit() { exiting = true; }
bool is_exiting() { return exiting; }

bool look_for_signals() {
  const WithLock lock;
  return PyErr_CheckSignals() != 0;
}

bool is_main_thread() {
  static const unsigned long main_thread =
      nb::cast<unsigned long>(nb::module_::import_("threading").attr("main_thread")().attr("ident"));
  return PyThread_get_thread_ident() == main_thread;
}

}  // namespace headpond::python
