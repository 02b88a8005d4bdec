// SPDX-License-Identifier: Apache-2.0
// The iterator over a Loader's batches: a type slot of Python's.
#include <new>
#include <utility>

#include "python/src/loader_object.h"

namespace headpond::python {
namespace {

// The batches of one epoch of a Loader, or all that are left. Each step is one call of C++, without a frame of Python.
// After an exception it goes on, as the Loader does.
class Batches {
 public:
  /// `loader`: Python's, which lives as long as this. `convert`: what becomes of a batch; None: nothing. `epoch` below
  /// 0: all.
  Batches(nb::object loader, nb::object core, nb::object convert, int64_t epoch)
      : loader_(std::move(loader)),
        core_(std::move(core)),
        convert_(std::move(convert)),
        batches_(nb::cast<PythonLoader*>(core_)),
        is_flat_(epoch < 0),
        epoch_(epoch) {}

  // Nothing at the end.
  nb::object next() {
    if (batches_ == nullptr || (!is_flat_ && epoch_ < 0)) return {};
    nb::object batch = is_flat_ ? batches_->next() : batches_->next_of(epoch_);
    if (batch.is_none()) return {};
    return convert_.is_none() ? batch : convert_(batch);
  }
  nb::object state_dict() const { return loader().attr("state_dict")(); }
  // This goes on after the batch of `state`, whatever epoch that is in.
  void load_state_dict(nb::handle state) {
    loader().attr("load_state_dict")(state);
    if (!is_flat_) epoch_ = batches_->begin_epoch();
  }
  int traverse(visitproc visit, void* arg) const {
    Py_VISIT(loader_.ptr());
    Py_VISIT(core_.ptr());
    Py_VISIT(convert_.ptr());
    return 0;
  }
  void clear() {
    batches_ = nullptr;
    loader_.reset();
    core_.reset();
    convert_.reset();
  }

 private:
  const nb::object& loader() const {
    if (batches_ == nullptr) raise(Error(ErrorKind::FailedPrecondition, "Loader: the collector has freed it"));
    return loader_;
  }

  nb::object loader_, core_, convert_;
  PythonLoader* batches_;  // Of core_.
  const bool is_flat_;
  int64_t epoch_;  // Of one that is not flat; below 0: there is none after the state that it loaded.
};

constexpr const char* kSigOfState = "def state_dict(self) -> dict[str, typing.Any]";
constexpr const char* kSigOfLoad = "def load_state_dict(self, state: dict[str, typing.Any]) -> None";
constexpr const char* kSigOfGet = "def get_state(self) -> dict[str, typing.Any]";
constexpr const char* kSigOfSet = "def set_state(self, state: dict[str, typing.Any]) -> None";

PyObject* next_batch(PyObject* self) noexcept {
  try {
    return nb::inst_ptr<Batches>(self)->next().release().ptr();
  } catch (nb::python_error& raised) {
    raised.restore();
  } catch (const Exception& error) {
    set_error(error.error());
  } catch (const std::bad_alloc&) {
    PyErr_NoMemory();
  } catch (const std::exception& error) {
    PyErr_SetString(PyExc_RuntimeError, error.what());
  }
  return nullptr;
}

int traverse_batches(PyObject* self, visitproc visit, void* arg) noexcept {
  Py_VISIT(Py_TYPE(self));
  return nb::inst_ready(self) ? nb::inst_ptr<Batches>(self)->traverse(visit, arg) : 0;
}

int clear_batches(PyObject* self) noexcept {
  if (nb::inst_ready(self)) nb::inst_ptr<Batches>(self)->clear();
  return 0;
}

PyType_Slot batches_slots[] = {{Py_tp_iter, reinterpret_cast<void*>(PyObject_SelfIter)},
                               {Py_tp_iternext, reinterpret_cast<void*>(next_batch)},
                               {Py_tp_traverse, reinterpret_cast<void*>(traverse_batches)},
                               {Py_tp_clear, reinterpret_cast<void*>(clear_batches)},
                               {0, nullptr}};

}  // namespace

void add_batches(nb::module_& module) {
  nb::class_<Batches>(module, "Batches", nb::type_slots(batches_slots))
      .def(nb::init<nb::object, nb::object, nb::object, int64_t>(), nb::arg("loader"), nb::arg("core"),
           nb::arg("convert").none(), nb::arg("epoch"))
      .def("state_dict", &Batches::state_dict, nb::sig(kSigOfState))
      .def("load_state_dict", &Batches::load_state_dict, nb::arg("state"), nb::sig(kSigOfLoad))
      .def("get_state", &Batches::state_dict, nb::sig(kSigOfGet))
      .def("set_state", &Batches::load_state_dict, nb::arg("state"), nb::sig(kSigOfSet));
}

}  // namespace headpond::python
