// SPDX-License-Identifier: Apache-2.0
#include "headpond/dataset/testing/course.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <utility>

namespace headpond::internal {
namespace {

constexpr size_t kMostErrorsInARow = 20;

template <class T>
void put(std::string& bytes, const T& value) {
  bytes.append(reinterpret_cast<const char*>(&value), sizeof(value));
}

std::string text_of_value(const Tensor& tensor, int64_t i) {
  const auto at = static_cast<size_t>(i);
  switch (tensor.dtype()) {
    case DType::i64:
      return fmt::format("{}", tensor.as<int64_t>()[at]);
    case DType::i32:
      return fmt::format("{}", tensor.as<int32_t>()[at]);
    case DType::f32:
      return fmt::format("{}", tensor.as<float>()[at]);
    case DType::f64:
      return fmt::format("{}", tensor.as<double>()[at]);
    case DType::boolean:
      return fmt::format("{}", tensor.as<bool>()[at]);
    case DType::bytes:
      return "'" + std::string(tensor.bytes_at(i)) + "'";
    default:
      break;
  }
  const size_t size = item_size(tensor.dtype());  // Others: as an unsigned number.
  uint64_t bits = 0;
  std::memcpy(&bits, tensor.data() + at * size, size);
  return fmt::format("{}", bits);
}

}  // namespace

std::string text_of(const Tensor& tensor) {
  std::string text;
  for (int64_t i = 0; i < tensor.size(); ++i) text += (i > 0 ? " " : "") + text_of_value(tensor, i);
  if (tensor.rank() == 0) return text;
  return (tensor.rank() > 1 ? tensor.shape().to_string() : "") + "[" + text + "]";
}

std::string text_of(const Element& element) {
  std::string text;
  for (size_t i = 0; i < element.size(); ++i) text += (i > 0 ? ", " : "") + text_of(element[i]);
  return text;
}

std::string text_with_key(const Element& element) { return fmt::format("{} #{:x}", text_of(element), element.key); }

std::string bytes_of(const Element& element, int64_t epoch, int64_t index) {
  std::string bytes;
  put(bytes, epoch);
  put(bytes, index);
  put(bytes, element.key);
  for (size_t i = 0; i < element.size(); ++i) {
    const Tensor& field = element[i];
    bytes += element.names() ? (*element.names())[i] + '\1' : std::string(1, '\0');
    put(bytes, field.dtype());
    put(bytes, field.rank());
    for (int axis = 0; axis < field.rank(); ++axis) put(bytes, field.dim(axis));
    bytes.append(reinterpret_cast<const char*>(field.data()), field.byte_size());
  }
  return bytes;
}

Outcome outcome_of_error(const Error& error, std::string state) {
  const std::string text = error.to_string();
  return {.kind = Outcome::error, .bytes = text, .text = "!" + text, .state = std::move(state)};
}

Outcome outcome_of_value(const Element& element, int64_t epoch, int64_t index, std::string state) {
  return {.kind = Outcome::value,
          .bytes = bytes_of(element, epoch, index),
          .text = fmt::format("{}/{} {}", epoch, index, text_with_key(element)),
          .state = std::move(state),
          .epoch = epoch};
}

Outcome outcome_of(Sequence& sequence) {
  const auto next = sequence.next();
  if (at_end(next)) return {.kind = Outcome::end, .bytes = "", .text = "end", .state = sequence.state()};
  if (!next) return outcome_of_error(next.error(), sequence.state());
  return outcome_of_value(*next, sequence.epoch(), sequence.index(), sequence.state());
}

std::string difference(const Outcome& got, const Outcome& expected) {
  if (got.kind != expected.kind || got.text != expected.text) {
    return fmt::format("'{}' instead of '{}'", got.text, expected.text);
  }
  if (got.bytes != expected.bytes) return fmt::format("bytes, names or shapes differ in '{}'", got.text);
  if (got.state != expected.state) return fmt::format("the state after '{}' differs", got.text);
  return "";
}

size_t Course::after(size_t i) const {
  while (i > 0 && outcomes[i].kind == Outcome::error && outcomes[i].state == outcomes[i - 1].state) --i;
  return outcomes[i].kind == Outcome::error ? i : i + 1;
}

Course course_of(Sequence& sequence, size_t most) {
  Course course;
  size_t errors = 0;
  while (course.outcomes.size() < most && errors < kMostErrorsInARow) {
    course.outcomes.push_back(outcome_of(sequence));
    const Outcome& last = course.outcomes.back();
    course.largest = std::max(course.largest, static_cast<int64_t>(last.bytes.size()));
    errors = last.kind == Outcome::error ? errors + 1 : 0;
    if (last.kind == Outcome::end) break;
  }
  return course;
}

}  // namespace headpond::internal
