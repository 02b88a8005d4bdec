// SPDX-License-Identifier: Apache-2.0
// The library's log lines, for Python's logging. Whoever logs never waits for the interpreter's lock: at most 1,024
// lines wait until the main thread is between two instructions of Python, or looks for signals in a call that waits.
// Later lines are only counted; the main thread then gets a warning with their number.
#include <fmt/format.h>
#include <pthread.h>

#include <atomic>
#include <deque>
#include <iterator>
#include <utility>

#include "headpond/base/interrupt/host_stack.h"
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

// Never destroyed: threads may outlive static objects.
std::atomic<Ring*>& current_ring() {
  static std::atomic<Ring*> current = new Ring;
  return current;
}

// The child of a fork() begins with an empty one: the parent gives its lines, and a thread that the child does not have
// may be in it.
Ring& ring() {
  [[maybe_unused]] static const int registered = pthread_atfork(nullptr, nullptr, [] { current_ring() = new Ring; });
  return *current_ring().load();
}

PyObject*& receiver() {
  static PyObject* function = nullptr;  // Of a level as logging has it, and a line.
  return function;
}

int level_of(LogLevel level) {
  constexpr int kStep = 10;  // logging.DEBUG is 10, INFO 20, WARNING 30, ERROR 40.
  return kStep * (static_cast<int>(level) + 1);
}

// Returns false iff Python's exception is set: one that is to end the program, ^C say.
bool give(LogLevel level, const std::string& line) {
  try {
    (void)nb::handle(receiver())(level_of(level), to_text(line));
  } catch (nb::python_error& error) {
    if (!error.matches(PyExc_Exception)) {
      error.restore();
      return false;
    }
    error.discard_as_unraisable("headpond's log");  // There is nobody to tell but Python's own hook.
  }
  return true;
}

int give_announced(void*) { return give_log_lines() ? 0 : -1; }

void announce() {
  if (add_pending_call(give_announced, nullptr)) return;
  Ring& all = ring();  // The interpreter's list of calls is full: the next line tries again.
  const MutexLock lock(all.mu);
  all.is_announced = false;
}

void put(LogLevel level, std::string_view line) {
  bool announces = false;
  {
    Ring& all = ring();
    const MutexLock lock(all.mu);
    if (all.lines.size() < kMostLines) {
      all.lines.emplace_back(level, line);
    } else {
      ++all.lost;
    }
    announces = !std::exchange(all.is_announced, true);
  }
  if (announces) announce();
}

void put_back(std::deque<Line> lines, int64_t lost) {
  bool announces = false;
  {
    Ring& all = ring();
    const MutexLock lock(all.mu);
    all.lines.insert(all.lines.begin(), std::make_move_iterator(lines.begin()), std::make_move_iterator(lines.end()));
    all.lost += lost;
    announces = !std::exchange(all.is_announced, true);
  }
  if (announces) announce();
}

// Where a thread of the interpreter is. If it is the main thread, that gives no lines meanwhile, so this one does.
void log_stack(uint64_t thread, const std::string& name) {
  if (is_exiting()) return;
  const WithLock lock;
  try {
    const WhileCalling calling;
    const nb::object found = nb::module_::import_("headpond._log").attr("stack_of")(thread);
    const auto text = nb::cast<std::string>(found[0]);
    if (!text.empty()) put(LogLevel::warning, fmt::format("Loader: {} is at\n{}", name, text));
    if (nb::cast<bool>(found[1]) && !give_log_lines()) throw nb::python_error();
  } catch (nb::python_error& error) {
    error.discard_as_unraisable("headpond's log");
  }
}

}  // namespace

bool give_log_lines() {
  std::deque<Line> lines;
  int64_t lost = 0;
  {
    Ring& all = ring();
    const MutexLock lock(all.mu);
    lines.swap(all.lines);
    lost = std::exchange(all.lost, 0);
    all.is_announced = false;
  }
  while (!lines.empty()) {
    const Line line = std::move(lines.front());
    lines.pop_front();
    if (give(line.first, line.second)) continue;
    put_back(std::move(lines), lost);
    return false;
  }
  return lost == 0 || give(LogLevel::warning,
                           fmt::format("{} more lines were lost: the main thread did not run Python meanwhile", lost));
}

void add_log(nb::module_& module) {
  module.def("set_log", [](nb::object function) {
    (void)ring();
    receiver() = function.release().ptr();
    set_log_sink(put);
    set_host_stack(log_stack);
  });
  module.def("end_log", [] {
    const bool is_given = give_log_lines();
    {
      const WithoutLock released;  // Another thread may be in the sink.
      set_host_stack({});
      set_log_sink({});
    }
    if (!is_given) throw nb::python_error();
  });
}

}  // namespace headpond::python
