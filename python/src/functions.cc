// SPDX-License-Identifier: Apache-2.0
// Functions of Python that datasets call: on any thread, with the interpreter's lock.
#include <fmt/format.h>

#include <atomic>
#include <cstring>
#include <mutex>
#include <utility>

#include "headpond/base/clock.h"
#include "headpond/base/interrupt/interrupt.h"
#include "headpond/base/random.h"
#include "headpond/dataset/ops.h"
#include "headpond/engine/executor/lock_wait.h"
#include "nanobind/stl/optional.h"
#include "nanobind/stl/string.h"
#include "python/src/python.h"

namespace headpond::python {
namespace {

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

// The function gets the state and the element, and returns both anew.
Dataset scan_function(const Dataset& input, nb::handle initial, nb::object function, const std::string& name,
                      int version, nb::handle output) {
  const Spec spec = to_spec(output), state_spec = spec_of(initial);
  const auto keys = std::make_shared<const Keys>(input.spec()), state_keys = std::make_shared<const Keys>(state_spec);
  const OwnedFunction held(function);
  using Scanned = std::pair<Element, Element>;
  const ScanFunction call = [=](const Element& state, const Element& in) -> Result<Scanned> {
    return with_lock(held, [&]() -> Result<Scanned> {
      const nb::object now = state_keys->value_of(state), element = keys->value_of(in), own = held.get();
      const nb::object made = nb::steal([&] {
        const WhileCalling calling;
        return PyObject_CallFunctionObjArgs(own.ptr(), now.ptr(), element.ptr(), nullptr);
      }());
      if (!made.is_valid()) throw nb::python_error();
      if (!nb::isinstance<nb::tuple>(made) || nb::len(made) != 2)
        refuse_argument("scan: the function must return a tuple of the next state and an element");
      return Scanned{element_of("scan: the state", made[0], state_spec, Share::copy),
                     element_of("scan", made[1], spec, Share::copy)};
    });
  };
  return input | scan(element_of("scan: initial_state", initial, state_spec, Share::copy), call,
                      map_options(name, version, false, spec));
}

// What a function returned. The dataset keeps the Python object, which owns its functions.
Dataset dataset_in(const nb::object& made) {
  if (!nb::isinstance<Dataset>(nb::getattr(made, "_core", nb::none()))) {
    refuse_argument(fmt::format("the function returned {}, not a headpond.Dataset",
                                nb::cast<std::string>(made.type().attr("__name__"))));
  }
  const auto kept =
      std::make_shared<std::pair<Node::Ref, Ref>>(nb::cast<Dataset>(made.attr("_core")).node(), hold(made.ptr()));
  return Dataset(Node::Ref(kept, kept->first.get()));
}

// `reduce` gets a key and the module's dataset of the window.
Dataset group_function(const Dataset& input, nb::object key, nb::object reduce, int64_t window_size, int64_t max_held,
                       const std::string& name, int version, nb::handle output) {
  const auto keys = std::make_shared<const Keys>(input.spec());
  const OwnedFunction held_key(key), held_reduce(reduce);
  const auto key_of = [held_key, keys](const Element& in) -> Result<int64_t> {
    return with_lock(held_key, [&]() -> Result<int64_t> {
      const nb::object found = called(held_key, keys->value_of(in));
      const nb::object number = nb::steal(PyNumber_Index(found.ptr()));
      if (!number.is_valid()) throw nb::python_error();
      int64_t value = 0;
      if (!nb::try_cast(number, value)) refuse_argument("a key that int64 cannot hold");
      return value;
    });
  };
  const GroupReduce made_of = [held_reduce](int64_t of, const Dataset& window) -> Dataset {
    return value_or_throw(
        with_lock(held_reduce, [&]() -> Result<Dataset> { return dataset_in(held_reduce.get()(of, window)); }));
  };
  GroupByWindowOptions options{.window_size = window_size, .name = name, .version = version};
  if (max_held > 0) options.max_held = max_held;
  if (!output.is_none()) options.output = to_spec(output);
  const WithoutLock released;
  return input | group_by_window(key_of, made_of, options);
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

constexpr const char* kSpecOfValue =
    "def spec_of(value: typing.Any, /) -> list[tuple[str, str, tuple[int | None, ...]]]";

}  // namespace

std::function<Dataset(const Element&)> nested_of(const Dataset& input, const nb::object& function) {
  const auto keys = std::make_shared<const Keys>(input.spec());
  return [held = OwnedFunction(function), keys](const Element& in) -> Dataset {
    return value_or_throw(
        with_lock(held, [&]() -> Result<Dataset> { return dataset_in(called(held, keys->value_of(in))); }));
  };
}

void add_functions(nb::module_& module) {
  nb::class_<PythonAccount>(module, "FunctionAccount")
      .def(nb::init<>())
      .def_prop_ro("calls", [](const PythonAccount& self) { return self.account->calls.load(); })
      .def_prop_ro("lock_wait_ns", [](const PythonAccount& self) { return self.account->lock_wait_ns.load(); })
      .def_prop_ro("function_ns", [](const PythonAccount& self) { return self.account->function_ns.load(); });
  module.def("from_generator", generator_dataset);
  module.def("map", map_function);
  module.def("filter", filter_function);
  module.def("scan", scan_function);
  module.def("group_by_window", group_function, nb::arg("input"), nb::arg("key"), nb::arg("reduce"),
             nb::arg("window_size"), nb::arg("max_held"), nb::arg("name"), nb::arg("version"),
             nb::arg("output").none());
  module.def(
      "spec_of", [](nb::handle one) { return from_spec(spec_of(first_returned(one))); }, nb::arg("value").none(),
      nb::sig(kSpecOfValue));
}

}  // namespace headpond::python
