// SPDX-License-Identifier: Apache-2.0
// NumPy's function table, which is fetched at the first array: importing the package does not import NumPy.
#define NPY_NO_DEPRECATED_API NPY_1_7_API_VERSION
#define PY_ARRAY_UNIQUE_SYMBOL headpond_numpy
#include <fmt/format.h>
#include <numpy/arrayobject.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <cstring>
#include <limits>
#include <new>
#include <span>

#include "headpond/tensor/memory_account.h"
#include "nanobind/stl/string.h"
#include "python/src/python.h"

namespace headpond::python {
namespace {

constexpr size_t kInlineBytes = 16;  // A tensor of so many bytes owns no buffer.

int import_numpy() {
  import_array1(-1);
  return 0;
}

void need_numpy() {
  static bool is_there = false;
  if (is_there) return;
  if (import_numpy() != 0) throw nb::python_error();
  is_there = true;
}

PyArray_Descr* bfloat16() {
  static PyArray_Descr* found = nullptr;  // Not made while it is initialised: the import gives the lock up.
  if (found == nullptr) {
    PyArray_Descr* descr = nullptr;
    const nb::object type = nb::module_::import_("ml_dtypes").attr("bfloat16");
    if (PyArray_DescrConverter(type.ptr(), &descr) != NPY_SUCCEED) throw nb::python_error();
    found = descr;
  }
  return found;
}

std::string_view bytes_in(nb::handle value) {
  return {PyBytes_AsString(value.ptr()), static_cast<size_t>(PyBytes_Size(value.ptr()))};
}

// New reference.
PyArray_Descr* descr_of(DType dtype) {
  constexpr std::array kTypes = {NPY_UINT8, NPY_INT8,    NPY_UINT16, NPY_INT16,   NPY_UINT32,  NPY_INT32, NPY_UINT64,
                                 NPY_INT64, NPY_FLOAT16, NPY_VOID,   NPY_FLOAT32, NPY_FLOAT64, NPY_BOOL,  NPY_OBJECT};
  if (dtype == DType::bf16) {
    Py_INCREF(reinterpret_cast<PyObject*>(bfloat16()));
    return bfloat16();
  }
  return PyArray_DescrFromType(kTypes.at(static_cast<size_t>(dtype)));
}

std::optional<DType> dtype_of_array(PyArrayObject* array) {
  const int number = PyArray_TYPE(array);
  switch (number) {
    case NPY_BOOL:
      return DType::boolean;
    case NPY_FLOAT16:
      return DType::f16;
    case NPY_FLOAT32:
      return DType::f32;
    case NPY_FLOAT64:
      return DType::f64;
    case NPY_OBJECT:
    case NPY_STRING:
    case NPY_UNICODE:
      return DType::bytes;
    default:
      break;
  }
  const npy_intp size = PyArray_ITEMSIZE(array);
  constexpr std::array kSigned = {DType::i8, DType::i16, DType::i32, DType::i64};
  constexpr std::array kUnsigned = {DType::u8, DType::u16, DType::u32, DType::u64};
  const size_t log = size == 1 ? 0 : size == 2 ? 1 : size == 4 ? 2 : 3;
  if (PyTypeNum_ISSIGNED(number) && PyTypeNum_ISINTEGER(number)) return kSigned.at(log);
  if (PyTypeNum_ISUNSIGNED(number)) return kUnsigned.at(log);
  if (PyTypeNum_ISUSERDEF(number) && size == 2 &&
      nb::cast<std::string>(nb::handle(reinterpret_cast<PyObject*>(PyArray_DESCR(array))).attr("name")) == "bfloat16") {
    return DType::bf16;
  }
  return std::nullopt;
}

// A Python object that keeps a tensor.
struct Lease {
  PyObject head;
  Tensor tensor;
};

void end_lease(PyObject* lease) {
  PyTypeObject* const type = Py_TYPE(lease);
  reinterpret_cast<Lease*>(lease)->tensor.~Tensor();
  PyObject_Free(lease);
  Py_DECREF(reinterpret_cast<PyObject*>(type));
}

// Two threads may make it at once, as making it may run the collector, which gives the interpreter's lock up. So it is
// no static object with an initialiser: the second thread would wait for the first one, and have that lock.
PyTypeObject* lease_type() {
  static std::atomic<PyTypeObject*> found = nullptr;
  if (PyTypeObject* const type = found.load(std::memory_order_acquire)) return type;
  PyType_Slot slots[] = {{Py_tp_dealloc, reinterpret_cast<void*>(end_lease)}, {0, nullptr}};
  PyType_Spec spec{"headpond._core.Lease", sizeof(Lease), 0, Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
                   slots};
  auto* const made = reinterpret_cast<PyTypeObject*>(PyType_FromSpec(&spec));
  if (made == nullptr) throw nb::python_error();
  PyTypeObject* first = nullptr;
  if (found.compare_exchange_strong(first, made)) return made;
  Py_DECREF(reinterpret_cast<PyObject*>(made));
  return first;
}

struct ReturnedLater {
  std::list<Tensor> tensor;
  std::shared_ptr<Returned> to;
};

void return_lease(PyObject* capsule) {
  const std::unique_ptr<ReturnedLater> lease(static_cast<ReturnedLater*>(PyCapsule_GetPointer(capsule, nullptr)));
  lease->to->add(lease->tensor);
}

template <class Lease>
nb::object capsule_of(std::unique_ptr<Lease> lease, PyCapsule_Destructor end) {
  nb::object made = nb::steal(PyCapsule_New(lease.get(), nullptr, end));
  if (!made.is_valid()) throw nb::python_error();
  (void)lease.release();
  return made;
}

// What keeps the memory of an array.
nb::object lease_of(Tensor&& tensor, const std::shared_ptr<Returned>& to) {
  if (to == nullptr) {
    auto* const made = PyObject_New(Lease, lease_type());
    if (made == nullptr) throw nb::python_error();
    new (&made->tensor) Tensor(std::move(tensor));
    return nb::steal(reinterpret_cast<PyObject*>(made));
  }
  auto lease = std::make_unique<ReturnedLater>();
  lease->tensor.push_back(std::move(tensor));
  lease->to = to;
  return capsule_of(std::move(lease), return_lease);
}

nb::object bytes_of(std::string_view text) {
  return nb::steal(PyBytes_FromStringAndSize(text.data(), std::ssize(text)));
}

nb::object texts_of(const Tensor& tensor, const npy_intp* dims) {
  nb::object array = nb::steal(PyArray_SimpleNew(tensor.rank(), dims, NPY_OBJECT));
  if (!array.is_valid()) throw nb::python_error();
  auto* const cells = static_cast<PyObject**>(PyArray_DATA(reinterpret_cast<PyArrayObject*>(array.ptr())));
  for (int64_t i = 0; i < tensor.size(); ++i) {
    PyObject* const before = cells[i];
    cells[i] = bytes_of(tensor.bytes_at(i)).release().ptr();
    Py_XDECREF(before);
  }
  return array;
}

Shape shape_of(PyArrayObject* array) {
  std::vector<int64_t> dims(PyArray_DIMS(array), PyArray_DIMS(array) + PyArray_NDIM(array));
  return Shape(std::span<const int64_t>(dims));
}

// NumPy makes objects of such integers.
bool is_beyond_64_bits(nb::handle value) {
  int64_t any_sign = 0;
  uint64_t large = 0;
  return PyLong_Check(value.ptr()) != 0 && !nb::try_cast(value, any_sign) && !nb::try_cast(value, large);
}

[[noreturn]] void refuse_object(nb::handle object, std::span<PyObject* const> all) {
  if (std::any_of(all.begin(), all.end(), [](PyObject* one) { return is_beyond_64_bits(one); }))
    refuse_argument("an integer that 64 bits cannot hold");
  refuse_argument(fmt::format("a value of type {}: objects must be bytes or str",
                              nb::cast<std::string>(object.type().attr("__name__"))));
}

Tensor texts(PyArrayObject* given) {
  const nb::object objects =
      nb::steal(PyArray_FromArray(given, PyArray_DescrFromType(NPY_OBJECT), NPY_ARRAY_DEFAULT | NPY_ARRAY_FORCECAST));
  if (!objects.is_valid()) throw nb::python_error();
  auto* const array = reinterpret_cast<PyArrayObject*>(objects.ptr());
  auto* const cells = static_cast<PyObject**>(PyArray_DATA(array));
  std::vector<std::string> values;
  for (npy_intp i = 0; i < PyArray_SIZE(array); ++i) {
    const nb::handle cell(cells[i]);
    if (PyBytes_Check(cell.ptr()) != 0) {
      values.emplace_back(bytes_in(cell));
    } else if (PyUnicode_Check(cell.ptr()) != 0) {
      values.push_back(nb::cast<std::string>(cell));
    } else {
      refuse_object(cell, {cells, static_cast<size_t>(PyArray_SIZE(array))});
    }
  }
  return Tensor::from(values, shape_of(array));
}

// What rounds to infinity: the largest number and half of what its last bit counts.
double infinity_of(DType dtype) {
  switch (dtype) {
    case DType::f16:
      return 65520;
    case DType::bf16:
      return 0x1.ffp127;
    case DType::f32:
      return 0x1.ffffffp127;
    default:
      return std::numeric_limits<double>::infinity();
  }
}

nb::object carray(PyArrayObject* array, DType dtype) {
  nb::object made = nb::steal(PyArray_FromArray(array, descr_of(dtype), NPY_ARRAY_DEFAULT | NPY_ARRAY_FORCECAST));
  if (!made.is_valid()) throw nb::python_error();
  return made;
}

template <class T>
std::span<const T> values_of(const nb::object& carray) {
  auto* const array = reinterpret_cast<PyArrayObject*>(carray.ptr());
  return {static_cast<const T*>(PyArray_DATA(array)), static_cast<size_t>(PyArray_SIZE(array))};
}

bool becomes_infinite(PyArrayObject* array, DType want) {
  const nb::object all = carray(array, DType::f64);
  const std::span<const double> values = values_of<double>(all);
  const double end = infinity_of(want);
  return std::any_of(values.begin(), values.end(),
                     [end](double one) { return std::isfinite(one) && std::abs(one) >= end; });
}

bool is_unsigned(DType dtype) {
  return dtype == DType::u8 || dtype == DType::u16 || dtype == DType::u32 || dtype == DType::u64;
}

// Of an integer dtype with a sign: a number below 0, which has the bits of another one without a sign.
bool any_negative(PyArrayObject* array, DType dtype) {
  if (is_unsigned(dtype)) return false;
  const nb::object all = carray(array, DType::i64);
  const std::span<const int64_t> values = values_of<int64_t>(all);
  return std::any_of(values.begin(), values.end(), [](int64_t one) { return one < 0; });
}

// Whether numbers are others with a sign than without one.
bool changes_sign(PyArrayObject* array, PyArrayObject* made, DType has, DType want) {
  return is_unsigned(has) != is_unsigned(want) && (any_negative(array, has) || any_negative(made, want));
}

// Numbers that are no array, as `want`, if that keeps them: integers as any number, floats as float32 too.
nb::object converted(PyArrayObject* array, DType has, DType want) {
  const bool to_float = want == DType::f16 || want == DType::bf16 || want == DType::f32 || want == DType::f64;
  const bool is_float = has == DType::f64, is_empty = PyArray_SIZE(array) == 0;
  if (!is_empty && (has == DType::boolean || want == DType::boolean || (is_float && !to_float)))
    refuse_argument(fmt::format("{} where {} is needed", name(has), name(want)));
  const auto refuse = [&] { refuse_argument(fmt::format("a number that {} cannot hold", name(want))); };
  if (to_float && becomes_infinite(array, want)) refuse();
  nb::object made = carray(array, want);
  if (!is_float) {
    auto* const made_array = reinterpret_cast<PyArrayObject*>(made.ptr());
    const nb::object back = carray(made_array, has);
    const nb::object same =
        nb::module_::import_("numpy").attr("array_equal")(back, nb::handle(reinterpret_cast<PyObject*>(array)));
    if (!nb::cast<bool>(same) || (!to_float && changes_sign(array, made_array, has, want))) refuse();
  }
  return made;
}

// Most lists of texts, which need not become an array of NumPy's own texts first.
bool is_list_of_texts(nb::handle value) {
  if (!nb::isinstance<nb::list>(value) && !nb::isinstance<nb::tuple>(value)) return false;
  if (nb::len(value) == 0) return false;
  const nb::object first = value[0];
  return PyBytes_Check(first.ptr()) != 0 || PyUnicode_Check(first.ptr()) != 0;
}

// Of a tensor of PyTorch, which gives NumPy its bits alone.
nb::object bfloat16_array(nb::handle tensor) {
  const nb::object bits = tensor.attr("view")(nb::module_::import_("torch").attr("int16")).attr("numpy")();
  return bits.attr("view")(nb::handle(reinterpret_cast<PyObject*>(bfloat16())));
}

nb::object any_array(nb::handle value, PyArray_Descr* descr) {
  nb::object array = nb::steal(PyArray_FromAny(value.ptr(), descr, 0, 0, 0, nullptr));
  if (array.is_valid()) return array;
  const nb::python_error refused;
  if (!nb::hasattr(value, "detach") || !nb::hasattr(value, "dtype")) throw refused;
  const nb::object dtype = value.attr("dtype");
  if (std::string_view(nb::str(nb::handle(dtype)).c_str()) == "torch.bfloat16") return bfloat16_array(value);
  throw refused;
}

// NumPy's own arrays of texts drop zeros at the end, and have numbers as texts.
nb::object array_in(nb::handle value, bool is_array) {
  nb::object array = any_array(value, is_list_of_texts(value) ? descr_of(DType::bytes) : nullptr);
  const int type = PyArray_TYPE(reinterpret_cast<PyArrayObject*>(array.ptr()));
  const bool has_texts = type == NPY_STRING || type == NPY_UNICODE;
  return has_texts && !is_array ? any_array(value, descr_of(DType::bytes)) : array;
}

// NumPy's constructor asks for nothing else that is tried here.
bool is_only_dlpack(nb::handle value) {
  return nb::hasattr(value, "__dlpack__") && PyObject_CheckBuffer(value.ptr()) == 0 && !nb::hasattr(value, "__array__");
}

// Nobody can change it later: only the caller's value, or what that holds it in, and this call refer to it.
bool is_its_own(PyArrayObject* array) {
  return Py_REFCNT(reinterpret_cast<PyObject*>(array)) <= 2 && PyArray_BASE(array) == nullptr &&
         PyArray_CHKFLAGS(array, NPY_ARRAY_OWNDATA);
}

Tensor numbers(nb::object array, DType dtype, Share share) {
  auto* const own = reinterpret_cast<PyArrayObject*>(array.ptr());
  const Shape shape = shape_of(own);
  const auto size = static_cast<size_t>(PyArray_NBYTES(own));
  const bool shares =
      size > kInlineBytes && (share == Share::always || (share == Share::if_its_own && is_its_own(own)));
  if (shares) {
    const void* const data = PyArray_DATA(own);
    PyObject* const kept = array.release().ptr();
    Tensor shared = Tensor::from_memory(data, dtype, shape, [kept] { drop(kept); });
    if (share == Share::if_its_own) MemoryAccount::set_only_user(*shared.owner());
    return shared;
  }
  Tensor copy = Tensor::empty(dtype, shape);
  if (size > 0) std::memcpy(copy.mutable_data(), PyArray_DATA(own), size);
  return copy;
}

}  // namespace

void need_dtype(DType dtype) {
  if (dtype != DType::bf16) return;
  need_numpy();
  (void)bfloat16();
}

nb::object array_of(Tensor tensor, const std::shared_ptr<Returned>& to) {
  if (tensor.dtype() == DType::bytes && tensor.rank() == 0) return bytes_of(tensor.bytes_at(0));
  need_numpy();
  std::array<npy_intp, 64> dims;  // Those that there are.  NOLINT(cppcoreguidelines-pro-type-member-init)
  for (int axis = 0; axis < tensor.rank(); ++axis) dims.at(static_cast<size_t>(axis)) = tensor.dim(axis);
  if (tensor.dtype() == DType::bytes) return texts_of(tensor, dims.data());
  PyArray_Descr* const descr = descr_of(tensor.dtype());
  if (tensor.rank() == 0) {
    nb::object scalar = nb::steal(PyArray_Scalar(const_cast<std::byte*>(tensor.data()), descr, nullptr));
    Py_DECREF(descr);
    if (!scalar.is_valid()) throw nb::python_error();
    return scalar;
  }
  const Buffer* const owner = tensor.owner();
  if (owner == nullptr) {  // Its values lie in the tensor, or nobody keeps them.
    nb::object copy =
        nb::steal(PyArray_NewFromDescr(&PyArray_Type, descr, tensor.rank(), dims.data(), nullptr, nullptr, 0, nullptr));
    if (!copy.is_valid()) throw nb::python_error();
    if (tensor.byte_size() > 0)
      std::memcpy(PyArray_DATA(reinterpret_cast<PyArrayObject*>(copy.ptr())), tensor.data(), tensor.byte_size());
    return copy;
  }
  const bool is_exclusive = owner->is_unique() && owner->data() == tensor.data();
  const int flags = NPY_ARRAY_C_CONTIGUOUS | NPY_ARRAY_ALIGNED | (is_exclusive ? NPY_ARRAY_WRITEABLE : 0);
  nb::object array = nb::steal(PyArray_NewFromDescr(&PyArray_Type, descr, tensor.rank(), dims.data(), nullptr,
                                                    const_cast<std::byte*>(tensor.data()), flags, nullptr));
  if (!array.is_valid()) throw nb::python_error();
  PyObject* const base = lease_of(std::move(tensor), to).release().ptr();
  if (PyArray_SetBaseObject(reinterpret_cast<PyArrayObject*>(array.ptr()), base) != 0) throw nb::python_error();
  return array;
}

Tensor tensor_of(nb::handle value, std::optional<DType> want, Share share) {
  if (PyBytes_Check(value.ptr()) != 0) {
    return Tensor::scalar(bytes_in(value));
  }
  if (PyUnicode_Check(value.ptr()) != 0) return Tensor::scalar(std::string_view(text_of(value)));
  if (value.is_none()) refuse_argument("None");
  if (PyDict_Check(value.ptr()) != 0) refuse_argument("a dict: fields are flat, so name what is in it 'a/b'");
  need_numpy();
  const bool is_array = PyArray_Check(value.ptr()) || PyArray_CheckScalar(value.ptr());
  const nb::object held =
      is_array ? nb::object() : nb::borrow(value);  // Its methods may remove it from the dict that alone has it.
  if (!is_array && is_only_dlpack(value))
    return tensor_of(nb::module_::import_("numpy").attr("from_dlpack")(value), want, share);
  nb::object array = array_in(value, is_array);
  auto* own = reinterpret_cast<PyArrayObject*>(array.ptr());
  const auto dtype = dtype_of_array(own);
  if (!dtype) {
    refuse_argument(
        fmt::format("an array of dtype {}, which no tensor has",
                    nb::cast<std::string>(nb::str(nb::handle(reinterpret_cast<PyObject*>(PyArray_DESCR(own)))))));
  }
  if (*dtype == DType::bytes) return texts(own);
  const bool has_dtype = is_array || nb::hasattr(value, "dtype");
  if (want && *want != *dtype && !has_dtype) {
    if (*want != DType::bytes) return numbers(converted(own, *dtype, *want), *want, Share::copy);
    if (PyArray_SIZE(own) == 0) return texts(own);  // An empty list has no dtype of its own.
  }
  if (!PyArray_ISCARRAY_RO(own) || PyArray_ISBYTESWAPPED(own)) {
    array = nb::steal(PyArray_FromArray(own, descr_of(*dtype), NPY_ARRAY_DEFAULT));
    if (!array.is_valid()) throw nb::python_error();
  }
  return numbers(std::move(array), *dtype, share);
}

}  // namespace headpond::python
