// SPDX-License-Identifier: Apache-2.0
#include "headpond/io/array/raw.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <new>
#include <utility>

#include "headpond/io/array/byte_swap_internal.h"

namespace headpond {
namespace {

bool is_open(const Shape& shape) { return shape.rank() > 0 && shape[0] == kUnknown; }

[[noreturn]] void refuse(const std::string& why) {
  throw Exception(Error(ErrorKind::InvalidArgument, "decode_raw: " + why));
}

uint64_t checked_row_bytes(const FieldSpec& field) {
  if (field.dtype == DType::bytes) refuse("bytes are decoded to numbers, not to bytes");
  const Shape rows = is_open(field.shape) ? field.shape.row() : field.shape;
  const auto size = rows.size();
  int64_t total = 0;
  const bool fits =
      rows.is_full() && size && !__builtin_mul_overflow(*size, static_cast<int64_t>(item_size(field.dtype)), &total);
  if (!fits || (total == 0 && is_open(field.shape))) {
    refuse(fmt::format(
        "shape {} must be known but for its first dimension, have rows of at least one value, and not be too large",
        field.shape.to_string()));
  }
  return static_cast<uint64_t>(total);
}

}  // namespace

RawDecoder::RawDecoder(DType dtype, RawOptions options)
    : field_{"", dtype, std::move(options.shape)},
      little_endian_(options.little_endian),
      row_bytes_(checked_row_bytes(field_)) {}

std::string RawDecoder::describe() const {
  return fmt::format("{}{}{}", name(field_.dtype), field_.shape.to_string(), little_endian_ ? "" : ", big-endian");
}

Result<Tensor> RawDecoder::decode(std::string_view raw) const try {
  const bool open = is_open(field_.shape);
  if (open ? raw.size() % row_bytes_ != 0 : raw.size() != row_bytes_) {
    return fail(ErrorKind::InvalidArgument, fmt::format("{}: {}{} bytes expected, {} found", describe(),
                                                        open ? "a multiple of " : "", row_bytes_, raw.size()));
  }
  const auto rows = open ? static_cast<int64_t>(raw.size() / row_bytes_) : 0;
  Tensor tensor = Tensor::empty(field_.dtype, open ? field_.shape.row().stacked(rows) : field_.shape);
  const std::span<std::byte> to(tensor.mutable_data(), tensor.byte_size());
  if (!to.empty()) std::memcpy(to.data(), raw.data(), to.size());
  if (!little_endian_) internal::swap_bytes(to, item_size(field_.dtype));
  if (field_.dtype != DType::boolean) return tensor;
  const auto wrong = std::find_if(to.begin(), to.end(), [](std::byte value) { return value > std::byte{1}; });
  if (wrong == to.end()) return tensor;
  return fail(ErrorKind::InvalidArgument, fmt::format("{}: a boolean is {:02x}, at offset {}", describe(),
                                                      static_cast<uint8_t>(*wrong), wrong - to.begin()));
} catch (const std::bad_alloc&) {
  return fail(current_exception_error());
}

}  // namespace headpond
