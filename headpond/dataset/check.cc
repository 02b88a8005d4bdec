// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "headpond/dataset/check_internal.h"
#include "headpond/dataset/dataset.h"

namespace headpond::internal {
namespace {

bool has_shape(const Tensor& tensor, const Shape& shape) {
  return tensor.has_shape(shape) || (!shape.is_full() && shape.admits(tensor.shape()));
}

Spec spec_of(const Element& element) {
  Spec spec;
  for (size_t i = 0; i < element.size(); ++i) {
    spec.push_back({element.names() ? (*element.names())[i] : "", element[i].dtype(), element[i].shape()});
  }
  return spec;
}

}  // namespace

Error check_element(const Spec& spec, const Element& element) {
  bool good = element.size() == spec.size();
  for (size_t i = 0; good && i < spec.size(); ++i) {
    good = element[i].dtype() == spec[i].dtype && has_shape(element[i], spec[i].shape) &&
           (!element.names() || (*element.names())[i] == spec[i].name);
  }
  if (good) return {};
  return {ErrorKind::InvalidArgument,
          fmt::format("expected {}, found {}", to_string(spec), to_string(spec_of(element)))};
}

}  // namespace headpond::internal
