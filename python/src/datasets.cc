// SPDX-License-Identifier: Apache-2.0
// Datasets: operators by name (headpond/plan/step_call.h), those that take Python's values, and what is told of them.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "headpond/base/interrupt/interrupt.h"
#include "headpond/dataset/ops.h"
#include "headpond/dataset/ops/fold/evaluate.h"
#include "headpond/dataset/ops/structure/sharing.h"
#include "headpond/dataset/source/slices_in_files.h"
#include "headpond/engine/check/check.h"
#include "headpond/engine/explain.h"
#include "headpond/io/file/file.h"
#include "headpond/plan/kernels/plan_kernel.h"
#include "headpond/plan/named_fields.h"
#include "headpond/plan/operators/plan_operators.h"
#include "headpond/plan/plan_file.h"
#include "headpond/plan/shown/analysis.h"
#include "headpond/plan/shown/explain_format.h"
#include "headpond/plan/step_call.h"
#include "nanobind/stl/optional.h"
#include "nanobind/stl/pair.h"
#include "nanobind/stl/string.h"
#include "nanobind/stl/vector.h"
#include "python/src/python.h"

namespace headpond::python {
namespace {

plan::PlanValue to_plan(nb::handle value) {
  plan::PlanValue made{.line = 0, .is = false};
  if (nb::isinstance<nb::bool_>(value)) {
    made.is = nb::cast<bool>(value);
  } else if (nb::isinstance<nb::int_>(value)) {
    int64_t number = 0;
    uint64_t large = 0;
    if (nb::try_cast(value, number)) {
      made.is = number;
    } else if (nb::try_cast(value, large)) {
      made.is = large;
    } else {
      refuse_argument("an integer that 64 bits cannot hold");
    }
  } else if (nb::isinstance<nb::float_>(value)) {
    made.is = nb::cast<double>(value);
  } else if (nb::isinstance<nb::str>(value)) {
    made.is = text_of(value);
  } else if (nb::isinstance<nb::dict>(value)) {
    plan::PlanTable table;
    for (auto [key, one] : nb::borrow<nb::dict>(value)) table.emplace_back(text_of(key), to_plan(one));
    std::ranges::sort(table, {}, &plan::PlanTable::value_type::first);
    made.is = std::move(table);
  } else if (nb::isinstance<nb::list>(value)) {
    plan::PlanList list;
    for (nb::handle one : value) list.push_back(to_plan(one));
    made.is = std::move(list);
  } else {
    refuse_argument(fmt::format("an argument of type {}: numbers, texts, lists and dicts are known",
                                nb::cast<std::string>(value.type().attr("__name__"))));
  }
  return made;
}

plan::PlanTable arguments_of(const std::string& op, nb::handle args) {
  plan::PlanTable all;
  for (auto [key, one] : nb::borrow<nb::dict>(args)) {
    const std::string name = text_of(key);
    try {
      all.emplace_back(name, to_plan(one));
    } catch (const Exception& error) {
      refuse_argument(fmt::format("{}: {} is {}", op, name, error.error().message()));
    }
  }
  return all;
}

constexpr std::string_view kKinds[] = {"indexed", "sparse", "stream"};

std::vector<std::pair<std::string, Tensor>> tensors_of(nb::handle values) {
  std::vector<std::pair<std::string, Tensor>> all;
  for (nb::handle pair : values) {
    all.emplace_back(text_of(pair[0]), tensor_of(nb::object(pair[1]), {}, Share::always));
  }
  return all;
}

Dataset built(const std::string& op, nb::handle args, const std::string& name,
              const std::vector<std::pair<std::string, Dataset>>& inputs, std::optional<nb::object> nested,
              nb::handle output, const std::string& kind, const std::vector<std::pair<std::string, Dataset>>& chains) {
  plan::StepCall call{.op = op, .args = arguments_of(op, args), .name = name, .inputs = inputs, .chains = chains};
  if (nested) call.nested = nested_of(inputs.at(0).second, *nested);
  if (!output.is_none()) call.nested_output = to_spec(output);
  const auto* const named = std::find(std::begin(kKinds), std::end(kKinds), kind);
  if (named != std::end(kKinds)) call.nested_kind = static_cast<Kind>(named - std::begin(kKinds));
  const WithoutLock released;
  return plan::build_step(call);
}

plan::ExplainReport report_of(const Dataset& dataset) {
  const WithoutLock released;
  return plan::ExplainReport{"", dataset, explain(dataset)};
}

std::string explained(const Dataset& dataset, const std::string& format, bool analyze, double seconds, uint64_t seed) {
  plan::ExplainReport report = report_of(dataset);
  if (analyze) {
    report.analysis = value(waiting([&]() -> Result<plan::Analysis> {
      try {
        Loader loader(dataset, {.seed = seed});
        return plan::analysed(loader, seconds, [](int64_t) { return look_for_interrupt(); });
      } catch (const Exception& error) {
        return fail(error.error());
      }
    }));
  }
  return plan::explain_as(report, format);
}

template <class Item, class Make>
nb::list list_of(const std::vector<Item>& items, Make make) {
  nb::list list;
  for (const Item& item : items) list.append(make(item));
  return list;
}

nb::dict part_of(const MemoryPart& part) {
  nb::dict one;
  one["what"] = to_text(part.what);
  one["bytes"] = part.bytes;
  return one;
}

nb::dict order_of(const OrderQuality& order) {
  nb::dict one;
  one["op"] = to_text(order.op);
  one["rows"] = order.rows;
  one["displacement"] = order.displacement;
  one["span"] = order.span;
  one["reach"] = order.reach;
  one["mix"] = order.mix;
  return one;
}

nb::object label_of(const std::optional<LabelMix>& label) {
  if (!label) return nb::none();
  nb::dict found;
  found["field"] = to_text(label->field);
  found["batches"] = label->batches;
  found["classes"] = label->classes;
  found["mix"] = label->mix;
  return found;
}

nb::object prepared_of(const std::optional<Prepared>& prepared) {
  if (!prepared) return nb::none();
  nb::dict found;
  found["op"] = to_text(prepared->op);
  found["bytes"] = prepared->bytes;
  found["seconds"] = prepared->seconds;
  return found;
}

// The names are those of `headpond check --json`, in that order.
Dict report_of(const CheckReport& report, uint64_t seed) {
  Dict found;
  found["seed"] = seed;
  found["spec"] = to_text(report.spec);
  found["cardinality"] = report.cardinality == kEndless ? std::optional<int64_t>(-1) : report.cardinality;
  found["endless"] = report.cardinality == kEndless;
  found["bytes_forecast"] = report.memory.empty() ? nb::none() : nb::cast(report.memory_bytes());
  found["memory"] = list_of(report.memory, part_of);
  found["mapped_bytes"] = report.mapped_bytes;
  found["first_batch_s_forecast"] = report.first_batch_s;
  found["fill_s_forecast"] = report.fill_s;
  found["shuffle"] = report.orders.empty() ? nb::object(nb::none()) : order_of(report.orders.front());
  found["orders"] = list_of(report.orders, order_of);
  found["label"] = label_of(report.label);
  found["prepared"] = prepared_of(report.prepared);
  found["tried"] = report.tried;
  found["left_out"] = report.left_out;
  found["failed"] = report.failed;
  found["element_ns"] = report.element_ns;
  found["errors"] = list_of(report.errors, to_text);
  found["findings"] = list_of(report.findings, to_text);
  found["text"] = to_text(report.to_string());
  return found;
}

Dict checked(const Dataset& dataset, int64_t elements, const std::string& label, uint64_t seed, int threads,
             std::optional<int64_t> memory, int64_t run_ahead) {
  const CheckOptions options{.loader = {.seed = seed, .threads = threads, .memory = memory, .run_ahead = run_ahead},
                             .elements = elements,
                             .label = label};
  const CheckReport report = value(waiting([&]() -> Result<CheckReport> {
    try {
      return check(dataset, options);
    } catch (const Exception& error) {
      return fail(error.error());
    }
  }));
  return report_of(report, seed);
}

nb::list operators() {
  nb::list all;
  for (const plan::PlanOperator& op : plan::plan_operators()) {
    all.append(nb::make_tuple(op.name, static_cast<int>(op.takes), op.arguments));
  }
  return all;
}

nb::list kernels() {
  nb::list all;
  for (const plan::PlanKernel& kernel : plan::plan_kernels()) all.append(nb::make_tuple(kernel.name, kernel.options));
  return all;
}

nb::object cardinality(const Dataset& dataset) {
  const auto count = waiting([&]() -> Result<std::optional<int64_t>> { return dataset.cardinality(); });
  const std::optional<int64_t> known = value(count);
  return known ? nb::object(nb::int_(*known)) : nb::none();
}

// What `make` evaluates of the dataset.
template <class Make>
Any element_of_dataset(const Dataset& dataset, Make make) {
  Element element = value(waiting([&]() -> Result<Element> {
    try {
      return make();
    } catch (const Exception& error) {
      return fail(error.error());
    }
  }));
  return Keys(dataset.spec()).value_of(std::move(element));
}

Any element_at(const Dataset& dataset, int64_t i, uint64_t seed, uint64_t epoch) {
  return element_of_dataset(dataset, [&] { return at(dataset, i, seed, epoch); });
}
Any single_element(const Dataset& dataset, uint64_t seed) {
  return element_of_dataset(dataset, [&] { return get_single_element(dataset, {.seed = seed}); });
}

std::pair<Dataset, std::optional<uint64_t>> plan_in(nb::handle named) {
  const std::string path = text_of(named);
  const WithoutLock released;
  if (const auto start = read_file(path, 1); !start && start.error().kind() == ErrorKind::NotFound) {
    throw Exception(Error(ErrorKind::NotFound, "read_plan: " + path + ": no such file").at({.source = path}));
  }
  plan::PlanFile file = plan::read_plan_file(path);
  return {std::move(file.dataset), file.seed};
}

// deterministic, threads, memory.
nb::tuple options(const Dataset& dataset) {
  const DatasetOptions set = options_of(dataset);
  return nb::make_tuple(set.deterministic, set.threads, set.memory);
}

constexpr const char* kSpecOfSelf = "def spec(self, /) -> list[tuple[str, str, tuple[int | None, ...]]]";

void add_steps(nb::module_& module) {
  module.attr("ENDLESS") = kEndless;
  module.def("operators", operators, nb::sig("def operators() -> list[tuple[str, int, list[str]]]"));
  module.def("kernels", kernels, nb::sig("def kernels() -> list[tuple[str, list[str]]]"));
  module.def("build", built, nb::arg("op"), nb::arg("args"), nb::arg("name"), nb::arg("inputs"),
             nb::arg("nested") = nb::none(), nb::arg("output").none() = nb::none(), nb::arg("kind") = "",
             nb::arg("chains") = nb::tuple());
  module.def("read_plan", plan_in, nb::sig("def read_plan(path: str | bytes, /) -> tuple[Dataset, int | None]"));
  module.def("zip", [](const std::vector<Dataset>& inputs) {
    const Dataset made = zip(inputs);
    return plan::has_names(made.spec()) ? plan::named(made) : made;  // A dict needs the name of each field.
  });
  module.def("from_tensors", [](nb::handle values) { return from_tensors(tensors_of(values)); });
  module.def("from_tensor_slices", [](nb::handle values, const std::vector<std::string>& places) {
    return internal::slices_in_files(tensors_of(values), places);
  });
}

}  // namespace

void add_datasets(nb::module_& module) {
  nb::class_<Dataset>(module, "Dataset")
      .def_prop_ro(
          "spec", [](const Dataset& self) { return from_spec(self.spec()); }, nb::for_getter(nb::sig(kSpecOfSelf)))
      .def_prop_ro("kind", [](const Dataset& self) { return std::string(kKinds[static_cast<size_t>(self.kind())]); })
      .def_prop_ro("draws", [](const Dataset& self) { return self.node()->draws(); })
      .def("at", element_at, nb::arg("i"), nb::arg("seed"), nb::arg("epoch"))
      .def("get_single_element", single_element, nb::arg("seed"))
      .def("cardinality", cardinality, nb::sig("def cardinality(self, /) -> int | None"))
      .def("options", options, nb::sig("def options(self) -> tuple[bool | None, int | None, int | None]"))
      .def(
          "part", [](const Dataset& self, int64_t parts, int64_t index) { return self | internal::part(parts, index); },
          nb::arg("parts"), nb::arg("index"))
      .def(
          "plan",
          [](const Dataset& self) {
            return to_text([&] {
              const WithoutLock released;
              return self.plan();
            }());
          },
          nb::sig("def plan(self) -> str"))
      .def(
          "explain",
          [](const Dataset& self, const std::string& format, bool analyze, double seconds, uint64_t seed) {
            return to_text(explained(self, format, analyze, seconds, seed));
          },
          nb::sig("def explain(self, format: str, analyze: bool, seconds: float, seed: int) -> str"))
      .def(
          "explain_fragment", [](const Dataset& self) { return to_text(plan::explain_fragment(report_of(self))); },
          nb::sig("def explain_fragment(self) -> str"))
      .def("check", checked, nb::kw_only(), nb::arg("elements"), nb::arg("label"), nb::arg("seed"), nb::arg("threads"),
           nb::arg("memory").none(), nb::arg("run_ahead"));
  add_steps(module);
}

}  // namespace headpond::python
