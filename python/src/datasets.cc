// SPDX-License-Identifier: Apache-2.0
// Datasets: operators by name (headpond/plan/step_call.h), and those that take Python's values and functions.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "headpond/base/random.h"
#include "headpond/dataset/ops.h"
#include "headpond/dataset/sequence.h"
#include "headpond/engine/explain.h"
#include "headpond/plan/kernels/plan_kernel.h"
#include "headpond/plan/operators/plan_operators.h"
#include "headpond/plan/plan_file.h"
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
    made.is = nb::cast<int64_t>(value);
  } else if (nb::isinstance<nb::float_>(value)) {
    made.is = nb::cast<double>(value);
  } else if (nb::isinstance<nb::str>(value)) {
    made.is = nb::cast<std::string>(value);
  } else if (nb::isinstance<nb::dict>(value)) {
    plan::PlanTable table;
    for (auto [key, one] : nb::borrow<nb::dict>(value)) table.emplace_back(nb::cast<std::string>(key), to_plan(one));
    std::ranges::sort(table, {}, &plan::PlanTable::value_type::first);
    made.is = std::move(table);
  } else if (nb::isinstance<nb::list>(value)) {
    plan::PlanList list;
    for (nb::handle one : value) list.push_back(to_plan(one));
    made.is = std::move(list);
  } else {
    throw Exception(Error(ErrorKind::InvalidArgument,
                          fmt::format("an argument of type {}: numbers, texts, lists and dicts are known",
                                      nb::cast<std::string>(value.type().attr("__name__")))));
  }
  return made;
}

// A function of Python, as the engine calls it: on any thread, with the lock.
template <class Call>
auto with_lock(Call call) -> decltype(call()) {
  if (is_exiting()) return fail(ErrorKind::Cancelled, "the interpreter ends");
  const WithLock lock;
  try {
    return call();
  } catch (nb::python_error& error) {
    error.restore();
    return fail(error_of_python());
  } catch (const Exception& error) {
    return fail(error.error());
  }
}

nb::object called(const Ref& function, const nb::object& argument) {
  nb::object result = nb::steal(PyObject_CallOneArg(function.get(), argument.ptr()));
  if (!result.is_valid()) {
    if (PyErr_ExceptionMatches(PyExc_StopIteration) != 0) {
      PyErr_Clear();
      PyErr_SetString(PyExc_RuntimeError, "the function raised StopIteration");
    }
    throw nb::python_error();
  }
  return result;
}

nb::object called(const Ref& function, const nb::object& argument, Random& random) {
  const std::string words = [&] {
    std::string bytes(16, '\0');
    for (size_t i = 0; i < 4; ++i) {
      const uint32_t word = random.u32();
      std::memcpy(bytes.data() + 4 * i, &word, 4);
    }
    return bytes;
  }();
  const nb::object key = nb::steal(PyBytes_FromStringAndSize(words.data(), std::ssize(words)));
  nb::object generator = nb::module_::import_("headpond._random").attr("generator")(key);
  nb::object result = nb::steal(PyObject_CallFunctionObjArgs(function.get(), argument.ptr(), generator.ptr(), nullptr));
  if (!result.is_valid()) throw nb::python_error();
  return result;
}

MapOptions map_options(const std::string& name, int version, bool blocking, Spec output) {
  return {.output = std::move(output), .name = name, .version = version, .blocking = blocking};
}

Dataset map_function(const Dataset& input, nb::object function, const std::string& name, int version, bool blocking,
                     bool random, nb::handle output) {
  const Spec spec = to_spec(output);
  const auto keys = std::make_shared<const Keys>(input.spec());
  const Ref held = hold(function.ptr());
  const MapOptions options = map_options(name, version, blocking, spec);
  if (random) {
    return input | random_map(
                       [held, keys, spec](const Element& in, Random& words) -> Result<Element> {
                         return with_lock([&]() -> Result<Element> {
                           const nb::object result = called(held, keys->value_of(in), words);
                           return element_of("map", result, spec, Share::if_its_own);
                         });
                       },
                       options);
  }
  return input | map(
                     [held, keys, spec](const Element& in) -> Result<Element> {
                       return with_lock([&]() -> Result<Element> {
                         const nb::object result = called(held, keys->value_of(in));
                         return element_of("map", result, spec, Share::if_its_own);
                       });
                     },
                     options);
}

Dataset filter_function(const Dataset& input, nb::object function, const std::string& name, int version,
                        bool blocking) {
  const auto keys = std::make_shared<const Keys>(input.spec());
  const Ref held = hold(function.ptr());
  return input | filter(
                     [held, keys](const Element& in) -> Result<bool> {
                       return with_lock([&]() -> Result<bool> {
                         const nb::object result = called(held, keys->value_of(in));
                         const int truth = PyObject_IsTrue(result.ptr());
                         if (truth < 0) throw nb::python_error();
                         return truth != 0;
                       });
                     },
                     map_options(name, version, blocking, {}));
}

Dataset generator_dataset(nb::object make, nb::handle spec_given, const std::string& name, int version, bool blocking,
                          std::optional<nb::object> seek) {
  const Spec spec = to_spec(spec_given);
  const Ref held = hold(make.ptr());
  const auto over = [spec](const Ref& iterator) -> Generator {
    return [spec, iterator]() -> Result<std::optional<Element>> {
      return with_lock([&]() -> Result<std::optional<Element>> {
        const nb::object next = nb::steal(PyIter_Next(iterator.get()));
        if (!next.is_valid()) {
          if (PyErr_Occurred() != nullptr) throw nb::python_error();
          return std::nullopt;
        }
        return element_of("from_generator", next, spec, Share::copy);
      });
    };
  };
  const auto opened = [](const nb::object& iterable) {
    const nb::object iterator = nb::steal(PyObject_GetIter(iterable.ptr()));
    if (!iterator.is_valid()) throw nb::python_error();
    return hold(iterator.ptr());
  };
  GeneratorOptions options{.name = name, .version = version, .blocking = blocking};
  if (seek) {
    const Ref held_seek = hold(seek->ptr());
    options.seek = [=](uint64_t epoch, int64_t position) -> Result<Generator> {
      return with_lock(
          [&]() -> Result<Generator> { return over(opened(nb::handle(held_seek.get())(epoch, position))); });
    };
  }
  return from_generator(
      [=](uint64_t epoch) -> Generator {
        Result<Generator> made =
            with_lock([&]() -> Result<Generator> { return over(opened(nb::handle(held.get())(epoch))); });
        if (made) return *std::move(made);
        return [error = made.error()]() -> Result<std::optional<Element>> { return fail(error); };
      },
      spec, options);
}

std::vector<std::pair<std::string, Tensor>> tensors_of(nb::handle values) {
  std::vector<std::pair<std::string, Tensor>> all;
  for (auto [key, one] : nb::borrow<nb::dict>(values)) {
    all.emplace_back(nb::cast<std::string>(key), tensor_of(one, {}, Share::always));
  }
  return all;
}

// The dataset that a function of Python makes of an element.
std::function<Dataset(const Element&)> nested_of(const Dataset& input, nb::object function) {
  const auto keys = std::make_shared<const Keys>(input.spec());
  return [held = hold(function.ptr()), keys](const Element& in) -> Dataset {
    return value_or_throw(
        with_lock([&]() -> Result<Dataset> { return nb::cast<Dataset>(called(held, keys->value_of(in))); }));
  };
}

Dataset built(const std::string& op, nb::handle args, const std::string& name,
              const std::vector<std::pair<std::string, Dataset>>& inputs, std::optional<nb::object> nested) {
  plan::StepCall call{.op = op, .args = *to_plan(args).as<plan::PlanTable>(), .name = name, .inputs = inputs};
  if (nested) call.nested = nested_of(inputs.at(0).second, *nested);
  const nb::gil_scoped_release released;
  return plan::build_step(call);
}

std::string explained(const Dataset& dataset, const std::string& format) {
  const nb::gil_scoped_release released;
  const plan::ExplainReport report{"", dataset, explain(dataset)};
  if (format == "text") return plan::explain_text(report);
  if (format == "dot") return plan::explain_dot(report);
  if (format == "mermaid") return plan::explain_mermaid(report);
  if (format == "html") return plan::explain_html(report);
  if (format != "json") refuse("explain", fmt::format("no format '{}': text, json, dot, mermaid, html", format));
  JsonWriter json;
  json.begin_object();
  plan::write_explanation(json, report);
  json.end_object();
  return std::string(json.text());
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

// Sequence, with its options and what it is made of.
struct Reading {
  Reading(const Dataset& of, uint64_t seed, int64_t epochs, std::optional<nb::bytes> state)
      : sequence(state ? value(Sequence::restored(of, {.seed = seed, .epochs = epochs},
                                                  std::string_view(state->c_str(), state->size())))
                       : Sequence(of, {.seed = seed, .epochs = epochs})),
        keys(of.spec()) {}
  Sequence sequence;
  Keys keys;
};

nb::object next_of(Reading& reading) {
  drop_dead();
  auto next = [&] {
    const nb::gil_scoped_release released;
    return reading.sequence.next();
  }();
  if (at_end(next)) throw nb::stop_iteration();
  return reading.keys.value_of(value(std::move(next)));
}

nb::bytes bytes_of(const std::string& text) { return nb::bytes(text.data(), text.size()); }

}  // namespace

void add_datasets(nb::module_& module) {
  nb::class_<Dataset>(module, "Dataset")
      .def_prop_ro("spec", [](const Dataset& self) { return from_spec(self.spec()); })
      .def_prop_ro("kind",
                   [](const Dataset& self) {
                     constexpr const char* kNames[] = {"indexed", "sparse", "stream"};
                     return std::string(kNames[static_cast<size_t>(self.kind())]);
                   })
      .def("cardinality", cardinality)
      .def(
          "plan", [](const Dataset& self) { return self.plan(); }, nb::call_guard<nb::gil_scoped_release>())
      .def("explain", explained);
  module.attr("ENDLESS") = kEndless;
  module.def("operators", operators);
  module.def("kernels", kernels);
  module.def("build", built, nb::arg("op"), nb::arg("args"), nb::arg("name"), nb::arg("inputs"),
             nb::arg("nested") = nb::none());
  module.def("read_plan", [](const std::string& path) {
    const nb::gil_scoped_release released;
    const plan::PlanFile file = plan::read_plan_file(path);
    return std::pair(file.dataset, file.seed);
  });
  module.def("zip", [](const std::vector<Dataset>& inputs) { return zip(inputs); });
  module.def("from_tensors", [](nb::handle values) { return from_tensors(tensors_of(values)); });
  module.def("from_tensor", [](nb::handle one) { return from_tensors(tensor_of(one, {}, Share::always)); });
  module.def("from_tensor_slices", [](nb::handle values) { return from_tensor_slices(tensors_of(values)); });
  module.def("from_tensor_rows", [](nb::handle one) { return from_tensor_slices(tensor_of(one, {}, Share::always)); });
  module.def("from_generator", generator_dataset);
  module.def("map", map_function);
  module.def("filter", filter_function);
  module.def("spec_of", [](nb::handle one) { return from_spec(spec_of(one)); });
  nb::class_<Reading>(module, "Sequence")
      .def(nb::init<const Dataset&, uint64_t, int64_t, std::optional<nb::bytes>>())
      .def("__iter__", [](nb::handle self) { return nb::borrow(self); })
      .def("__next__", next_of)
      .def_prop_ro("epoch", [](const Reading& self) { return self.sequence.epoch(); })
      .def_prop_ro("index", [](const Reading& self) { return self.sequence.index(); })
      .def("state", [](const Reading& self) { return bytes_of(self.sequence.state()); });
}

}  // namespace headpond::python
