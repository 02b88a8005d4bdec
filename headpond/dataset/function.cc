// SPDX-License-Identifier: Apache-2.0
#include "headpond/dataset/function.h"

#include <fmt/format.h>

#include "headpond/dataset/dataset.h"

namespace headpond::internal {
namespace {

bool can_read(DType wanted, DType field) {
  if (wanted == field) return true;
  if (wanted == DType::u16) return field == DType::f16 || field == DType::bf16;
  return wanted == DType::u8 && field == DType::boolean;
}

}  // namespace

void check_argument(const std::string& op, size_t number, const FieldSpec& field, DType dtype, bool scalar) {
  const bool fits = can_read(dtype, field.dtype) && (!scalar || field.shape.rank() == 0);
  if (fits) return;
  refuse(op, fmt::format("argument {} of the function takes {}{}, the field is {}", number, name(dtype),
                         scalar ? "[]" : " values", to_string({field})));
}

void check_count(const std::string& op, size_t arguments, const Spec& input) {
  if (input.size() == arguments) return;
  refuse(op, fmt::format("the function takes {} arguments, an element has {} fields: {}", arguments, input.size(),
                         to_string(input)));
}

}  // namespace headpond::internal
