// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include "headpond/base/math/half.h"
#include "headpond/dataset/bases/columns.h"
#include "headpond/dataset/dataset.h"
#include "headpond/dataset/ops/source/number_dtype_internal.h"

namespace headpond::internal {
namespace {

template <class Convert>
void put(std::span<const int64_t> numbers, std::byte* to, const Convert& convert) {
  for (const int64_t number : numbers) {
    const auto value = convert(number);
    std::memcpy(to, &value, sizeof(value));
    to += sizeof(value);
  }
}

template <class T>
void put_as(std::span<const int64_t> numbers, std::byte* to) {
  put(numbers, to, [](int64_t number) { return static_cast<T>(number); });
}

void put_numbers(std::span<const int64_t> numbers, DType dtype, std::byte* to) {
  switch (dtype) {
    case DType::u8:
      return put_as<uint8_t>(numbers, to);
    case DType::i8:
      return put_as<int8_t>(numbers, to);
    case DType::u16:
      return put_as<uint16_t>(numbers, to);
    case DType::i16:
      return put_as<int16_t>(numbers, to);
    case DType::u32:
      return put_as<uint32_t>(numbers, to);
    case DType::i32:
      return put_as<int32_t>(numbers, to);
    case DType::f16:
      return put(numbers, to, [](int64_t number) { return to_f16(static_cast<float>(number)); });
    case DType::bf16:
      return put(numbers, to, [](int64_t number) { return to_bf16(static_cast<float>(number)); });
    case DType::f32:
      return put_as<float>(numbers, to);
    case DType::f64:
      return put_as<double>(numbers, to);
    default:
      return put_as<int64_t>(numbers, to);  // And uint64, whose bits are the same.
  }
}

class ConvertedView final : public View {
 public:
  ConvertedView(std::shared_ptr<const View> numbers, DType dtype) : numbers_(std::move(numbers)), dtype_(dtype) {}

  Got at(int64_t i, Context& context, OutputSlots outputs, Element& out) const override {
    Element number;
    const Got got = numbers_->at(i, context, {}, number);
    if (got == Got::value) {
      put_numbers(number[size_t{0}].as<int64_t>(), dtype_, context.allocate_output(out, outputs, dtype_, {}));
    }
    out.key = number.key;
    out.provenance = number.provenance;
    return got;
  }
  bool fill(std::span<const int64_t> positions, Context& context, OutputSlots columns, uint64_t* keys) const override {
    if (positions.empty()) return true;
    static const FieldSpec kNumber = {"", DType::i64, {}};
    std::array<int64_t, kFillBlock> numbers;
    const OutputSlot slot = {reinterpret_cast<std::byte*>(numbers.data()), &kNumber};
    ColumnsLeft left(columns, keys);
    while (true) {
      const size_t count = std::min(positions.size(), numbers.size());
      if (!numbers_->fill(positions.first(count), context, {&slot, 1}, left.keys())) return false;
      put_numbers(std::span(numbers).first(count), dtype_, left.columns()[0].data);
      positions = positions.subspan(count);
      if (positions.empty()) return true;
      left.pass(count);
    }
  }

 private:
  const std::shared_ptr<const View> numbers_;
  const DType dtype_;
};

}  // namespace

void check_number_dtype(const std::string& op, const std::string& option, DType dtype) {
  if (dtype != DType::boolean && dtype != DType::bytes) return;
  refuse(op, fmt::format("{}={}: it must be a dtype of numbers", option, name(dtype)));
}

std::string dtype_args(const std::string& option, DType dtype) {
  return dtype == DType::i64 ? "" : fmt::format(", {}={}", option, name(dtype));
}

std::shared_ptr<const View> as_dtype(std::shared_ptr<const View> numbers, DType dtype) {
  if (dtype == DType::i64) return numbers;
  return std::make_shared<ConvertedView>(std::move(numbers), dtype);
}

}  // namespace headpond::internal
