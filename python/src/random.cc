// SPDX-License-Identifier: Apache-2.0
// Random numbers that depend on nothing but what they are asked for (headpond/base/random.h), as C++ has them.
#include "headpond/base/random.h"

#include <fmt/format.h>

#include <span>
#include <string_view>

#include "headpond/base/normal.h"
#include "headpond/base/permutation.h"
#include "nanobind/stl/string.h"
#include "python/src/python.h"

namespace headpond::python {
namespace {

[[noreturn]] void refuse_number(const std::string& what) { throw Exception(Error(ErrorKind::InvalidArgument, what)); }

uint64_t below(Random& self, uint64_t n) {
  if (n == 0) refuse_number("Random.below(0): no number is below 0");
  return self.below(n);
}

int64_t one_of(Random& self, int64_t n) {
  if (n < 1 || n > int64_t{1} << 32) refuse_number(fmt::format("Random.one_of({}): must be in [1, 2**32]", n));
  return self.one_of(n);
}

void make_permutation(Permutation* self, uint64_t key, int64_t size) {
  if (size < 0 || size > int64_t{1} << 62)
    refuse_number(fmt::format("Permutation: size={}: must be in [0, 2**62]", size));
  new (self) Permutation(RandomKey{key}, size);
}

int64_t permuted(const Permutation& self, int64_t i) {
  if (i < 0 || i >= self.size()) {
    PyErr_Format(PyExc_IndexError, "Permutation: %lld is not in [0, %lld)", static_cast<long long>(i),
                 static_cast<long long>(self.size()));
    throw nb::python_error();
  }
  return self(i);
}

// An array of all numbers, or of those that take the places of `numbers`.
nb::object applied(const Permutation& self, nb::handle numbers) {
  const Tensor given = tensor_of(numbers, DType::i64);
  Tensor made = Tensor::empty(DType::i64, given.shape());
  const auto from = given.as<int64_t>();
  for (const int64_t i : from) (void)(i < 0 || i >= self.size() ? permuted(self, i) : 0);
  self.apply(from, made.mutable_as<int64_t>().data());
  return array_of(std::move(made));
}

// The memory of an array of float32 that may be written, for as long as this lives.
class Floats {
 public:
  explicit Floats(nb::handle array) {
    if (PyObject_GetBuffer(array.ptr(), &view_, PyBUF_WRITABLE | PyBUF_C_CONTIGUOUS | PyBUF_FORMAT) != 0)
      throw nb::python_error();
    if (view_.format == nullptr || std::string_view(view_.format) != "f") {
      PyBuffer_Release(&view_);
      refuse_number("fill_normal: an array of float32 is needed");
    }
  }
  ~Floats() { PyBuffer_Release(&view_); }
  Floats(const Floats&) = delete;
  Floats& operator=(const Floats&) = delete;
  std::span<float> all() const {
    return {static_cast<float*>(view_.buf), static_cast<size_t>(view_.len) / sizeof(float)};
  }

 private:
  Py_buffer view_{};
};

void fill_floats(nb::handle out, uint64_t key, uint64_t element, uint64_t first_block) {
  const Floats floats(out);
  const WithoutLock released;
  fill_normal(floats.all(), RandomKey{key}, element, first_block);
}

}  // namespace

void add_random(nb::module_& module) {
  nb::class_<Random>(module, "Random")
      .def(
          "__init__",
          [](Random* self, uint64_t key, uint64_t element, uint64_t first_block) {
            new (self) Random(RandomKey{key}, element, first_block);
          },
          nb::arg("key"), nb::arg("element") = 0, nb::arg("first_block") = 0)
      .def("u32", &Random::u32)
      .def("u64", &Random::u64)
      .def("uniform", &Random::uniform)
      .def("below", below, nb::arg("n"))
      .def("one_of", one_of, nb::arg("n"));
  nb::class_<Permutation>(module, "Permutation")
      .def("__init__", make_permutation, nb::arg("key"), nb::arg("size"))
      .def("__len__", &Permutation::size)
      .def("__call__", permuted, nb::arg("i"))
      .def("apply", applied, nb::arg("numbers"), nb::sig("def apply(self, numbers: typing.Any) -> typing.Any"));
  module.def("entropy", entropy);
  module.def(
      "random_key",
      [](uint64_t seed, const std::string& op, uint32_t occurrence, uint64_t epoch) {
        return random_key(seed, op, occurrence, epoch).value;
      },
      nb::arg("seed"), nb::arg("op"), nb::arg("occurrence") = 0, nb::arg("epoch") = 0);
  module.def("fill_normal", fill_floats, nb::arg("out"), nb::arg("key"), nb::arg("element") = 0,
             nb::arg("first_block") = 0,
             nb::sig("def fill_normal(out: typing.Any, key: int, element: int = 0, first_block: int = 0) -> None"));
}

}  // namespace headpond::python
