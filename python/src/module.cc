// SPDX-License-Identifier: Apache-2.0
#include "nanobind/stl/string.h"
#include "python/src/python.h"

namespace {

namespace nb = nanobind;
using namespace headpond;

// What C++ throws becomes the class of its kind.
void translate(const std::exception_ptr& thrown, void*) {
  try {
    std::rethrow_exception(thrown);
  } catch (const Exception& error) {
    python::set_error(error.error());
  }
}

}  // namespace

NB_MODULE(_core, module) {
  nb::set_leak_warnings(false);
  nb::register_exception_translator(translate);
  (void)python::is_main_thread();  // Notes which one it is.
  module.def("set_error_class", python::set_error_class);
  module.def("begin_exit", python::begin_exit);
  module.def("wait_for_ends", [](double seconds) {
    const python::WithoutLock released;
    return python::Ending::wait_for_all(std::chrono::nanoseconds(static_cast<int64_t>(seconds * 1e9)));
  });
  module.attr("VERSION") = HEADPOND_VERSION;
  python::add_datasets(module);
  python::add_functions(module);
  python::add_sequence(module);
  python::add_loader(module);
  python::add_batches(module);
  python::add_writers(module);
  python::add_runners(module);
  python::add_queues(module);
  python::add_staging(module);
  python::add_monitor(module);
  python::add_run_log(module);
  python::add_migrate(module);
  python::add_tf1(module);
  python::add_files(module);
  python::add_array_files(module);
  python::add_log(module);
  python::add_random(module);
}
