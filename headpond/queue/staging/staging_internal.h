// SPDX-License-Identifier: Apache-2.0
// What the two staging areas have in common.
#pragma once

#include <fmt/format.h>

#include <cstdint>

#include "headpond/queue/shared_internal.h"
#include "headpond/queue/staging/staging_area.h"
#include "headpond/queue/store/components_internal.h"

namespace headpond::internal {

/// Throws Exception(InvalidArgument) for options that contradict themselves, whose text begins with `type`.
inline Components staging_components(const StagingOptions& options, std::string_view type) {
  const auto refuse = [&](std::string_view why) -> Components {
    throw Exception(Error(ErrorKind::InvalidArgument, fmt::format("{}: {}", type, why)));
  };
  if (options.capacity < 0)
    return refuse(fmt::format("capacity {} is below 0, which means no limit", options.capacity));
  if (options.memory_limit < 0) {
    return refuse(fmt::format("memory_limit {} is below 0, which means no limit", options.memory_limit));
  }
  try {
    return Components({.capacity = -1, .dtypes = options.dtypes, .shapes = options.shapes, .names = options.names});
  } catch (const Exception& refused) {
    return refuse(refused.error().message());
  }
}

inline void staging_must_agree(const Agreement& agreement, const StagingOptions& has, const StagingOptions& given) {
  agreement.on("capacity", has.capacity, given.capacity);
  agreement.on("memory_limit", has.memory_limit, given.memory_limit);
  agreement.on_components(has, given);
}

inline int64_t byte_size(const Element& element) {
  int64_t total = 0;
  for (size_t i = 0; i < element.size(); ++i) total += static_cast<int64_t>(element[i].byte_size());
  return total;
}

/// Of an element, or a key's part, that no patience would bring in.
inline Error above_memory_limit(int64_t bytes, int64_t limit, std::string_view label) {
  return {ErrorKind::ResourceExhausted,
          fmt::format("Attempted to insert tensors with combined size of '{}' bytes into Staging Area with a memory "
                      "limit of '{}': {}",
                      bytes, limit, label)};
}

}  // namespace headpond::internal
