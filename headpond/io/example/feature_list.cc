// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <bit>
#include <cstring>

#include "headpond/io/example/feature_list_internal.h"

namespace headpond::internal {
namespace {

static_assert(std::endian::native == std::endian::little);
// Field numbers of tensorflow.Feature; each of its lists has its values in field 1.
constexpr uint32_t kBytesList = 1, kFloatList = 2, kInt64List = 3, kValues = 1;

// A single value is encoded like a packed run of one.
bool take_single(WireCursor& cursor, DType dtype, std::string_view& run) {
  const Wire wanted = dtype == DType::f32 ? Wire::fixed32 : dtype == DType::i64 ? Wire::varint : Wire::length;
  if (cursor.wire() != wanted) {
    return cursor.fail("wire type " + std::to_string(static_cast<int>(cursor.wire())) + " in a list of " +
                       std::string(name(dtype)));
  }
  if (dtype == DType::f32) return cursor.take(sizeof(float), run);
  const char* const begin = cursor.at();
  uint64_t value = 0;
  if (!cursor.varint(value)) return false;
  run = {begin, static_cast<size_t>(cursor.at() - begin)};
  return true;
}

// For bytes, calls `visit` with each value; for numbers, with packed runs.
template <class Visit>
bool each_run(const FeatureList& list, WireFault& fault, Visit visit) {
  WireCursor cursor(list.message, fault);
  while (!cursor.at_end()) {
    if (!cursor.next()) return false;
    if (cursor.field() != kValues) {
      if (!cursor.skip()) return false;
      continue;
    }
    std::string_view run;
    if (!(cursor.wire() == Wire::length ? cursor.view(run) : take_single(cursor, list.dtype, run))) return false;
    if (!visit(cursor, run)) return false;
  }
  return true;
}

bool count_numbers(WireCursor& cursor, DType dtype, std::string_view run, uint64_t& count) {
  if (dtype == DType::f32) {
    count += run.size() / sizeof(float);
    return run.size() % sizeof(float) == 0 || cursor.fail("a packed list of float32 with part of a value");
  }
  const auto ends_value = [](char c) { return static_cast<signed char>(c) >= 0; };
  count += static_cast<uint64_t>(std::count_if(run.begin(), run.end(), ends_value));
  return run.empty() || ends_value(run.back()) || cursor.fail("a varint is truncated");
}

void copy_bytes(std::string_view run, std::byte*& to) {
  if (!run.empty()) std::memcpy(to, run.data(), run.size());
  to += run.size();
}

bool copy_varints(std::string_view run, std::byte*& to, WireFault& fault) {
  WireCursor cursor(run, fault);
  while (!cursor.at_end()) {
    uint64_t value = 0;
    if (!cursor.varint(value)) return false;
    std::memcpy(to, &value, sizeof value);
    to += sizeof value;
  }
  return true;
}

}  // namespace

bool read_feature(std::string_view feature, FeatureList& list, WireFault& fault) {
  list = {};
  WireCursor cursor(feature, fault);
  while (!cursor.at_end()) {
    if (!cursor.next()) return false;
    if (cursor.field() > kInt64List) {
      if (!cursor.skip()) return false;
      continue;
    }
    if (!list.is_missing) return cursor.fail("a feature with more than one list");
    list.is_missing = false;
    list.dtype = cursor.field() == kBytesList ? DType::bytes : cursor.field() == kFloatList ? DType::f32 : DType::i64;
    if (!cursor.view(list.message)) return false;
  }
  return true;
}

bool measure(const FeatureList& list, ListSize& size, WireFault& fault) {
  size = {};
  return each_run(list, fault, [&](WireCursor& cursor, std::string_view run) {
    ++size.runs;
    size.run = run;
    if (list.dtype != DType::bytes) return count_numbers(cursor, list.dtype, run, size.count);
    ++size.count;
    size.characters += run.size();
    return true;
  });
}

bool copy_numbers(const FeatureList& list, const ListSize& size, std::byte* to, WireFault& fault) {
  const auto copy_run = [&](std::string_view run) {
    if (list.dtype == DType::i64) return copy_varints(run, to, fault);
    copy_bytes(run, to);
    return true;
  };
  if (size.runs == 1) return copy_run(size.run);
  return each_run(list, fault, [&](WireCursor&, std::string_view run) { return copy_run(run); });
}

void copy_characters(const FeatureList& list, const ListSize& size, std::byte* to) {
  if (size.runs == 1) return copy_bytes(size.run, to);
  WireFault none;
  each_run(list, none, [&](WireCursor&, std::string_view value) {
    copy_bytes(value, to);
    return true;
  });
}

int64_t copy_ends(const FeatureList& list, int64_t begin, int64_t* ends) {
  WireFault none;
  each_run(list, none, [&](WireCursor&, std::string_view value) {
    begin += static_cast<int64_t>(value.size());
    *ends++ = begin;
    return true;
  });
  return begin;
}

}  // namespace headpond::internal
