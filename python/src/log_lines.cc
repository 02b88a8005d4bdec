// SPDX-License-Identifier: Apache-2.0
// The library's log lines, for Python's logging. Whoever logs never waits for the interpreter's lock: lines lie in a
// ring until the main thread is between two instructions of Python.
#include <fmt/format.h>

#include <deque>
#include <utility>

#include "headpond/base/log.h"
#include "headpond/base/mutex.h"
#include "nanobind/stl/string.h"
#include "python/src/python.h"

namespace headpond::python {
namespace {

constexpr size_t kMostLines = 1024;

using Line = std::pair<LogLevel, std::string>;

struct Ring {
  Mutex mu;
  std::deque<Line> lines HEADPOND_GUARDED_BY(mu);
  int64_t lost HEADPOND_GUARDED_BY(mu) = 0;  // Since the last line that is in the ring.
  bool is_announced HEADPOND_GUARDED_BY(mu) = false;
};

Ring& ring() {
  static Ring* const all = new Ring;  // Never destroyed: threads may outlive static objects.
  return *all;
}

PyObject*& receiver() {
  static PyObject* function = nullptr;  // Of a level as logging has it, and a line.
  return function;
}

int level_of(LogLevel level) {
  constexpr int kStep = 10;  // logging.DEBUG is 10, INFO 20, WARNING 30, ERROR 40.
  return kStep * (static_cast<int>(level) + 1);
}

void give(LogLevel level, const std::string& line) {
  try {
    (void)nb::handle(receiver())(level_of(level), to_text(line));
  } catch (nb::python_error& error) {  // There is nobody to tell but Python's own hook.
    error.discard_as_unraisable("headpond's log");
  }
}

// REQUIRES: the interpreter's lock.
void give_all() {
  std::deque<Line> lines;
  int64_t lost = 0;
  {
    Ring& all = ring();
    const MutexLock lock(all.mu);
    lines.swap(all.lines);
    lost = std::exchange(all.lost, 0);
    all.is_announced = false;
  }
  for (const auto& [level, line] : lines) give(level, line);
  if (lost > 0) give(LogLevel::warning, fmt::format("{} more lines were lost: nobody took them", lost));
}

int give_announced(void*) {
  give_all();
  return 0;
}

void put(LogLevel level, std::string_view line) {
  bool announces = false;
  {
    Ring& all = ring();
    const MutexLock lock(all.mu);
    if (all.lines.size() == kMostLines) {
      ++all.lost;
      return;
    }
    all.lines.emplace_back(level, line);
    announces = !std::exchange(all.is_announced, true);
  }
  if (!announces || Py_AddPendingCall(give_announced, nullptr) == 0) return;
  Ring& all = ring();  // The interpreter's list of calls is full: the next line tries again.
  const MutexLock lock(all.mu);
  all.is_announced = false;
}

}  // namespace

void add_log(nb::module_& module) {
  module.def("set_log", [](nb::object function) {
    receiver() = function.release().ptr();
    set_log_sink(put);
  });
  module.def("end_log", [] {
    give_all();
    const nb::gil_scoped_release released;  // Another thread may be in the sink.
    set_log_sink({});
  });
}

}  // namespace headpond::python
