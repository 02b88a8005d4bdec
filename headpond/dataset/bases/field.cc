// SPDX-License-Identifier: Apache-2.0
#include "headpond/dataset/bases/field.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <string_view>
#include <unordered_set>

#include "headpond/dataset/dataset.h"

namespace headpond {

size_t field_index(const std::string& op, const Spec& spec, const std::string& name) {
  if (name.empty() && spec.size() == 1) return 0;
  if (name.empty()) refuse(op, fmt::format("which field of {}? give its name", to_string(spec)));
  for (size_t i = 0; i < spec.size(); ++i) {
    if (spec[i].name == name) return i;
  }
  refuse(op, fmt::format("no field '{}' in {}", name, to_string(spec)));
}

void check_names(const std::string& op, const Spec& spec) {
  std::unordered_set<std::string_view> names;
  for (const FieldSpec& field : spec) {
    if (field.name.empty() || names.insert(field.name).second) continue;
    refuse(op, fmt::format("two fields named '{}' in {}", field.name, to_string(spec)));
  }
}

bool internal::is_fixed(const FieldSpec& field) { return field.dtype != DType::bytes && field.shape.is_full(); }

Element internal::zeros_of(const Spec& spec) {
  Element element;
  for (const FieldSpec& field : spec) {
    std::vector<int64_t> dims(field.shape.dims().begin(), field.shape.dims().end());
    std::replace(dims.begin(), dims.end(), kUnknown, int64_t{1});
    const Shape shape(dims);
    if (field.dtype == DType::bytes) {
      element.append(Tensor::from(std::vector<std::string>(static_cast<size_t>(*shape.size())), shape));
    } else {
      Tensor& tensor = element.append(Tensor::empty(field.dtype, shape));
      if (tensor.byte_size() > 0) std::memset(tensor.mutable_data(), 0, tensor.byte_size());
    }
  }
  return element;
}

std::vector<std::byte*> allocate_fields(const Spec& spec, Context& context, OutputSlots outputs, Element& out) {
  for (const FieldSpec& field : spec) {
    if (internal::is_fixed(field)) {
      context.allocate_output(out, outputs, field.dtype, field.shape);
    } else {
      out.append(Tensor());
    }
  }
  // Only now: a small tensor lives inside the element, which moves it when it grows.
  std::vector<std::byte*> targets;
  targets.reserve(spec.size());
  for (size_t i = 0; i < spec.size(); ++i)
    targets.push_back(internal::is_fixed(spec[i]) ? out[i].mutable_data() : nullptr);
  return targets;
}

}  // namespace headpond
