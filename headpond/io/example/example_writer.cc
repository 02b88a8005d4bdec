// SPDX-License-Identifier: Apache-2.0
#include "headpond/io/example/example_writer.h"

#include <fmt/format.h>

#include <algorithm>
#include <protozero/buffer_string.hpp>
#include <protozero/varint.hpp>

#include "headpond/io/quoted_name_internal.h"
#include "headpond/io/text/utf8_internal.h"

namespace headpond {
namespace {

// Every field here is a message, a string or packed: a tag of one byte, a length, the bytes.
enum Tag : char { kField1 = 0x0a, kField2 = 0x12, kField3 = 0x1a };
constexpr uint64_t kLargestMessage = INT32_MAX;

uint64_t field_bytes(uint64_t length) {
  return 1 + static_cast<uint64_t>(protozero::length_of_varint(length)) + length;
}

void begin_field(std::string& to, Tag tag, uint64_t length) {
  to.push_back(tag);
  protozero::add_varint_to_buffer(&to, length);
}

void append_field(std::string& to, Tag tag, std::string_view text) {
  begin_field(to, tag, text.size());
  to += text;
}

std::string_view raw(const Tensor& value) { return {reinterpret_cast<const char*>(value.data()), value.byte_size()}; }

uint64_t varint_bytes(std::span<const int64_t> values) {
  uint64_t total = 0;
  for (const int64_t value : values)
    total += static_cast<uint64_t>(protozero::length_of_varint(static_cast<uint64_t>(value)));
  return total;
}

uint64_t list_bytes(const Tensor& value) {
  if (value.dtype() == DType::u8) return field_bytes(value.byte_size());
  if (value.size() == 0) return 0;
  if (value.dtype() == DType::f32) return field_bytes(value.byte_size());
  if (value.dtype() == DType::i64) return field_bytes(varint_bytes(value.as<int64_t>()));
  uint64_t total = 0;
  for (int64_t i = 0; i < value.size(); ++i) total += field_bytes(value.bytes_at(i).size());
  return total;
}

bool has_list(const Tensor& value) { return value.dtype() != DType::f64; }

uint64_t feature_bytes(const Tensor& value) { return has_list(value) ? field_bytes(list_bytes(value)) : 0; }

void append_feature(std::string& to, Tag tag, const Tensor& value) {
  begin_field(to, tag, feature_bytes(value));
  if (!has_list(value)) return;
  const uint64_t list = list_bytes(value);
  begin_field(to, value.dtype() == DType::f32 ? kField2 : value.dtype() == DType::i64 ? kField3 : kField1, list);
  if (value.dtype() == DType::u8 || (value.dtype() == DType::f32 && list != 0)) {
    append_field(to, kField1, raw(value));
  } else if (value.dtype() == DType::i64 && list != 0) {
    const auto numbers = value.as<int64_t>();
    begin_field(to, kField1, varint_bytes(numbers));
    for (const int64_t number : numbers) protozero::add_varint_to_buffer(&to, static_cast<uint64_t>(number));
  } else if (value.dtype() == DType::bytes) {
    for (int64_t i = 0; i < value.size(); ++i) append_field(to, kField1, value.bytes_at(i));
  }
}

// The values of the entries of a map: of a feature, or of a list of them.
uint64_t value_bytes(const NamedTensor& item) { return feature_bytes(item.value); }
uint64_t value_bytes(const NamedSteps& item) {
  uint64_t total = 0;
  for (const Tensor& step : item.steps) total += field_bytes(feature_bytes(step));
  return total;
}
void append_value(std::string& to, const NamedTensor& item) { append_feature(to, kField2, item.value); }
void append_value(std::string& to, const NamedSteps& item) {
  begin_field(to, kField2, value_bytes(item));
  for (const Tensor& step : item.steps) append_feature(to, kField1, step);
}

template <class Named>
uint64_t entry_bytes(const Named& item) {
  return field_bytes(item.key.size()) + field_bytes(value_bytes(item));
}

template <class Named>
uint64_t map_bytes(const std::vector<const Named*>& items) {
  uint64_t total = 0;
  for (const Named* item : items) total += field_bytes(entry_bytes(*item));
  return total;
}

template <class Named>
void append_map(std::string& to, Tag tag, const std::vector<const Named*>& items) {
  begin_field(to, tag, map_bytes(items));
  for (const Named* item : items) {
    begin_field(to, kField1, entry_bytes(*item));
    append_field(to, kField1, item->key);
    append_value(to, *item);
  }
}

Result<void> check_key(std::string_view key) {
  for (size_t at = 0; at < key.size();) {
    const size_t length = internal::character_bytes(key.substr(at));
    if (length == 0) {
      return fail(ErrorKind::InvalidArgument,
                  fmt::format("feature {}: a key is UTF-8, and its byte {} begins no character",
                              internal::quoted_name(key), at));
    }
    at += length;
  }
  return {};
}

Result<void> check(std::string_view key, const Tensor& value) {
  const DType dtype = value.dtype();
  if (dtype == DType::f32 || dtype == DType::i64 || dtype == DType::bytes || dtype == DType::u8) return {};
  if (dtype == DType::f64 && value.size() == 0) return {};
  return fail(ErrorKind::InvalidArgument,
              fmt::format("feature {}: an Example holds no {}, but float32, int64, bytes, and uint8 as bytes",
                          internal::quoted_name(key), name(dtype)));
}
Result<void> check(const NamedTensor& item) {
  HEADPOND_TRY(check_key(item.key));
  return check(item.key, item.value);
}
Result<void> check(const NamedSteps& item) {
  HEADPOND_TRY(check_key(item.key));
  for (const Tensor& step : item.steps) HEADPOND_TRY(check(item.key, step));
  return {};
}

template <class Named>
Result<std::vector<const Named*>> sorted(std::span<const Named> items) {
  std::vector<const Named*> order;
  for (const Named& item : items) {
    HEADPOND_TRY(check(item));
    order.push_back(&item);
  }
  std::sort(order.begin(), order.end(), [](const Named* a, const Named* b) { return a->key < b->key; });
  const auto same = [](const Named* a, const Named* b) { return a->key == b->key; };
  const auto twice = std::adjacent_find(order.begin(), order.end(), same);
  if (twice == order.end()) return order;
  return fail(ErrorKind::InvalidArgument, fmt::format("feature {} occurs twice", internal::quoted_name((*twice)->key)));
}

Result<std::string> reserved(uint64_t total) {
  std::string message;
  if (total <= kLargestMessage) {
    message.reserve(total);
    return message;
  }
  return fail(ErrorKind::ResourceExhausted,
              fmt::format("an Example of {} bytes; the limit is {}", total, kLargestMessage));
}

}  // namespace

Result<std::string> make_example(std::span<const NamedTensor> features) try {
  const auto order = sorted(features);
  if (!order) return fail(order.error());
  auto message = reserved(field_bytes(map_bytes(*order)));
  if (message) append_map(*message, kField1, *order);
  return message;
} catch (const std::bad_alloc&) {
  return fail(current_exception_error());
}

Result<std::string> make_sequence_example(std::span<const NamedTensor> context, std::span<const NamedSteps> lists) try {
  const auto features = sorted(context);
  if (!features) return fail(features.error());
  const auto steps = sorted(lists);
  if (!steps) return fail(steps.error());
  auto message = reserved(field_bytes(map_bytes(*features)) + field_bytes(map_bytes(*steps)));
  if (message) append_map(*message, kField1, *features);
  if (message) append_map(*message, kField2, *steps);
  return message;
} catch (const std::bad_alloc&) {
  return fail(current_exception_error());
}

}  // namespace headpond
