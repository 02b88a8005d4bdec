// SPDX-License-Identifier: Apache-2.0
// RunLog: what a run does, written into a folder.
#include "headpond/monitor/run_log.h"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <optional>
#include <utility>

#include "headpond/base/json.h"
#include "headpond/base/thread.h"
#include "nanobind/stl/pair.h"
#include "nanobind/stl/string.h"
#include "python/src/loader_object.h"
#include "python/src/queue_objects.h"
#include "python/src/staging.h"

namespace headpond::python {
namespace {

template <class Enum, size_t n>
Enum one_of(const char* option, const std::string& word, const std::array<const char*, n>& words) {
  for (size_t i = 0; i < n; ++i) {
    if (word == words.at(i)) return static_cast<Enum>(i);
  }
  refuse_argument(fmt::format("RunLog: {}='{}': must be one of {}", option, word, fmt::join(words, ", ")));
}

std::chrono::milliseconds to_ms(const char* option, double seconds) {
  if (!(seconds >= 0 && seconds < 1e9)) refuse_argument(fmt::format("RunLog: {}={} seconds", option, seconds));
  return std::chrono::milliseconds(static_cast<int64_t>(std::ceil(seconds * 1000)));
}

struct Times {
  double sample_every, write_every;
};
struct Traced {
  bool is_on;
  std::string keep, files, probes;
  size_t events_per_thread;
  std::pair<int64_t, int64_t> steps;
  int signal;
};

RunLogOptions options_of(const Times& times, const std::string& tag_style, const Traced& trace, bool report,
                         bool live) {
  RunLogOptions options{.sample_every = to_ms("sample_every", times.sample_every),
                        .write_every = to_ms("write_every", times.write_every),
                        .tag_style = one_of<TagStyle>("tag_style", tag_style, std::array{"queue", "tf1"}),
                        .report = report,
                        .live = live};
  options.trace.is_on = trace.is_on;
  options.trace.keep = one_of<trace::Keep>("trace_keep", trace.keep, std::array{"first", "newest"});
  options.trace.files = one_of<TimelineFiles>("trace_files", trace.files, std::array{"json", "json_gz", "perfetto"});
  options.trace.probes = one_of<TraceProbes>("trace_probes", trace.probes, std::array{"sampled", "every"});
  options.trace.events_per_thread = trace.events_per_thread;
  options.trace.steps = {trace.steps.first, trace.steps.second};
  options.trace.signal = trace.signal;
  return options;
}

// A child of fork() has no thread of the log.
class PythonRunLog {
 public:
  PythonRunLog(const std::string& folder, const RunLogOptions& options)
      : log_(value(waiting([&]() -> Result<std::shared_ptr<RunLog>> {
          try {
            return RunLog::open(folder, options);
          } catch (const Exception& error) {
            return fail(error.error());
          }
        }))) {}
  ~PythonRunLog() {
    if (home_.is_here()) {
      const WithoutLock released;
      log_.reset();
    } else {
      (void)new std::shared_ptr<RunLog>(std::move(log_));  // Never destroyed: that would wait for its thread.
    }
  }
  PythonRunLog(const PythonRunLog&) = delete;
  PythonRunLog& operator=(const PythonRunLog&) = delete;

  /// Calls `call` with the log, without the interpreter's lock. The log's threads never need that lock.
  template <class Call>
  auto with(Call call) const {
    const std::shared_ptr<RunLog> log = shared();
    const WithoutLock released;
    return call(*log);
  }
  std::shared_ptr<RunLog> shared() const {
    if (!home_.is_here()) raise(HomeProcess::error("RunLog"));
    return log_;
  }
  void close() const {
    if (home_.is_here()) value(with([](RunLog& log) { return log.close(); }));
  }

 private:
  const HomeProcess home_;
  std::shared_ptr<RunLog> log_;
};

// Something watched until close(). What it refers to lives as long.
class Watching {
 public:
  explicit Watching(nb::handle source) : source_(hold(source.ptr())) {}

  void put(RunLog::Watch watch) HEADPOND_EXCLUDES(mu_) {
    const MutexLock lock(mu_);
    watch_ = std::move(watch);
  }
  /// Also a Loader that load_state_dict() put in the place of another one.
  void watch(RunLog& log, const Loader& loader, const std::string& name) HEADPOND_EXCLUDES(mu_) {
    const MutexLock lock(mu_);
    if (is_closed_) return;
    watch_.reset();
    watch_ = log.watch(loader, name);
  }
  void close() HEADPOND_EXCLUDES(mu_) {
    const MutexLock lock(mu_);
    is_closed_ = true;
    watch_.reset();
  }

 private:
  const Ref source_;
  Mutex mu_;
  RunLog::Watch watch_ HEADPOND_GUARDED_BY(mu_);
  bool is_closed_ HEADPOND_GUARDED_BY(mu_) = false;
};

// What Python has of it.
struct Watch {
  explicit Watch(nb::handle source) : watching(std::make_shared<Watching>(source)) {}
  ~Watch() { close(); }
  Watch(const Watch&) = delete;
  Watch& operator=(const Watch&) = delete;
  void close() const {
    if (!home.is_here()) return;
    const WithoutLock released;
    watching->close();
  }

  const HomeProcess home;
  const std::shared_ptr<Watching> watching;
  std::shared_ptr<const LoaderLook> follows = nullptr;
};

// What the folder refuses ends no run: close() raises it.
void point_of(const Result<void>& written) {
  if (!written && written.error().kind() == ErrorKind::InvalidArgument) raise(written.error());
}

Watch* watch_loader(const PythonRunLog& self, PythonLoader& loader, const std::string& name) {
  auto made = std::make_unique<Watch>(nb::none());
  made->follows = std::make_shared<const LoaderLook>(
      [log = std::weak_ptr(self.shared()), watching = std::weak_ptr(made->watching), name](const Loader& now) {
        const auto to = log.lock();
        const auto kept = watching.lock();
        if (to != nullptr && kept != nullptr) kept->watch(*to, now, name);
      });
  loader.follow(made->follows, "RunLog.watch");
  return made.release();
}

Watch* watch_queue(const PythonRunLog& self, const PythonQueue& queue) {
  auto made = std::make_unique<Watch>(nb::none());
  made->watching->put(self.with([&](RunLog& log) { return log.watch(queue.queue()); }));
  return made.release();
}

Watch* watch_area(const PythonRunLog& self, nb::handle area, const std::string& name) {
  QueueSource source = source_of_area(area);
  if (!name.empty()) source.name = name;
  auto made = std::make_unique<Watch>(nb::none());
  made->watching->put(self.with([&](RunLog& log) { return log.watch(std::move(source)); }));
  return made.release();
}

// `waits`, a WaitAccount, is kept as long as it is looked at.
Watch* watch_waits(const PythonRunLog& self, nb::handle waits, const std::string& name) {
  const WaitAccount& account = account_of(waits);
  auto made = std::make_unique<Watch>(waits);
  made->watching->put(self.with([&](RunLog& log) { return log.watch(account, name); }));
  return made.release();
}

Watch* watch_consumer(const PythonRunLog& self, const PythonQueue& queue, nb::handle waits, const std::string& name,
                      int64_t batch, int64_t producers, int64_t memory) {
  const WaitAccount& account = account_of(waits);
  auto made = std::make_unique<Watch>(waits);
  const QueueUse use{.batch = batch, .producers = producers, .memory = memory};
  made->watching->put(
      self.with([&](RunLog& log) { return log.watch(queue.queue(), account, use, PipelineSource{.name = name}); }));
  return made.release();
}

// A step of the program, as long as it is entered.
class Step {
 public:
  explicit Step(std::shared_ptr<RunLog> log) : log_(std::move(log)) {}
  void enter() { span_.reset(new Span{log_->step()}); }
  void leave() { span_.reset(); }

 private:
  struct Span {
    RunLog::Step step;
  };
  const std::shared_ptr<RunLog> log_;
  std::unique_ptr<Span> span_;
};

// As `headpond profile --json` has its rows.
std::string profile_of_log(const PythonRunLog& self, int view, int order_by) {
  constexpr std::array kViews = {ProfileView::op, ProfileView::scope, ProfileView::stage};
  const ProfileOptions options{.view = kViews.at(static_cast<size_t>(view)),
                               .order_by = static_cast<ProfileOrder>(order_by)};
  JsonWriter json;
  write_profile(json, value(self.with([&](RunLog& log) { return log.profile(options); })));
  return std::string(json.text());
}

Dict written_timeline_of(const PythonRunLog& self, const std::string& path) {
  return as_dict(value(self.with([&](RunLog& log) { return log.write_timeline(path); })));
}

void add_watch(nb::module_& module) {
  nb::class_<Watch>(module, "Watch")
      .def("close", &Watch::close)
      .def(
          "__enter__", [](nb::object self) { return self; }, nb::sig("def __enter__(self) -> Watch"))
      .def(
          "__exit__", [](const Watch& self, const nb::args&) { self.close(); },
          nb::sig("def __exit__(self, *exception: object) -> None"));
}

void add_step(nb::module_& module) {
  nb::class_<Step>(module, "Step")
      .def("__enter__", &Step::enter)
      .def(
          "__exit__", [](Step& self, const nb::args&) { self.leave(); },
          nb::sig("def __exit__(self, *exception: object) -> None"));
}

}  // namespace

void add_run_log(nb::module_& module) {
  add_watch(module);
  add_step(module);
  nb::class_<PythonRunLog>(module, "RunLog")
      .def(
          "__init__",
          [](PythonRunLog* self, const std::string& folder, double sample_every, double write_every,
             const std::string& tag_style, bool trace, const std::string& trace_keep, size_t events_per_thread,
             const std::pair<int64_t, int64_t>& steps, int signal, const std::string& files, const std::string& probes,
             bool report, bool live) {
            const Traced traced{trace, trace_keep, files, probes, events_per_thread, steps, signal};
            new (self) PythonRunLog(folder, options_of({sample_every, write_every}, tag_style, traced, report, live));
          },
          nb::arg("folder"), nb::arg("sample_every"), nb::arg("write_every"), nb::arg("tag_style"), nb::arg("trace"),
          nb::arg("trace_keep"), nb::arg("trace_events_per_thread"), nb::arg("trace_steps"), nb::arg("trace_signal"),
          nb::arg("trace_files"), nb::arg("trace_probes"), nb::arg("report"), nb::arg("live"))
      .def("watch_loader", watch_loader, nb::rv_policy::take_ownership)
      .def("watch_queue", watch_queue, nb::rv_policy::take_ownership)
      .def("watch_area", watch_area, nb::rv_policy::take_ownership)
      .def("watch_waits", watch_waits, nb::rv_policy::take_ownership)
      .def("watch_consumer", watch_consumer, nb::rv_policy::take_ownership)
      .def(
          "step", [](const PythonRunLog& self) { return new Step(self.shared()); }, nb::rv_policy::take_ownership)
      .def("scalar", [](const PythonRunLog& self, const std::string& tag,
                        double point) { point_of(self.with([&](RunLog& log) { return log.scalar(tag, point); })); })
      .def("text",
           [](const PythonRunLog& self, const std::string& tag, const std::string& markdown) {
             point_of(self.with([&](RunLog& log) { return log.text(tag, markdown); }));
           })
      .def("diagnose", [](const PythonRunLog& self) { return self.with([](RunLog& log) { return log.diagnose(); }); })
      .def("profile_json", profile_of_log)
      .def("write_timeline", written_timeline_of, nb::arg("path"))
      .def("close", &PythonRunLog::close)
      .def_prop_ro("folder", [](const PythonRunLog& self) { return self.shared()->files().folder; })
      .def_prop_ro("events_path", [](const PythonRunLog& self) { return self.shared()->files().events; })
      .def_prop_ro("timeline_path", [](const PythonRunLog& self) { return self.shared()->files().timeline; });
}

}  // namespace headpond::python
