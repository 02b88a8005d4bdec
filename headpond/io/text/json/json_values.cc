// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <utility>

#include "headpond/io/quoted_name_internal.h"
#include "headpond/io/text/json/json_values_internal.h"
#include "headpond/io/text/number_text_internal.h"

namespace headpond::internal {
namespace {

[[noreturn]] void refuse(const JsonField& field, const std::string& why) {
  throw Exception(Error(ErrorKind::InvalidArgument, fmt::format("key {}: {}", quoted_name(field.key), why)));
}

// The size of `shape`, without its first dimension if that is unknown.
void check_shape(const JsonField& field) try {
  const bool is_open = field.shape.rank() > 0 && field.shape[0] == kUnknown;
  const Shape rows = is_open ? field.shape.row() : field.shape;
  if (!rows.is_full() || !rows.size()) {
    refuse(field, fmt::format("shape {} must be fully known and not too large; only its first dimension may be unknown",
                              field.shape.to_string()));
  }
  // Tensor itself refuses too many dimensions.
  (void)Tensor::empty(DType::u8, Shape(std::vector<int64_t>(static_cast<size_t>(field.shape.rank()), 0)));
} catch (const Exception& exception) {
  refuse(field, exception.error().message());
}

}  // namespace

std::shared_ptr<const DefaultValue> checked_default(const JsonField& field) {
  if (field.dtype != DType::bytes && !is_written_as_number(field.dtype)) {
    refuse(field, fmt::format("{} is not read from text", name(field.dtype)));
  }
  check_shape(field);
  if (!field.default_value) return nullptr;
  const Tensor& given = *field.default_value;
  const bool fills = given.rank() == 0 && field.shape.is_full();
  if (given.dtype() != field.dtype || (!fills && !field.shape.admits(given.shape()))) {
    refuse(field, fmt::format("{}{} requested with a default of {}{}", name(field.dtype), field.shape.to_string(),
                              name(given.dtype()), given.shape().to_string()));
  }
  return std::make_shared<const DefaultValue>(given, field.shape);
}

void JsonValues::begin() {
  is_there_ = true;
  counts_.clear();
  numbers_.clear();
  characters_.clear();
  ends_.clear();
}

std::string JsonValues::expected() const {
  return fmt::format("{}{}", name(field_->dtype), field_->shape.rank() == 0 ? "" : field_->shape.to_string());
}

std::string JsonValues::found(std::string_view what) const {
  const size_t depth = counts_.size();
  return fmt::format("{} expected, found {}{}", expected(), what,
                     depth == 0 ? "" : fmt::format(" inside {} {}", depth, depth == 1 ? "array" : "arrays"));
}

// Counts an element of the innermost array.
std::string JsonValues::count() {
  if (counts_.empty()) return {};
  const int64_t dim = field_->shape[static_cast<int>(counts_.size()) - 1];
  if (dim != kUnknown && counts_.back() == dim) return found(fmt::format("more than {} in an array", dim));
  ++counts_.back();
  return {};
}

// True iff a value of this dtype is expected here.
bool JsonValues::is_leaf(DType dtype) const {
  return field_->dtype == dtype && static_cast<int>(counts_.size()) == field_->shape.rank();
}

std::string JsonValues::null() {
  if (!counts_.empty()) return found("null");
  is_there_ = false;
  return {};
}

std::string JsonValues::boolean(bool value) {
  if (!is_leaf(DType::boolean)) return found(value ? "true" : "false");
  numbers_.push_back(value ? std::byte{1} : std::byte{0});
  return count();
}

std::string JsonValues::number(std::string_view token) {
  const DType dtype = field_->dtype;
  if (!is_leaf(dtype) || dtype == DType::bytes || dtype == DType::boolean)
    return found("the number " + quoted_name(token));
  const size_t used = numbers_.size();
  numbers_.resize(used + item_size(dtype));
  const NumberFault fault = read_number_as(dtype, token, numbers_.data() + used);
  if (fault == NumberFault::none) return count();
  const char* const why = fault == NumberFault::out_of_range ? ", which is out of its range" : "";
  return found(fmt::format("the number {}{}", quoted_name(token), why));
}

template <class T>
bool JsonValues::put(T value) {
  const size_t used = numbers_.size();
  numbers_.resize(used + sizeof(T));
  std::memcpy(numbers_.data() + used, &value, sizeof(T));
  return count().empty();
}

template <class Integer>
bool JsonValues::put_integer(Integer value) {
  if (static_cast<int>(counts_.size()) != field_->shape.rank()) return false;
  const auto put_as = [&]<class T>(T) { return std::in_range<T>(value) && put(static_cast<T>(value)); };
  switch (field_->dtype) {
    case DType::i8:
      return put_as(int8_t{});
    case DType::u8:
      return put_as(uint8_t{});
    case DType::i16:
      return put_as(int16_t{});
    case DType::u16:
      return put_as(uint16_t{});
    case DType::i32:
      return put_as(int32_t{});
    case DType::u32:
      return put_as(uint32_t{});
    case DType::i64:
      return put_as(int64_t{});
    case DType::u64:
      return put_as(uint64_t{});
    case DType::f32:
      return put(static_cast<float>(value));
    case DType::f64:
      return put(static_cast<double>(value));
    default:
      return false;
  }
}

bool JsonValues::integer(int64_t value) { return put_integer(value); }
bool JsonValues::unsigned_integer(uint64_t value) { return put_integer(value); }

// Rounded twice, a decimal number is another float32 only if it is first rounded to the middle of two of them.
bool JsonValues::real(double value) {
  if (value == 0 && std::signbit(value)) return false;  // It may be one too small to be told from 0.
  if (is_leaf(DType::f64)) return (value == 0 || std::fabs(value) >= std::numeric_limits<double>::min()) && put(value);
  constexpr uint64_t kRest = (uint64_t{1} << 29) - 1, kMiddle = uint64_t{1} << 28;
  using Limits = std::numeric_limits<float>;
  const bool is_normal = value == 0 || (std::fabs(value) >= Limits::min() && std::fabs(value) <= Limits::max());
  if (!is_leaf(DType::f32) || !is_normal || (std::bit_cast<uint64_t>(value) & kRest) == kMiddle) return false;
  return put(static_cast<float>(value));
}

std::string JsonValues::text(std::string_view value) {
  if (!is_leaf(DType::bytes)) return found("the string " + quoted_name(value));
  characters_ += value;
  ends_.push_back(characters_.size());
  return count();
}

std::string JsonValues::object() { return found("an object"); }

std::string JsonValues::open_array() {
  if (static_cast<int>(counts_.size()) == field_->shape.rank()) return found("an array");
  std::string wrong = count();
  counts_.push_back(0);
  return wrong;
}

std::string JsonValues::close_array() {
  const int64_t dim = field_->shape[static_cast<int>(counts_.size()) - 1], has = counts_.back();
  counts_.pop_back();
  if (counts_.empty()) rows_ = has;
  return dim == kUnknown || dim == has ? "" : found(fmt::format("an array of {}", has));
}

Shape JsonValues::shape() const {
  const Shape& asked = field_->shape;
  return asked.is_full() ? asked : asked.row().stacked(rows_);
}

Tensor JsonValues::tensor() const {
  if (field_->dtype != DType::bytes) {
    Tensor tensor = Tensor::empty(field_->dtype, shape());
    if (!numbers_.empty()) std::memcpy(tensor.mutable_data(), numbers_.data(), numbers_.size());
    return tensor;
  }
  std::vector<std::string_view> strings;
  strings.reserve(ends_.size());
  size_t begin = 0;
  for (const size_t end : ends_) {
    strings.push_back(std::string_view(characters_).substr(begin, end - begin));
    begin = end;
  }
  return Tensor::from(strings, shape());
}

Result<void> JsonValues::give(size_t number, const FieldTargets& targets) const {
  if (!is_there_ && default_ == nullptr) {
    return fail(ErrorKind::InvalidArgument, expected() + " expected, and it has no default");
  }
  const bool can_have_target = field_->shape.is_full() && field_->dtype != DType::bytes;
  std::byte* const target = can_have_target ? targets.target(number) : nullptr;
  if (!is_there_) return default_->give(number, target, targets);
  if (target == nullptr) return targets.give(number, tensor());
  if (!numbers_.empty()) std::memcpy(target, numbers_.data(), numbers_.size());
  return {};
}

}  // namespace headpond::internal
