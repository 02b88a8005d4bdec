// SPDX-License-Identifier: Apache-2.0
// States of a plan that has changed.
#include "headpond/dataset/migrate/migrate.h"

#include <array>
#include <optional>
#include <utility>

#include "headpond/dataset/run_state.h"
#include "nanobind/stl/optional.h"
#include "python/src/python.h"

namespace headpond::python {
namespace {

constexpr std::array kKinds = {"carried", "anew", "dropped", "twice", "never"};

// Epoch, index and bytes of the new state, what became of each step, and that as a text.
nb::tuple migrated(const nb::bytes& state, const std::optional<Dataset>& old_plan, const Dataset& new_plan,
                   int if_refused) {
  const std::string given(state.c_str(), state.size());
  const Migration made = value(waiting([&]() -> Result<Migration> {
    try {
      return old_plan ? migrate(given, *old_plan, new_plan, static_cast<IfRefused>(if_refused))
                      : migrate(given, new_plan);
    } catch (const Exception& error) {
      return fail(error.error());
    }
  }));
  nb::list steps;
  for (const MigrationStep& one : made.steps) {
    const nb::object elements = one.elements < 0 ? nb::none() : nb::object(nb::int_(one.elements));
    steps.append(
        nb::make_tuple(kKinds.at(static_cast<size_t>(one.kind)), to_text(one.step), to_text(one.what), elements));
  }
  const internal::SavedRun saved = value(internal::read_state(made.state));
  return nb::make_tuple(saved.state.epoch, saved.state.index - 1, nb::bytes(made.state.data(), made.state.size()),
                        steps, to_text(to_string(made)));
}

}  // namespace

void add_migrate(nb::module_& module) {
  module.def("migrate", migrated, nb::arg("state"), nb::arg("old").none(), nb::arg("new"), nb::arg("if_refused"),
             nb::sig("def migrate(state: bytes, old: Dataset | None, new: Dataset, if_refused: int) -> "
                     "tuple[int, int, bytes, list[tuple[str, str, str, int | None]], str]"));
}

}  // namespace headpond::python
