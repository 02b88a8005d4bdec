// SPDX-License-Identifier: Apache-2.0
// What watches a run: verdicts, event files for TensorBoard, how full queues are, waits, timelines, progress.
#include <fmt/format.h>

#include <cmath>
#include <utility>

#include "headpond/base/trace.h"
#include "headpond/monitor/events.h"
#include "headpond/monitor/progress.h"
#include "headpond/monitor/queue_monitor.h"
#include "headpond/monitor/queue_verdict.h"
#include "headpond/monitor/timeline.h"
#include "headpond/monitor/wait_account.h"
#include "nanobind/stl/optional.h"
#include "nanobind/stl/string.h"
#include "nanobind/stl/vector.h"
#include "python/src/queue_objects.h"

namespace headpond::python {
namespace {

std::chrono::milliseconds to_ms(const char* argument, double seconds) {
  if (!(seconds >= 0 && seconds < 1e9)) {
    refuse_argument(fmt::format("{}={}: must be a number of seconds from 0 on, below 10^9", argument, seconds));
  }
  return std::chrono::milliseconds(static_cast<int64_t>(std::ceil(seconds * 1000)));
}

// ---- Verdicts.

Dict waits_of(const Verdict& verdict) {
  Dict all;
  all["startup"] = verdict.waits.startup;
  all["epoch_edge"] = verdict.waits.epoch_edge;
  all["burst"] = verdict.waits.burst;
  all["sustained"] = verdict.waits.sustained;
  return all;
}

std::string text_of(const Verdict& verdict) {
  std::string text = verdict.to_string();
  if (text.ends_with('\n')) text.pop_back();
  return text;
}

void add_verdict(nb::module_& module) {
  nb::class_<Evidence>(module, "Evidence")
      .def_ro("figure", &Evidence::figure)
      .def_ro("value", &Evidence::value)
      .def_ro("threshold", &Evidence::threshold)
      .def("limit", &Evidence::limit)
      .def("__repr__", [](const Evidence& self) {
        const std::string limit = self.limit();
        return fmt::format("Evidence({}: {:.3g}{}{})", self.figure, self.value, limit.empty() ? "" : ", ", limit);
      });
  nb::class_<Change>(module, "Change")
      .def_ro("what", &Change::what)
      .def_ro("setting", &Change::setting)
      .def_ro("value", &Change::value)
      .def_ro("gain", &Change::gain)
      .def_ro("low", &Change::low)
      .def_ro("high", &Change::high)
      .def("__repr__", [](const Change& self) { return fmt::format("Change({}: gain {:.2f})", self.what, self.gain); });
  nb::class_<Verdict>(module, "Verdict")
      .def_prop_ro("code", [](const Verdict& self) { return std::string(to_string(self.code)); })
      .def_ro("stage", &Verdict::stage)
      .def_ro("op", &Verdict::op)
      .def_ro("op_title", &Verdict::op_title)
      .def_ro("confidence", &Verdict::confidence)
      .def_ro("wait_share", &Verdict::wait_share)
      .def_prop_ro("waits", waits_of)
      .def_ro("evidence", &Verdict::evidence)
      .def_ro("changes", &Verdict::changes)
      .def_ro("findings", &Verdict::findings)
      .def("__str__", text_of)
      .def("__repr__", text_of);
  module.def("diagnose_queue", [](const PythonQueue& queue, const QueueSummary& summary, const WaitSummary& waits,
                                  int64_t batch, int64_t producers, int64_t memory) {
    return diagnose(queue.queue(), summary, waits, {.batch = batch, .producers = producers, .memory = memory});
  });
}

// ---- Queues over time.

struct Events {
  std::shared_ptr<EventWriter> writer;
};

std::optional<int64_t> count_in(const nb::dict& totals, const char* name) {
  if (!totals.contains(name)) return {};
  return nb::cast<std::optional<int64_t>>(totals[name]);
}

// On the monitor's thread.
PipelineTotals totals_of(const Ref& function) {
  if (is_exiting()) return {};
  const WithLock lock;
  try {
    const auto totals = nb::cast<nb::dict>(nb::handle(function.get())());
    return {.steps = count_in(totals, "steps"),
            .elements = count_in(totals, "elements"),
            .bytes = count_in(totals, "bytes"),
            .calls = count_in(totals, "calls"),
            .wait_ns = count_in(totals, "wait_ns")};
  } catch (nb::python_error& error) {
    error.discard_as_unraisable("headpond.QueueMonitor: totals");
  } catch (const nb::cast_error&) {  // Something else than a dict of numbers: nothing is counted.
  }
  return {};
}

// Its thread may need the interpreter's lock to end.
class PythonMonitor {
 public:
  PythonMonitor(double sample_every, double write_every, const std::string& tag_style, const Events* events,
                const std::optional<nb::object>& totals)
      : events_(events != nullptr ? events->writer : nullptr) {
    if (tag_style != "queue" && tag_style != "tf1")
      refuse_argument(fmt::format("QueueMonitor: tag_style='{}': must be one of queue, tf1", tag_style));
    QueueMonitorOptions options{.sample_every = to_ms("QueueMonitor: sample_every", sample_every),
                                .write_every = to_ms("QueueMonitor: write_every", write_every)};
    if (tag_style == "tf1") options.tag_style = TagStyle::tf1;
    options.events = events_.get();
    if (totals) options.totals = [held = hold(totals->ptr())] { return totals_of(held); };
    monitor_ = std::make_unique<QueueMonitor>(options);
  }
  ~PythonMonitor() { close(); }
  PythonMonitor(const PythonMonitor&) = delete;
  PythonMonitor& operator=(const PythonMonitor&) = delete;

  QueueMonitor::Handle watch(const PythonQueue& queue, const std::string& summary_name) {
    if (monitor_ == nullptr) throw Exception(Error(ErrorKind::FailedPrecondition, "QueueMonitor: it is closed"));
    const WithoutLock released;
    return monitor_->watch(queue_source(queue.queue(), summary_name));
  }
  void close() {
    std::unique_ptr<QueueMonitor> ended = std::move(monitor_);
    const WithoutLock released;
    ended.reset();
  }

 private:
  const std::shared_ptr<EventWriter> events_;
  std::unique_ptr<QueueMonitor> monitor_;
};

class Watched {
 public:
  explicit Watched(QueueMonitor::Handle handle) : handle_(std::move(handle)) {}
  ~Watched() { close(); }
  Watched(const Watched&) = delete;
  Watched& operator=(const Watched&) = delete;
  QueueSummary summary() {
    if (is_open_) last_ = handle_.summary();
    return last_;
  }
  void close() {
    if (!std::exchange(is_open_, false)) return;
    const WithoutLock released;
    last_ = handle_.summary();
    handle_.reset();
  }

 private:
  QueueMonitor::Handle handle_;
  bool is_open_ = true;
  QueueSummary last_;
};

void add_events(nb::module_& module) {
  nb::class_<Events>(module, "EventWriter")
      .def("__init__",
           [](Events* self, const std::string& folder, double flush_every) {
             new (self) Events{
                 value(EventWriter::open(folder, {.flush_every = to_ms("EventWriter: flush_every", flush_every)}))};
           })
      .def(
          "scalar",
          [](const Events& self, const std::string& tag, double point, int64_t step) {
            value(self.writer->scalar(tag, point, step));
          },
          nb::arg("tag"), nb::arg("value"), nb::arg("step"))
      .def("flush", [](const Events& self) { value(self.writer->flush()); })
      .def("close", [](const Events& self) { value(self.writer->close()); })
      .def_prop_ro("path", [](const Events& self) { return self.writer->path(); });
}

void add_queue_monitor(nb::module_& module) {
  nb::class_<QueueSummary>(module, "QueueSummary")
      .def_ro("samples", &QueueSummary::samples)
      .def_ro("fraction_mean", &QueueSummary::fraction_mean)
      .def_ro("empty_share", &QueueSummary::empty_share)
      .def_ro("full_share", &QueueSummary::full_share)
      .def_ro("waiting_samples", &QueueSummary::waiting_samples)
      .def_ro("held_back_share", &QueueSummary::held_back_share)
      .def("__repr__", [](const QueueSummary& self) {
        return fmt::format("QueueSummary(samples={}, fraction_mean={:.3f}, empty_share={:.3f}, full_share={:.3f})",
                           self.samples, self.fraction_mean, self.empty_share, self.full_share);
      });
  nb::class_<Watched>(module, "Watched").def("summary", &Watched::summary).def("close", &Watched::close);
  nb::class_<PythonMonitor>(module, "QueueMonitor")
      .def(
          "__init__",
          [](PythonMonitor* self, double sample_every, double write_every, const std::string& tag_style,
             const Events* events, const std::optional<nb::object>& totals) {
            new (self) PythonMonitor(sample_every, write_every, tag_style, events, totals);
          },
          nb::arg("sample_every"), nb::arg("write_every"), nb::arg("tag_style"), nb::arg("events").none(),
          nb::arg("totals").none())
      .def(
          "watch",
          [](PythonMonitor& self, const PythonQueue& queue, const std::string& summary_name) {
            return new Watched(self.watch(queue, summary_name));
          },
          nb::rv_policy::take_ownership, nb::arg("queue"), nb::arg("summary_name"))
      .def("close", &PythonMonitor::close);
}

// ---- Waits.

struct Account {
  std::unique_ptr<WaitAccount> account;
};

// The iterator's next value; its time is wait.
Any measured_next(Account& self, nb::handle iterator) {
  if (PyIter_Check(iterator.ptr()) == 0)
    throw nb::type_error("WaitAccount.next() takes an iterator: iter(...), or measure() for an iterable");
  nb::object next = self.account->measure([&] { return nb::steal(PyIter_Next(iterator.ptr())); });
  if (next.is_valid()) return next;
  if (PyErr_Occurred() != nullptr) throw nb::python_error();
  self.account->pause();
  throw nb::stop_iteration();
}

void add_waits(nb::module_& module) {
  nb::class_<WaitSummary>(module, "WaitSummary")
      .def_ro("wait_share", &WaitSummary::wait_share)
      .def_ro("calls", &WaitSummary::calls)
      .def_ro("wait_ns", &WaitSummary::wait_ns)
      .def_ro("work_ns", &WaitSummary::work_ns)
      .def_ro("first_wait_ns", &WaitSummary::first_wait_ns)
      .def_ro("p50_ns", &WaitSummary::p50_ns)
      .def_ro("p99_ns", &WaitSummary::p99_ns)
      .def("__repr__", [](const WaitSummary& self) {
        return fmt::format("WaitSummary(wait_share={:.3f}, calls={}, wait_ns={}, work_ns={}, p50_ns={}, p99_ns={})",
                           self.wait_share, self.calls, self.wait_ns, self.work_ns, self.p50_ns, self.p99_ns);
      });
  nb::class_<Account>(module, "WaitAccount")
      .def("__init__",
           [](Account* self, const std::string& name) {
             new (self) Account{std::make_unique<WaitAccount>(trace::intern(name))};
           })
      .def("next", measured_next, nb::arg("iterator"))
      .def(
          "call",
          [](Account& self, nb::handle function) -> Any { return self.account->measure([&] { return function(); }); },
          nb::arg("function"))
      .def("pause", [](Account& self) { self.account->pause(); })
      .def("summary", [](const Account& self) { return self.account->summary(); });
}

// ---- Timelines and progress.

Dict written_timeline(const std::string& path, const std::string& process_name) {
  return as_dict(value([&] {
    const WithoutLock released;
    return write_timeline(path, {.process_name = process_name});
  }()));
}

// A span of the thread that enters and leaves it.
class PythonSpan {
 public:
  explicit PythonSpan(const std::string& name) : name_(trace::intern(name)) {}
  void enter() { span_.emplace(name_, trace::Category::step); }
  void leave() { span_.reset(); }

 private:
  const char* const name_;
  std::optional<trace::Span> span_;
};

struct Bar {
  std::unique_ptr<Progress> progress;
};

void make_bar(Bar* self, const std::string& description, int64_t total, bool terminal, double line_every,
              nb::object write) {
  ProgressOptions options{.description = description, .total = total, .terminal = terminal};
  options.line_every = to_ms("progress(): line_every", line_every);
  options.sink = [held = hold(write.ptr())](std::string_view text) {
    if (is_exiting()) return;
    const WithLock lock;
    try {
      nb::handle(held.get())(nb::str(text.data(), text.size()));
    } catch (nb::python_error& error) {
      error.discard_as_unraisable("headpond.progress");
    }
  };
  new (self) Bar{std::make_unique<Progress>(std::move(options))};
}

void set_values(Bar& self, const Dict& values) {
  std::vector<ProgressValue> all;
  for (auto [name, one] : values) all.push_back({nb::cast<std::string>(name), nb::cast<double>(one)});
  self.progress->set_values(std::move(all));
}

}  // namespace

const WaitAccount& account_of(nb::handle waits) { return *nb::cast<Account&>(waits).account; }

Dict as_dict(const TimelineReport& report) {
  Dict all;
  all["threads"] = report.threads;
  all["spans"] = report.spans;
  all["counters"] = report.counters;
  all["flows"] = report.flows;
  all["dropped_events"] = report.dropped_events;
  return all;
}

void add_monitor(nb::module_& module) {
  add_verdict(module);
  add_events(module);
  add_queue_monitor(module);
  add_waits(module);
  module.def("start_trace", [](size_t events_per_thread) { trace::start(events_per_thread); });
  module.def("stop_trace", [] { trace::stop(); });
  module.def("write_timeline", written_timeline, nb::arg("path"), nb::arg("process_name"));
  module.def("trace_counter", [](const std::string& name, int64_t value) {
    if (trace::enabled()) trace::counter(trace::intern(name), value);
  });
  module.def("trace_instant", [](const std::string& name) {
    if (trace::enabled()) trace::instant(trace::intern(name), trace::Category::step);
  });
  nb::class_<PythonSpan>(module, "Span")
      .def(nb::init<const std::string&>())
      .def("__enter__", &PythonSpan::enter)
      .def(
          "__exit__", [](PythonSpan& self, const nb::args&) { self.leave(); },
          nb::sig("def __exit__(self, *exception: object) -> None"));
  nb::class_<Bar>(module, "Progress")
      .def("__init__", make_bar)
      .def("update", [](Bar& self, int64_t count) { self.progress->update(count); })
      .def("set_values", set_values)
      .def("close", [](Bar& self) { self.progress->close(); });
}

}  // namespace headpond::python
