// SPDX-License-Identifier: Apache-2.0
// Datasets: operators by name (headpond/plan/step_call.h), and those that take Python's values and functions.
#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <mutex>
#include <utility>

#include "headpond/base/clock.h"
#include "headpond/base/interrupt/interrupt.h"
#include "headpond/base/random.h"
#include "headpond/dataset/ops.h"
#include "headpond/dataset/ops/structure/sharing.h"
#include "headpond/dataset/sequence.h"
#include "headpond/dataset/source/slices_in_files.h"
#include "headpond/engine/check/check.h"
#include "headpond/engine/executor/lock_wait.h"
#include "headpond/engine/explain.h"
#include "headpond/plan/kernels/plan_kernel.h"
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

[[noreturn]] void refuse_argument(const std::string& what) { throw Exception(Error(ErrorKind::InvalidArgument, what)); }

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

// What a function took so far, in all threads.
struct Account {
  std::atomic<int64_t> calls = 0, lock_wait_ns = 0, function_ns = 0;
};
struct PythonAccount {
  std::shared_ptr<Account> account = std::make_shared<Account>();
};

// A function of a dataset. The dataset's Python objects own it (_Function in _dataset.py), so that the interpreter's
// collector sees cycles through it: a class that has a Loader which calls its method, say. REQUIRES: the lock.
class OwnedFunction {
 public:
  explicit OwnedFunction(nb::handle cell) : account_(nb::cast<PythonAccount&>(cell.attr("account")).account) {
    if (nb::cast<bool>(cell.attr("serial"))) turn_ = std::make_shared<std::timed_mutex>();
    const nb::object weak = nb::steal(PyWeakref_NewRef(cell.ptr(), nullptr));
    if (!weak.is_valid()) throw nb::python_error();
    weak_ = hold(weak.ptr());
  }
  nb::object get() const {
    const nb::object cell = nb::handle(weak_.get())();
    if (cell.is_none()) throw Exception(Error(ErrorKind::Cancelled, "the dataset that has this function is gone"));
    return cell.attr("call");
  }
  Account& account() const { return *account_; }
  /// Of one call after the other; null: they may run side by side, where they release the interpreter's lock.
  std::timed_mutex* turn() const { return turn_.get(); }

 private:
  std::shared_ptr<std::timed_mutex> turn_;
  std::shared_ptr<Account> account_;
  Ref weak_;
};

// Notes what passes until it is destroyed.
class Timed {
 public:
  explicit Timed(std::atomic<int64_t>& to) : to_(to), begin_(now_ns()) {}
  ~Timed() { to_.fetch_add(now_ns() - begin_, std::memory_order_relaxed); }
  Timed(const Timed&) = delete;
  Timed& operator=(const Timed&) = delete;

 private:
  std::atomic<int64_t>& to_;
  const int64_t begin_;
};

// Waits for the turn of a function whose calls come one after the other. Returns false iff the program ends that wait.
bool takes_turn(const OwnedFunction& function, std::unique_lock<std::timed_mutex>& turn) {
  if (function.turn() == nullptr) return true;
  turn = std::unique_lock(*function.turn(), std::defer_lock);
  while (!turn.try_lock_for(kLookInterval)) {
    if (is_exiting() || look_for_interrupt()) return false;
  }
  return true;
}

// A call of the function, as the engine makes it: on any thread, with the lock.
template <class Call>
auto with_lock(const OwnedFunction& function, Call call) -> decltype(call()) {
  if (is_exiting()) return fail(ErrorKind::Cancelled, "the interpreter ends");
  Account& account = function.account();
  account.calls.fetch_add(1, std::memory_order_relaxed);
  const int64_t asked = now_ns();
  std::unique_lock<std::timed_mutex> turn;  // Before the interpreter's lock: the call before needs that to end.
  if (!takes_turn(function, turn)) return fail(ErrorKind::Cancelled, "the program ends");
  const int64_t has_turn = now_ns();
  keep_thread_state();
  const WithLock lock;
  const int64_t begins = now_ns(), waited_ns = begins - asked;
  account.lock_wait_ns.fetch_add(waited_ns, std::memory_order_relaxed);
  internal::lock_wait_ns_by_thread += waited_ns;
  internal::interpreter_wait_ns_by_thread += begins - has_turn;
  const Timed runs(account.function_ns);
  try {
    const OwnsExceptions nobody(nullptr);
    return call();
  } catch (nb::python_error& error) {
    if (error.matches(PyExc_StopIteration)) {  // It would be the end of the data.
      PyErr_SetString(PyExc_RuntimeError, "the function raised StopIteration");
    } else {
      error.restore();
    }
    return fail(error_of_function());
  } catch (const Exception& error) {
    return fail(error.error());
  }
}

nb::object called(const OwnedFunction& function, const nb::object& argument) {
  const nb::object call = function.get();
  nb::object result = nb::steal([&] {
    const WhileCalling calling;
    return call_with(call.ptr(), argument.ptr());
  }());
  if (!result.is_valid()) throw nb::python_error();
  return result;
}

nb::object called(const OwnedFunction& function, const nb::object& argument, Random& random) {
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
  const nb::object call = function.get();
  nb::object result = nb::steal([&] {
    const WhileCalling calling;
    return PyObject_CallFunctionObjArgs(call.ptr(), argument.ptr(), generator.ptr(), nullptr);
  }());
  if (!result.is_valid()) throw nb::python_error();
  return result;
}

// What a function of map gave, if it gave anything.
nb::handle returned(nb::handle result) {
  if (result.is_none()) refuse_argument("the function returned None: is a return missing?");
  return result;
}

// The same where its fields follow from it. An empty tuple is an empty list for one field that is known.
nb::handle first_returned(nb::handle result) {
  const bool has_fields = nb::isinstance<nb::dict>(result) || nb::isinstance<nb::tuple>(result);
  if (has_fields && nb::len(result) == 0) refuse_argument("the function returned no fields");
  return returned(result);
}

MapOptions map_options(const std::string& name, int version, bool blocking, Spec output) {
  return {.output = std::move(output), .name = name, .version = version, .blocking = blocking};
}

Dataset map_function(const Dataset& input, nb::object function, const std::string& name, int version, bool blocking,
                     bool random, nb::handle output) {
  const Spec spec = to_spec(output);
  if (spec.empty()) refuse_argument("map: output= has no fields");
  const auto keys = std::make_shared<const Keys>(input.spec());
  const OwnedFunction held(function);
  const MapOptions options = map_options(name, version, blocking, spec);
  if (random) {
    return input | random_map(
                       [held, keys, spec](const Element& in, Random& words) -> Result<Element> {
                         return with_lock(held, [&]() -> Result<Element> {
                           const nb::object result = called(held, keys->value_of(in), words);
                           return element_of("map", returned(result), spec, Share::if_its_own);
                         });
                       },
                       options);
  }
  return input | map(
                     [held, keys, spec](const Element& in) -> Result<Element> {
                       return with_lock(held, [&]() -> Result<Element> {
                         const nb::object result = called(held, keys->value_of(in));
                         return element_of("map", returned(result), spec, Share::if_its_own);
                       });
                     },
                     options);
}

Dataset filter_function(const Dataset& input, nb::object function, const std::string& name, int version,
                        bool blocking) {
  const auto keys = std::make_shared<const Keys>(input.spec());
  const OwnedFunction held(function);
  return input | filter(
                     [held, keys](const Element& in) -> Result<bool> {
                       return with_lock(held, [&]() -> Result<bool> {
                         const nb::object result = called(held, keys->value_of(in));
                         const int truth = PyObject_IsTrue(result.ptr());
                         if (truth < 0) throw nb::python_error();
                         return truth != 0;
                       });
                     },
                     map_options(name, version, blocking, {}));
}

Ref opened(const nb::object& iterable) {
  const nb::object iterator = nb::steal(PyObject_GetIter(iterable.ptr()));
  if (!iterator.is_valid()) throw nb::python_error();
  return hold(iterator.ptr());
}

Dataset generator_dataset(nb::object make, nb::handle spec_given, const std::string& name, int version, bool blocking,
                          std::optional<nb::object> seek) {
  const Spec spec = to_spec(spec_given);
  const OwnedFunction held(make);
  const auto over = [spec, held](const Ref& iterator) -> Generator {
    return [spec, iterator, held]() -> Result<std::optional<Element>> {
      return with_lock(held, [&]() -> Result<std::optional<Element>> {
        const nb::object next = nb::steal([&] {
          const WhileCalling calling;
          return PyIter_Next(iterator.get());
        }());
        if (!next.is_valid()) {
          if (PyErr_Occurred() != nullptr) throw nb::python_error();
          return std::nullopt;
        }
        return element_of("from_generator", next, spec, Share::copy);
      });
    };
  };
  GeneratorOptions options{.name = name, .version = version, .blocking = blocking};
  if (seek) {
    const OwnedFunction held_seek(*seek);
    options.seek = [=](uint64_t epoch, int64_t position) -> Result<Generator> {
      return with_lock(held_seek,
                       [&]() -> Result<Generator> { return over(opened(held_seek.get()(epoch, position))); });
    };
  }
  return from_generator(
      [=](uint64_t epoch) -> Generator {
        Result<Generator> made =
            with_lock(held, [&]() -> Result<Generator> { return over(opened(held.get()(epoch))); });
        if (made) return *std::move(made);
        return [error = made.error()]() -> Result<std::optional<Element>> { return fail(error); };
      },
      spec, options);
}

constexpr std::string_view kKinds[] = {"indexed", "sparse", "stream"};

std::vector<std::pair<std::string, Tensor>> tensors_of(nb::handle values) {
  std::vector<std::pair<std::string, Tensor>> all;
  for (nb::handle pair : values) {
    all.emplace_back(text_of(pair[0]), tensor_of(nb::object(pair[1]), {}, Share::always));
  }
  return all;
}

// The dataset that a function of Python makes of an element. It keeps the Python object, which owns its functions.
std::function<Dataset(const Element&)> nested_of(const Dataset& input, const nb::object& function) {
  const auto keys = std::make_shared<const Keys>(input.spec());
  return [held = OwnedFunction(function), keys](const Element& in) -> Dataset {
    return value_or_throw(with_lock(held, [&]() -> Result<Dataset> {
      const nb::object made = called(held, keys->value_of(in));
      if (!nb::isinstance<Dataset>(nb::getattr(made, "_core", nb::none()))) {
        refuse_argument(fmt::format("the function returned {}, not a headpond.Dataset",
                                    nb::cast<std::string>(made.type().attr("__name__"))));
      }
      const auto kept =
          std::make_shared<std::pair<Node::Ref, Ref>>(nb::cast<Dataset>(made.attr("_core")).node(), hold(made.ptr()));
      return Dataset(Node::Ref(kept, kept->first.get()));
    }));
  };
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

std::string explained(const Dataset& dataset, const std::string& format, bool analyze, double seconds, uint64_t seed) {
  plan::ExplainReport report = [&] {
    const WithoutLock released;
    return plan::ExplainReport{"", dataset, explain(dataset)};
  }();
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

// The names are those of `headpond check --json`.
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
  Dict found;
  found["cardinality"] = report.cardinality == kEndless ? std::optional<int64_t>(-1) : report.cardinality;
  found["bytes_forecast"] = report.memory.empty() ? nb::none() : nb::cast(report.memory_bytes());
  found["memory"] = list_of(report.memory, part_of);
  found["mapped_bytes"] = report.mapped_bytes;
  found["first_batch_s_forecast"] = report.first_batch_s;
  found["fill_s_forecast"] = report.fill_s;
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
  Reading(const Dataset& of, uint64_t seed, int64_t epochs, const std::optional<nb::bytes>& state, nb::handle owner)
      : owner(hold(owner.ptr())),
        dataset(of),
        options{.seed = seed, .epochs = epochs},
        sequence(state ? value(Sequence::restored(of, options, std::string_view(state->c_str(), state->size())))
                       : Sequence(of, options)),
        keys(of.spec()) {
    note_place();
  }
  void note_place() {
    epoch = sequence.epoch();
    index = sequence.index();
  }
  Ref owner;  // Of its functions.
  const Dataset dataset;
  const SequenceOptions options;
  Sequence sequence;
  Keys keys;
  bool is_used = false;
  int64_t epoch = 0, index = -1;  // Of `sequence`, which another thread may be using.
};

class NotesPlace {
 public:
  explicit NotesPlace(Reading& reading) : reading_(reading) {}
  ~NotesPlace() { reading_.note_place(); }
  NotesPlace(const NotesPlace&) = delete;
  NotesPlace& operator=(const NotesPlace&) = delete;

 private:
  Reading& reading_;
};

Any next_of(Reading& reading) {
  const OneAtATime used(reading.is_used, "Sequence");
  auto next = [&] {
    const NotesPlace also_after_an_interrupt(reading);  // An epoch may have begun before it.
    return waiting([&] { return reading.sequence.next(); }, nullptr, /*between_elements=*/true);
  }();
  if (at_end(next)) throw nb::stop_iteration();
  return reading.keys.value_of(value(std::move(next)));
}

// The old position stays if `state` is refused.
void restore(Reading& reading, const nb::bytes& state) {
  const OneAtATime used(reading.is_used, "Sequence");
  const std::string given(state.c_str(), state.size());
  reading.sequence = value(waiting([&] { return Sequence::restored(reading.dataset, reading.options, given); }));
  reading.note_place();
}

// Its place too, which another thread may change after this call.
nb::typed<nb::tuple, int64_t, int64_t, nb::bytes> state(Reading& reading) {
  const OneAtATime used(reading.is_used, "Sequence");
  const std::string saved = reading.sequence.state();
  return nb::make_tuple(reading.epoch, reading.index, nb::bytes(saved.data(), saved.size()));
}

constexpr const char* kSpecOfSelf = "def spec(self, /) -> list[tuple[str, str, tuple[int | None, ...]]]";
constexpr const char* kSpecOfValue =
    "def spec_of(value: typing.Any, /) -> list[tuple[str, str, tuple[int | None, ...]]]";

void add_functions(nb::module_& module) {
  nb::class_<PythonAccount>(module, "FunctionAccount")
      .def(nb::init<>())
      .def_prop_ro("calls", [](const PythonAccount& self) { return self.account->calls.load(); })
      .def_prop_ro("lock_wait_ns", [](const PythonAccount& self) { return self.account->lock_wait_ns.load(); })
      .def_prop_ro("function_ns", [](const PythonAccount& self) { return self.account->function_ns.load(); });
  module.attr("ENDLESS") = kEndless;
  module.def("operators", operators, nb::sig("def operators() -> list[tuple[str, int, list[str]]]"));
  module.def("kernels", kernels, nb::sig("def kernels() -> list[tuple[str, list[str]]]"));
  module.def("build", built, nb::arg("op"), nb::arg("args"), nb::arg("name"), nb::arg("inputs"),
             nb::arg("nested") = nb::none(), nb::arg("output").none() = nb::none(), nb::arg("kind") = "",
             nb::arg("chains") = nb::tuple());
  module.def("read_plan", [](const std::string& path) {
    const WithoutLock released;
    const plan::PlanFile file = plan::read_plan_file(path);
    return std::pair(file.dataset, file.seed);
  });
  module.def("zip", [](const std::vector<Dataset>& inputs) { return zip(inputs); });
  module.def("from_tensors", [](nb::handle values) { return from_tensors(tensors_of(values)); });
  module.def("from_tensor_slices", [](nb::handle values, const std::vector<std::string>& places) {
    return internal::slices_in_files(tensors_of(values), places);
  });
  module.def("from_generator", generator_dataset);
  module.def("map", map_function);
  module.def("filter", filter_function);
  module.def(
      "spec_of", [](nb::handle one) { return from_spec(spec_of(first_returned(one))); }, nb::arg("value").none(),
      nb::sig(kSpecOfValue));
}

void add_reading(nb::module_& module) {
  nb::class_<Reading>(module, "Sequence")
      .def(nb::init<const Dataset&, uint64_t, int64_t, const std::optional<nb::bytes>&, nb::handle>(),
           nb::arg("dataset"), nb::arg("seed"), nb::arg("epochs"), nb::arg("state").none(), nb::arg("owner").none())
      .def(
          "__iter__", [](nb::handle self) { return nb::borrow(self); }, nb::sig("def __iter__(self) -> Sequence"))
      .def("__next__", next_of)
      .def("restore", restore)
      .def_prop_ro("epoch", [](const Reading& self) { return self.epoch; })
      .def_prop_ro("index", [](const Reading& self) { return self.index; })
      .def("state", state);
}

}  // namespace

void add_datasets(nb::module_& module) {
  nb::class_<Dataset>(module, "Dataset")
      .def_prop_ro(
          "spec", [](const Dataset& self) { return from_spec(self.spec()); }, nb::for_getter(nb::sig(kSpecOfSelf)))
      .def_prop_ro("kind", [](const Dataset& self) { return std::string(kKinds[static_cast<size_t>(self.kind())]); })
      .def_prop_ro("draws", [](const Dataset& self) { return self.node()->draws(); })
      .def("cardinality", cardinality, nb::sig("def cardinality(self, /) -> int | None"))
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
      .def("check", checked, nb::kw_only(), nb::arg("elements"), nb::arg("label"), nb::arg("seed"), nb::arg("threads"),
           nb::arg("memory").none(), nb::arg("run_ahead"));
  add_functions(module);
  add_reading(module);
}

}  // namespace headpond::python
