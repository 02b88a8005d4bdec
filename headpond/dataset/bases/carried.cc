// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "headpond/base/crc32c.h"
#include "headpond/dataset/bases/carried_internal.h"

namespace headpond::internal {
namespace {

void visit_texts(StateVisitor& visitor, const Shape& shape, Tensor& tensor) {
  std::vector<std::string> texts(static_cast<size_t>(*shape.size()));
  for (size_t i = 0; i < texts.size(); ++i) {
    if (!visitor.is_restoring()) texts[i] = tensor.bytes_at(static_cast<int64_t>(i));
    visitor.text(texts[i]);
  }
  if (visitor.is_restoring()) {
    const std::vector<std::string_view> views(texts.begin(), texts.end());
    tensor = Tensor::from(std::span<const std::string_view>(views), shape);
  }
}

void visit_numbers(StateVisitor& visitor, const FieldSpec& field, Tensor& tensor) {
  std::string bytes;
  if (!visitor.is_restoring()) bytes.assign(reinterpret_cast<const char*>(tensor.data()), tensor.byte_size());
  visitor.text(bytes);
  if (!visitor.is_restoring()) return;
  if (bytes.size() != tensor.byte_size()) return visitor.refuse();
  tensor = Tensor::empty(field.dtype, field.shape);
  if (!bytes.empty()) std::memcpy(tensor.mutable_data(), bytes.data(), bytes.size());
}

}  // namespace

Spec spec_of(const Element& element) {
  Spec spec;
  for (size_t i = 0; i < element.size(); ++i) {
    spec.push_back({element.names() ? (*element.names())[i] : "", element[i].dtype(), element[i].shape()});
  }
  return spec;
}

uint32_t digest_of(const Element& element) {
  uint32_t sum = 0;
  for (size_t i = 0; i < element.size(); ++i) {
    const std::string shape = fmt::format("{:08x}{}{}", sum, name(element[i].dtype()), element[i].shape().to_string());
    sum = crc32c_extend(crc32c(shape), {element[i].data(), element[i].byte_size()});
  }
  return sum;
}

void visit_values(StateVisitor& visitor, const Spec& spec, Element& element) {
  for (size_t i = 0; i < spec.size() && visitor.ok(); ++i) {
    if (spec[i].dtype == DType::bytes) {
      visit_texts(visitor, spec[i].shape, element[i]);
    } else {
      visit_numbers(visitor, spec[i], element[i]);
    }
  }
}

}  // namespace headpond::internal
