// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "headpond/dataset/dataset.h"
#include "headpond/dataset/ops/batch/padded_batch_internal.h"

namespace headpond::internal {
namespace {

std::string label_of(const Spec& spec, size_t i) { return spec[i].name.empty() ? fmt::format("{}", i) : spec[i].name; }

void check_labels(const std::string& op, const Spec& spec, const std::vector<PaddedField>& fields, const char* option,
                  const auto& by_field) {
  for (const auto& [label, value] : by_field) {
    if (std::none_of(fields.begin(), fields.end(), [&](const PaddedField& field) { return field.label == label; })) {
      refuse(op, fmt::format("{} names field '{}', which is not in {}", option, label, to_string(spec)));
    }
  }
}

// The padded shape that was asked for, its unknown dimensions taken from the input, if known there.
Shape limit_of(const std::string& op, const FieldSpec& field, const std::string& label, const Shape& asked) {
  if (asked.rank() != field.shape.rank()) {
    refuse(op, fmt::format("padded_shapes of field '{}' is {}, which is not of the rank of {}", label,
                           asked.to_string(), field.shape.to_string()));
  }
  std::vector<int64_t> dims(asked.dims().begin(), asked.dims().end());
  for (size_t axis = 0; axis < dims.size(); ++axis) {
    if (dims[axis] == kUnknown) dims[axis] = field.shape[static_cast<int>(axis)];
  }
  return Shape(std::span<const int64_t>(dims));
}

// All of it, so that other texts are other plans.
std::string shown(const std::string& text) {
  std::string all = "'";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    const bool is_plain = byte >= 0x20 && byte < 0x7f && c != '\'' && c != '\\';
    all += is_plain ? std::string(1, c) : fmt::format("\\x{:02x}", byte);
  }
  return all + "'";
}

std::string shown(const PadWith& with) {
  return std::visit(
      [&]<class T>(const T& value) {
        if constexpr (std::is_same_v<T, std::string>) {
          return shown(value);
        } else {
          return fmt::format("{}", value);
        }
      },
      with.value());
}

void set_value(const std::string& op, DType dtype, const PadWith& with, PaddedField& field) {
  field.said = shown(with);
  const auto* const text = std::get_if<std::string>(&with.value());
  if (text != nullptr && dtype == DType::bytes) {
    field.text = *text;
    return;
  }
  const auto value = padding_value(dtype, with);
  if (!value) {
    refuse(op,
           fmt::format("{} is not a padding value for field '{}' of dtype {}", field.said, field.label, name(dtype)));
  }
  field.value = *value;
}

}  // namespace

std::vector<PaddedField> padded_fields(const std::string& op, const Spec& spec,
                                       const std::map<std::string, Shape>& padded_shapes,
                                       const std::map<std::string, PadWith>& padding_values) {
  std::vector<PaddedField> fields;
  for (size_t i = 0; i < spec.size(); ++i) {
    PaddedField field{.label = label_of(spec, i), .limit = spec[i].shape};
    if (const auto shape = padded_shapes.find(field.label); shape != padded_shapes.end()) {
      field.limit = limit_of(op, spec[i], field.label, shape->second);
    }
    if (const auto said = padding_values.find(field.label); said != padding_values.end()) {
      set_value(op, spec[i].dtype, said->second, field);
    }
    fields.push_back(std::move(field));
  }
  check_labels(op, spec, fields, "padded_shapes", padded_shapes);
  check_labels(op, spec, fields, "padding_values", padding_values);
  return fields;
}

std::string to_string(const std::vector<PaddedField>& fields) {
  std::string text;
  for (const PaddedField& field : fields) {
    text += fmt::format(", {}={} pad {}", field.label, field.limit.to_string(), field.said);
  }
  return text;
}

Spec padded_spec(const Spec& spec, const std::vector<PaddedField>& fields) {
  Spec padded = spec;
  for (size_t i = 0; i < spec.size(); ++i) padded[i].shape = fields[i].limit;
  return padded;
}

Error check_padded(const Spec& spec, const std::vector<PaddedField>& fields, int64_t number, const Element& row) {
  if (row.size() != spec.size()) {
    return {ErrorKind::InvalidArgument, fmt::format("{} fields, expected {}", row.size(), to_string(spec))};
  }
  for (size_t i = 0; i < spec.size(); ++i) {
    const Tensor& tensor = row[i];
    const Shape& limit = fields[i].limit;
    if (tensor.dtype() != spec[i].dtype || tensor.rank() != limit.rank()) {
      return {ErrorKind::InvalidArgument,
              fmt::format("field '{}' of element {} of the batch is {}{}, which cannot be padded to {}{}",
                          fields[i].label, number, name(tensor.dtype()), tensor.shape().to_string(),
                          name(spec[i].dtype), limit.to_string())};
    }
    for (int axis = 0; axis < limit.rank(); ++axis) {
      if (limit[axis] == kUnknown || tensor.dim(axis) <= limit[axis]) continue;
      return {ErrorKind::DataLoss,
              fmt::format("field '{}' of element {} of the batch has shape {}, longer than the padded shape {}",
                          fields[i].label, number, tensor.shape().to_string(), limit.to_string())};
    }
  }
  return {};
}

void stack_padded(std::span<const Element> rows, const std::vector<PaddedField>& fields, const Spec& spec,
                  Context& context, OutputSlots outputs, Element& out) {
  for (size_t i = 0; i < fields.size(); ++i) {
    const Shape shape = common_shape(fields[i].limit, rows, i);
    const Shape all = shape.stacked(static_cast<int64_t>(rows.size()));
    const DType dtype = spec[i].dtype;
    if (!all.size()) {
      throw Exception(
          Error(ErrorKind::InvalidArgument, "a padded batch of shape " + all.to_string() + " is too large"));
    }
    if (dtype == DType::bytes) {
      std::vector<std::string_view> values;
      for (const Element& row : rows) append_padded(row[i], shape, values, fields[i].text);
      out.append(Tensor::from(std::span<const std::string_view>(values), all));
      continue;
    }
    std::byte* to = context.allocate_output(out, outputs, dtype, all);
    for (const Element& row : rows) {
      write_padded(row[i], shape, fields[i].value, to);
      to += static_cast<size_t>(*shape.size()) * item_size(dtype);
    }
  }
}

}  // namespace headpond::internal
