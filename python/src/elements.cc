// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "nanobind/stl/string.h"
#include "python/src/python.h"

namespace headpond::python {
namespace {

[[noreturn]] void refuse_spec() {
  throw Exception(
      Error(ErrorKind::InvalidArgument,
            "a spec is (dtype, shape), a dtype, or a dict of these by field, for example {'x': (hp.f32, (3,))}"));
}

FieldSpec to_field(std::string name, nb::handle spec) {
  if (nb::isinstance<nb::str>(spec)) return {std::move(name), to_dtype(spec), Shape()};
  if (!nb::isinstance<nb::tuple>(spec) || nb::len(spec) != 2) refuse_spec();
  return {std::move(name), to_dtype(spec[0]), to_shape(spec[1])};
}

int64_t to_dim(nb::handle dim) {
  int64_t made = 0;
  if (nb::try_cast(dim, made)) return made;
  throw Exception(Error(ErrorKind::InvalidArgument, fmt::format("a dimension of a shape is an integer or None, not {}",
                                                                nb::cast<std::string>(nb::repr(dim)))));
}

bool is_pair(nb::handle spec) {
  return nb::isinstance<nb::tuple>(spec) && nb::len(spec) == 2 && nb::isinstance<nb::str>(spec[0]) &&
         nb::isinstance<nb::tuple>(spec[1]);
}

std::string expected(const Spec& spec) { return to_string(spec); }

std::string what_is_wrong(const std::string& field, const Exception& error) {
  const std::string& what = error.error().message();
  return field.empty() ? what : fmt::format("field '{}' is {}", field, what);
}

}  // namespace

Keys::Keys(const Spec& spec) {
  const bool has_names =
      std::any_of(spec.begin(), spec.end(), [](const FieldSpec& field) { return !field.name.empty(); });
  for (const FieldSpec& field : spec) {
    need_dtype(field.dtype);
    if (has_names) names_.push_back(to_text(field.name));
  }
}

Keys::Keys(const std::vector<std::string>& names) {
  for (const std::string& name : names) names_.push_back(to_text(name));
}

Keys::~Keys() {
  for (nb::object& name : names_) drop(name.release().ptr());
}

nb::object Keys::value_of(Element&& element, const std::shared_ptr<Returned>& to) const {
  if (!names_.empty()) {
    nb::dict all;
    for (size_t i = 0; i < element.size(); ++i) {
      const nb::object value = array_of(std::move(element[i]), to);
      if (PyDict_SetItem(all.ptr(), names_[i].ptr(), value.ptr()) != 0) throw nb::python_error();
    }
    return all;
  }
  if (element.size() == 1) return array_of(std::move(element[0]), to);
  nb::list all;
  for (size_t i = 0; i < element.size(); ++i) all.append(array_of(std::move(element[i]), to));
  return nb::tuple(all);
}

Element element_of(const std::string& who, nb::handle value, const Spec& spec, Share share) {
  const auto refuse = [&](const std::string& what) {
    throw Exception(Error(ErrorKind::InvalidArgument, fmt::format("{}: {}; expected {}", who, what, expected(spec))));
  };
  const bool has_names =
      std::any_of(spec.begin(), spec.end(), [](const FieldSpec& field) { return !field.name.empty(); });
  if (share == Share::if_its_own && Py_REFCNT(value.ptr()) > 1) share = Share::copy;
  Element made;
  made.reserve(spec.size());
  const auto add = [&](const FieldSpec& field, nb::handle one) {
    try {
      made.append(tensor_of(one, field.dtype, share));
    } catch (const Exception& error) {
      refuse(what_is_wrong(field.name, error));
    }
  };
  if (nb::isinstance<nb::dict>(value)) {
    if (!has_names) refuse("a dict, and the fields have no names");
    if (nb::len(value) != spec.size()) refuse(fmt::format("{} fields", nb::len(value)));
    for (const FieldSpec& field : spec) {
      const nb::handle one = value_in(value, field.name);
      if (!one.is_valid()) refuse(fmt::format("no field '{}'", field.name));
      add(field, one);
    }
  } else if (spec.size() == 1 && !(nb::isinstance<nb::tuple>(value) && nb::len(value) == 1)) {
    add(spec[0], value);
  } else {
    if (!nb::isinstance<nb::tuple>(value) && !nb::isinstance<nb::list>(value)) refuse("neither a dict nor a tuple");
    if (nb::len(value) != spec.size()) refuse(fmt::format("{} fields", nb::len(value)));
    // A list may change while one of its values becomes an array.
    const bool is_tuple = nb::isinstance<nb::tuple>(value);
    for (size_t i = 0; i < spec.size(); ++i) {
      is_tuple ? add(spec[i], PyTuple_GET_ITEM(value.ptr(), static_cast<Py_ssize_t>(i)))
               : add(spec[i], nb::object(value[i]));
    }
  }
  return made;
}

Spec spec_of(nb::handle value) {
  Spec spec;
  const auto add = [&](const std::string& name, nb::handle one) {
    const Tensor tensor = [&] {
      try {
        return tensor_of(one);
      } catch (const Exception& error) {
        throw Exception(Error(ErrorKind::InvalidArgument, what_is_wrong(name, error)));
      }
    }();
    const std::vector<int64_t> unknown(static_cast<size_t>(tensor.rank()), kUnknown);
    spec.push_back({name, tensor.dtype(), Shape(std::span<const int64_t>(unknown))});
  };
  if (nb::isinstance<nb::dict>(value)) {
    for (auto [key, one] : nb::borrow<nb::dict>(value)) add(text_of(key), one);
  } else if (nb::isinstance<nb::tuple>(value)) {
    for (nb::handle one : nb::borrow<nb::tuple>(value)) add("", one);
  } else {
    add("", value);
  }
  return spec;
}

nb::handle value_in(nb::handle dict, const std::string& name) {
  PyObject* const found = PyDict_GetItemWithError(dict.ptr(), to_text(name).ptr());
  if (found == nullptr && PyErr_Occurred() != nullptr) throw nb::python_error();
  return found;
}

nb::object to_text(const std::string& text) {
  nb::object made = nb::steal(PyUnicode_DecodeUTF8(text.data(), std::ssize(text), "surrogateescape"));
  if (!made.is_valid()) throw nb::python_error();
  return made;
}

std::string text_of(nb::handle text) {
  if (nb::isinstance<nb::bytes>(text)) {
    const auto bytes = nb::borrow<nb::bytes>(text);
    return {bytes.c_str(), bytes.size()};
  }
  if (!nb::isinstance<nb::str>(text)) {
    throw Exception(Error(ErrorKind::InvalidArgument,
                          fmt::format("a text is needed, not {}", nb::cast<std::string>(nb::repr(text)))));
  }
  const nb::object bytes = nb::steal(PyUnicode_AsEncodedString(text.ptr(), "utf-8", "surrogateescape"));
  if (!bytes.is_valid()) throw nb::python_error();
  return text_of(bytes);
}

Spec to_spec(nb::handle spec) {
  if (nb::isinstance<nb::dict>(spec)) {
    Spec made;
    for (auto [key, one] : nb::borrow<nb::dict>(spec)) made.push_back(to_field(text_of(key), one));
    return made;
  }
  if (nb::isinstance<nb::str>(spec) || is_pair(spec)) return {to_field("", spec)};
  if (!nb::isinstance<nb::tuple>(spec) && !nb::isinstance<nb::list>(spec)) refuse_spec();
  Spec made;
  for (nb::handle one : spec) made.push_back(to_field("", one));
  return made;
}

nb::object from_spec(const Spec& spec) {
  nb::list fields;
  for (const FieldSpec& field : spec) {
    nb::list dims;
    for (const int64_t dim : field.shape.dims()) dims.append(dim == kUnknown ? nb::none() : nb::object(nb::int_(dim)));
    fields.append(nb::make_tuple(to_text(field.name), nb::cast(std::string(name(field.dtype))), nb::tuple(dims)));
  }
  return fields;
}

DType to_dtype(nb::handle named) {
  const auto text = nb::cast<std::string>(named);
  for (int i = 0; i <= static_cast<int>(DType::bytes); ++i) {
    if (name(static_cast<DType>(i)) == text) return static_cast<DType>(i);
  }
  throw Exception(Error(ErrorKind::InvalidArgument, fmt::format("no dtype '{}'", text)));
}

Shape to_shape(nb::handle shape) {
  std::vector<int64_t> dims;
  for (nb::handle dim : shape) dims.push_back(dim.is_none() ? kUnknown : to_dim(dim));
  return Shape(std::span<const int64_t>(dims));
}

Wait to_wait(std::optional<double> timeout) {
  if (!timeout) return {};
  if (std::isnan(*timeout)) throw Exception(Error(ErrorKind::InvalidArgument, "timeout is not a number"));
  constexpr double kMostSeconds = 1e9;
  return {.timeout = std::chrono::nanoseconds(static_cast<int64_t>(std::clamp(*timeout, 0.0, kMostSeconds) * 1e9))};
}

}  // namespace headpond::python
