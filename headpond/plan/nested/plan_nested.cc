// SPDX-License-Identifier: Apache-2.0
#include "headpond/plan/nested/plan_nested.h"

#include <fmt/format.h>

#include <algorithm>
#include <type_traits>
#include <utility>

#include "headpond/base/crc32c.h"
#include "headpond/dataset/ops.h"
#include "headpond/plan/named_fields.h"

namespace headpond::plan {
namespace {

// With positions all datasets are made and kept when a run begins; those of more elements are made one by one.
constexpr int64_t kMostKept = 100'000;

using Scalar = decltype(PlanValue::is);

template <class T>
Scalar number(const Tensor& tensor) {
  if constexpr (std::is_floating_point_v<T>) {
    return static_cast<double>(tensor.item<T>());
  } else {
    return static_cast<int64_t>(tensor.item<T>());
  }
}

// The only value of a tensor; nullopt for others, and for the short floats, which have no type of C++.
std::optional<Scalar> scalar_of(const Tensor& tensor) {
  if (tensor.rank() != 0) return {};
  switch (tensor.dtype()) {
    case DType::bytes:
      return std::string(tensor.bytes_at(0));
    case DType::boolean:
      return static_cast<int64_t>(*tensor.data());
    case DType::u8:
      return number<uint8_t>(tensor);
    case DType::i8:
      return number<int8_t>(tensor);
    case DType::u16:
      return number<uint16_t>(tensor);
    case DType::i16:
      return number<int16_t>(tensor);
    case DType::u32:
      return number<uint32_t>(tensor);
    case DType::i32:
      return number<int32_t>(tensor);
    case DType::u64:
      return number<uint64_t>(tensor);
    case DType::i64:
      return number<int64_t>(tensor);
    case DType::f32:
      return number<float>(tensor);
    case DType::f64:
      return number<double>(tensor);
    default:
      return {};
  }
}

// The text of it in an expression: a float is never taken for an integer.
std::string shown(const Scalar& value) {
  if (const auto* const text = std::get_if<std::string>(&value)) return *text;
  if (const auto* const integer = std::get_if<int64_t>(&value)) return fmt::format("{}", *integer);
  std::string text = fmt::format("{}", std::get<double>(value));
  return text.find_first_of(".en") == std::string::npos ? text + ".0" : text;
}

Scalar filled_text(const std::string& text, const Spec& spec, const Element& element) {
  std::string made = text;
  for (size_t i = 0; i < spec.size(); ++i) {
    const std::string mark = "{" + shown_name(spec, i) + "}";
    if (text.find(mark) == std::string::npos) continue;
    const auto value = scalar_of(element[i]);
    if (!value) continue;
    if (text == mark) return *value;
    const std::string by = shown(*value);
    for (size_t at = made.find(mark); at != std::string::npos; at = made.find(mark, at + by.size())) {
      made.replace(at, mark.size(), by);
    }
  }
  return made;
}

std::optional<Kind> kind_over(const Dataset& input) {
  const Lazy<int64_t>& slots = input.node()->facts().slots;
  return slots.is_known() && slots.get() <= kMostKept ? std::nullopt : std::optional(Kind::stream);
}

InterleaveOptions interleave_options(const PlanStep& step) {
  return {.cycle_length = step.args.integer("cycle_length", 16), .block_length = step.args.integer("block_length", 1)};
}

// All inputs, for the fields that fit them.
Dataset joined(const std::vector<Dataset>& parts) {
  try {
    return concatenate(parts);
  } catch (const Exception& error) {
    const std::string& why = error.error().message();
    refuse("interleave", why.substr(why.find(": ") + 2));
  }
}

// The inputs in turn: the datasets of their numbers.
Dataset interleaved_inputs(const PlanStep& step) {
  const std::vector<Dataset> parts = alike(step.inputs);
  std::string identities;
  for (const auto& [chain, input] : step.inputs) {
    identities += internal::identity_of(input) + "\n";
  }
  const Dataset all = joined(parts);
  const bool any_iterates =
      std::any_of(parts.begin(), parts.end(), [](const Dataset& part) { return part.node()->iterates(); });
  InterleaveOptions options = interleave_options(step);
  options.output = all.spec();
  options.kind = any_iterates ? Kind::stream : all.kind();
  options.name = fmt::format("{} inputs {:08x}", parts.size(), crc32c(identities));
  const auto count = static_cast<int64_t>(parts.size());
  return range(count) | interleave([parts](int64_t i) { return parts[static_cast<size_t>(i)]; }, options);
}

std::optional<Kind> nested_kind(const PlanStep& step) {
  const std::optional<Kind> over = kind_over(step.input());
  return over ? over : step.nested_kind;
}

}  // namespace

PlanValue filled(const PlanValue& value, const Spec& spec, const Element& element) {
  PlanValue made{.line = value.line, .is = value.is};
  if (const auto* const text = value.as<std::string>()) {
    made.is = filled_text(*text, spec, element);
  } else if (auto* const list = std::get_if<PlanList>(&made.is)) {
    for (PlanValue& one : *list) one = filled(one, spec, element);
  } else if (auto* const table = std::get_if<PlanTable>(&made.is)) {
    for (auto& [name, one] : *table) one = filled(one, spec, element);
  }
  return made;
}

std::string text_of(const PlanValue& value) {
  std::string text;
  if (const auto* const table = value.as<PlanTable>()) {
    for (const auto& [name, own] : *table) text += fmt::format("{}{}={},", name.size(), name, text_of(own));
    return "{" + text + "}";
  }
  if (const auto* const list = value.as<PlanList>()) {
    for (const PlanValue& own : *list) text += text_of(own) + ",";
    return "[" + text + "]";
  }
  if (const auto* const own = value.as<std::string>()) return fmt::format("{}'{}'", own->size(), *own);
  if (const auto* const integer = value.as<int64_t>()) return fmt::format("{}", *integer);
  if (const auto* const large = value.as<uint64_t>()) return fmt::format("{}", *large);
  if (const auto* const number = value.as<double>()) return fmt::format("{}f", *number);
  return *value.as<bool>() ? "true" : "false";
}

Dataset build_flat_map(const PlanStep& step) {
  if (!step.nested) step.args.refuse("chain", "is missing");
  return step.input() |
         flat_map(step.nested, {.output = step.nested_output, .kind = nested_kind(step), .name = step.name});
}

Dataset build_interleave(const PlanStep& step) {
  const bool has_inputs = !step.inputs[0].first.empty();
  if (has_inputs && step.args.has("chain")) step.args.refuse("chain", "needs a step before this one, not inputs");
  if (has_inputs) return interleaved_inputs(step);
  if (!step.nested) step.args.refuse("chain", "is missing");
  InterleaveOptions options = interleave_options(step);
  options.output = step.nested_output;
  options.kind = nested_kind(step);
  options.name = step.name;
  return step.input() | interleave(step.nested, options);
}

Dataset build_element(const PlanStep& step) {
  if (!step.outer) refuse("element", "stands only in a chain that flat_map or interleave name");
  return *step.outer;
}

}  // namespace headpond::plan
