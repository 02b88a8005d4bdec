// SPDX-License-Identifier: Apache-2.0
// Sequence: a dataset's elements in order, on the calling thread, with states.
#include "headpond/dataset/sequence.h"

#include <string_view>
#include <utility>

#include "nanobind/stl/optional.h"
#include "python/src/python.h"

namespace headpond::python {
namespace {

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

}  // namespace

void add_sequence(nb::module_& module) {
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

}  // namespace headpond::python
