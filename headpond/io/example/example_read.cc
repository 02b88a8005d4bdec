// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <cstring>

#include "headpond/io/example/example_read_internal.h"
#include "headpond/io/quoted_name_internal.h"

namespace headpond::internal {
namespace {

std::string expected(const PlannedFeature& planned, bool in_list) {
  const ExampleFeature& asked = planned.asked;
  if (asked.dtype == DType::u8) return fmt::format("one value of {} bytes", planned.values);
  const std::string_view type = name(asked.dtype);
  if (asked.kind == FeatureKind::FixedLen || (in_list && asked.kind == FeatureKind::FixedLenSequence)) {
    return fmt::format("{} values of {}", planned.values, type);
  }
  if (asked.kind == FeatureKind::FixedLenSequence) return fmt::format("steps of {} values of {}", planned.values, type);
  return fmt::format("values of {}", type);
}

std::string found(const PlannedFeature& planned, const FeatureList& list, const ListSize& size) {
  if (list.is_missing) return "none";
  if (planned.asked.dtype != DType::u8 || list.dtype != DType::bytes) {
    return fmt::format("{} of {}", size.count, name(list.dtype));
  }
  return fmt::format("{} of {} bytes", size.count, size.characters);
}

}  // namespace

Result<void> ExampleMessage::check_length(const ExampleLimits& limits) const {
  if (bytes.size() <= limits.max_bytes) return {};
  return fail(ErrorKind::ResourceExhausted,
              fmt::format("{} of {} bytes; the limit is {}", type, bytes.size(), limits.max_bytes));
}

Error ExampleMessage::error(const WireFault& fault) const {
  const std::string where =
      fault.key.data() == nullptr ? std::string(type) : fmt::format("{}, feature {}", type, quoted_name(fault.key));
  return Error(fault.is_limit ? ErrorKind::ResourceExhausted : ErrorKind::InvalidArgument,
               fmt::format("{}: {} at offset {}", where, fault.what, offset(fault.at)));
}

bool read_entry(std::string_view entry, std::string_view& key, std::string_view& value, WireFault& fault) {
  constexpr uint32_t kKey = 1, kValue = 2;
  WireCursor cursor(entry, fault);
  bool has_value = false;
  while (!cursor.at_end()) {
    if (!cursor.next()) return false;
    if (cursor.field() == kKey) {
      if (!cursor.view(key)) return false;
      fault.key = key;
    } else if (cursor.field() == kValue) {
      if (std::exchange(has_value, true)) return cursor.fail("a map entry with more than one value");
      if (!cursor.view(value)) return false;
    } else if (!cursor.skip()) {
      return false;
    }
  }
  return true;
}

FoundValues& found_values(Scratch which, size_t count) {
  thread_local FoundValues memory[2];
  FoundValues& found = memory[static_cast<size_t>(which)];
  found.assign(count, {});
  return found;
}

bool find_values(std::string_view map, const FeaturePlan& plan, uint64_t& left, FoundValues& found, WireFault& fault) {
  return each_entry(map, left, fault, [&](std::string_view key, std::string_view value) {
    if (const size_t number = plan.keys().find(key); number != KeyTable::kNone) found[number] = value;
    return true;
  });
}

bool measure_value(std::string_view key, std::string_view value, FeatureList& list, ListSize& size, WireFault& fault) {
  if (value.data() == nullptr) return true;
  fault.key = key;
  return read_feature(value, list, fault) && (list.is_missing || measure(list, size, fault));
}

Result<void> give_int64(const FieldTargets& targets, size_t field, const Tensor& numbers) {
  std::byte* const target = targets.target(field);
  if (target == nullptr) return targets.give(field, numbers);
  std::memcpy(target, numbers.data(), numbers.byte_size());
  return {};
}

Error wrong_values(const ExampleMessage& message, const PlannedFeature& planned, int64_t step, const FeatureList& list,
                   const ListSize& size) {
  const std::string where = step < 0 ? "" : fmt::format(", step {}", step);
  const std::string at = list.is_missing ? "" : fmt::format(", at offset {}", message.offset(list.message.data()));
  return Error(ErrorKind::InvalidArgument,
               fmt::format("{}, feature {}{}: {} expected, {} found{}", message.type, quoted_name(planned.asked.key),
                           where, expected(planned, step >= 0), found(planned, list, size), at));
}

BytesMemory::BytesMemory(const ListSize& size)
    : count(size.count), buffer(BufferPool::current().allocate((size.count + 1) * sizeof(int64_t) + size.characters)) {
  ends()[-1] = 0;
}

Tensor BytesMemory::tensor(const Shape& shape) && {
  const std::byte* const data = buffer->data();
  return Tensor::view(data, DType::bytes, shape, std::move(buffer));
}

Result<Tensor> tensor_of(const ExampleMessage& message, const FeatureList& list, const ListSize& size,
                         const Shape& shape, WireFault& fault) {
  if (list.dtype == DType::bytes) {
    BytesMemory memory(size);
    copy_ends(list, 0, memory.ends());
    copy_characters(list, size, memory.characters());
    return std::move(memory).tensor(shape);
  }
  Tensor tensor = Tensor::empty(list.dtype, shape);
  if (!copy_numbers(list, size, tensor.mutable_data(), fault)) return fail(message.error(fault));
  return tensor;
}

}  // namespace headpond::internal
