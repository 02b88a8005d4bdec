// SPDX-License-Identifier: Apache-2.0
// The Loader, as Python sees it.
#include <array>
#include <memory>

#include "headpond/base/json.h"
#include "headpond/base/thread.h"
#include "headpond/engine/executor/resources.h"
#include "headpond/engine/verdict/profile.h"
#include "headpond/train/device/cuda.h"
#include "nanobind/stl/optional.h"
#include "nanobind/stl/string.h"
#include "python/src/loader_object.h"

namespace headpond::python {
namespace {

// Threads and memory of several Loaders.
class PythonResources {
 public:
  PythonResources(int threads, std::optional<int64_t> memory)
      : shared_(std::make_shared<Resources>(
            ResourcesOptions{.threads = threads, .memory = memory.value_or(default_memory())})) {}
  int threads() const { return shared_->threads(); }
  int64_t memory() const { return shared_->memory(); }
  /// Of a parent's a child of fork() may have copies of locks that are held.
  const std::shared_ptr<Resources>& shared() const {
    if (!home_.is_here()) raise(HomeProcess::error("Resources"));
    return shared_;
  }

 private:
  const std::shared_ptr<Resources> shared_;
  const HomeProcess home_;
};

void make_loader(PythonLoader* self, const Dataset& dataset, int64_t world_size, int64_t rank, int64_t epochs,
                 uint64_t seed, int threads, int io_threads, std::optional<int64_t> memory, int64_t run_ahead,
                 bool consumer_helps, std::optional<bool> deterministic, const std::string& quarantine,
                 bool pin_threads, const PythonResources* resources, std::optional<int> pinned_for, bool calls_python) {
  LoaderOptions options{.epochs = epochs, .seed = seed};
  options.threads = threads;
  options.io_threads = io_threads;
  options.memory = memory;
  options.run_ahead = run_ahead;
  options.consumer_helps = consumer_helps;
  options.deterministic = deterministic;
  options.quarantine = quarantine;
  options.pin_threads = pin_threads;
  if (resources != nullptr) options.resources = resources->shared();
  if (pinned_for) options.pool = value(waiting([&] { return pinned_pool(*pinned_for); }));
  new (self) PythonLoader(dataset, world_size, rank, options, calls_python);
}

// As `headpond profile --json` has its rows.
std::string profile_of_loader(const PythonLoader& self, int view, int order_by) {
  constexpr std::array kViews = {ProfileView::op, ProfileView::scope, ProfileView::stage};
  JsonWriter json;
  write_profile(json, value(profile_of(self.stats(), {.view = kViews.at(static_cast<size_t>(view)),
                                                      .order_by = static_cast<ProfileOrder>(order_by)})));
  return std::string(json.text());
}

int traverse_loader(PyObject* self, visitproc visit, void* arg) noexcept {
  Py_VISIT(Py_TYPE(self));
  return nb::inst_ready(self) ? visit_exceptions(nb::inst_ptr<PythonLoader>(self), visit, arg) : 0;
}

// What has the Loader breaks the cycle.
int clear_loader(PyObject*) noexcept { return 0; }

PyType_Slot loader_slots[] = {{Py_tp_traverse, reinterpret_cast<void*>(traverse_loader)},
                              {Py_tp_clear, reinterpret_cast<void*>(clear_loader)},
                              {0, nullptr}};

}  // namespace

void add_loader(nb::module_& module) {
  nb::class_<PythonResources>(module, "Resources")
      .def(nb::init<int, std::optional<int64_t>>(), nb::arg("threads"), nb::arg("memory").none())
      .def_prop_ro("threads", &PythonResources::threads)
      .def_prop_ro("memory", &PythonResources::memory)
      .def_prop_ro("memory_in_use", [](const PythonResources& self) { return self.shared()->memory_in_use(); })
      .def_prop_ro("running", [](const PythonResources& self) { return self.shared()->running(); });
  nb::class_<Memory>(module, "Memory").def("release", &Memory::release);
  nb::class_<PythonLoader>(module, "Loader", nb::type_slots(loader_slots))
      .def("__init__", make_loader, nb::arg("dataset"), nb::kw_only(), nb::arg("world_size"), nb::arg("rank"),
           nb::arg("epochs"), nb::arg("seed"), nb::arg("threads"), nb::arg("io_threads"), nb::arg("memory").none(),
           nb::arg("run_ahead"), nb::arg("consumer_helps"), nb::arg("deterministic").none(), nb::arg("quarantine"),
           nb::arg("pin_threads"), nb::arg("resources").none(), nb::arg("pinned_for").none(), nb::arg("calls_python"))
      .def("next", &PythonLoader::next)
      .def("try_next", &PythonLoader::try_next)
      .def("next_epoch", &PythonLoader::next_epoch)
      .def("set_epoch", &PythonLoader::set_epoch)
      .def("begin_epoch", &PythonLoader::begin_epoch)
      .def("close", &PythonLoader::close)
      .def("begin_close", &PythonLoader::begin_close)
      .def("restore", &PythonLoader::restore)
      .def("state", &PythonLoader::state)
      .def("stats", stats_of)
      .def("diagnose", &PythonLoader::diagnose)
      .def("profile", profile_of_loader)
      .def("pause", &PythonLoader::pause)
      .def("returned", &PythonLoader::returned)
      .def_prop_ro("epoch_left", &PythonLoader::epoch_left)
      .def_prop_ro("epoch", &PythonLoader::epoch)
      .def_prop_ro("index", &PythonLoader::index);
}

}  // namespace headpond::python
