// SPDX-License-Identifier: Apache-2.0
#include "headpond/io/example/example_schema.h"

#include <fmt/format.h>

#include <map>
#include <utility>

#include "headpond/io/example/example_read_internal.h"

namespace headpond {
namespace {

using internal::FeatureList;
using internal::WireCursor;
using internal::WireFault;
using Infos = std::map<std::string_view, std::string_view>;

bool collect(std::string_view map, uint64_t& left, Infos& into, WireFault& fault) {
  return internal::each_entry(map, left, fault, [&](std::string_view key, std::string_view value) {
    into[key] = value;
    return true;
  });
}

bool add_feature(std::string_view feature, FeatureInfo& info, WireFault& fault) {
  FeatureList list;
  internal::ListSize size;
  WireCursor at_feature(feature, fault);
  if (!internal::read_feature(feature, list, fault)) return false;
  if (list.is_missing) return true;
  if (info.dtype && *info.dtype != list.dtype) {
    return at_feature.fail(fmt::format("a step of {} after steps of {}", name(list.dtype), name(*info.dtype)));
  }
  if (!internal::measure(list, size, fault)) return false;
  info.dtype = list.dtype;
  info.count += size.count;
  info.characters += size.characters;
  return true;
}

bool add_steps(std::string_view list, FeatureInfo& info, WireFault& fault) {
  WireCursor cursor(list, fault);
  while (!cursor.at_end()) {
    if (!cursor.next()) return false;
    if (cursor.field() != 1) {
      if (!cursor.skip()) return false;
      continue;
    }
    std::string_view feature;
    if (!cursor.view(feature) || !add_feature(feature, info, fault)) return false;
    ++info.steps;
  }
  return true;
}

template <class Add>
bool describe(const Infos& values, std::vector<FeatureInfo>& into, WireFault& fault, Add add) {
  for (const auto& [key, value] : values) {
    fault.key = key;
    FeatureInfo info;
    info.key = key;
    if (!add(value, info, fault)) return false;
    into.push_back(std::move(info));
  }
  return true;
}

// Fields 1 and, unless `second` is null, 2 of the message are maps.
bool collect_maps(std::string_view message, uint64_t left, Infos& first, Infos* second, WireFault& fault) {
  WireCursor cursor(message, fault);
  while (!cursor.at_end()) {
    if (!cursor.next()) return false;
    Infos* const into = cursor.field() == 1 ? &first : cursor.field() == 2 ? second : nullptr;
    std::string_view map;
    if (into == nullptr ? !cursor.skip() : !cursor.view(map) || !collect(map, left, *into, fault)) return false;
  }
  return true;
}

internal::ExampleMessage message_of(std::span<const std::byte> payload, std::string_view type) {
  return {{reinterpret_cast<const char*>(payload.data()), payload.size()}, type};
}

}  // namespace

Result<std::vector<FeatureInfo>> describe_example(std::span<const std::byte> payload, ExampleLimits limits) try {
  const auto message = message_of(payload, "Example");
  HEADPOND_TRY(message.check_length(limits));
  Infos features;
  std::vector<FeatureInfo> infos;
  WireFault fault;
  const bool read = collect_maps(message.bytes, limits.max_features, features, nullptr, fault) &&
                    describe(features, infos, fault, add_feature);
  if (!read) return fail(message.error(fault));
  return infos;
} catch (const std::bad_alloc&) {
  return fail(current_exception_error());
}

Result<SequenceInfo> describe_sequence_example(std::span<const std::byte> payload, ExampleLimits limits) try {
  const auto message = message_of(payload, "SequenceExample");
  HEADPOND_TRY(message.check_length(limits));
  Infos context, lists;
  SequenceInfo info;
  WireFault fault;
  const bool read = collect_maps(message.bytes, limits.max_features, context, &lists, fault) &&
                    describe(context, info.context, fault, add_feature) &&
                    describe(lists, info.lists, fault, add_steps);
  if (!read) return fail(message.error(fault));
  return info;
} catch (const std::bad_alloc&) {
  return fail(current_exception_error());
}

}  // namespace headpond
