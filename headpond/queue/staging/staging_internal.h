// SPDX-License-Identifier: Apache-2.0
// What both staging areas share.
#pragma once

#include <fmt/format.h>

#include <cstdint>

#include "headpond/queue/shared_internal.h"
#include "headpond/queue/staging/staging_area.h"
#include "headpond/queue/store/components_internal.h"

namespace headpond::internal {

/// The options with kUnbounded wherever they mean it.
template <class Options>
Options normal(Options options) {
  if (options.capacity <= 0) options.capacity = kUnbounded;
  if (options.memory_limit <= 0) options.memory_limit = kUnbounded;
  return options;
}

/// Throws Exception(InvalidArgument) for options that contradict each other; the message begins with `type`.
inline Components staging_components(const StagingOptions& options, std::string_view type) {
  try {
    return Components(
        {.capacity = kUnbounded, .dtypes = options.dtypes, .shapes = options.shapes, .names = options.names});
  } catch (const Exception& refused) {
    throw Exception(Error(ErrorKind::InvalidArgument, fmt::format("{}: {}", type, refused.error().message())));
  }
}

inline void staging_must_agree(const Agreement& agreement, const StagingOptions& has, const StagingOptions& given) {
  agreement.on("capacity", has.capacity, normal(given).capacity);
  agreement.on("memory_limit", has.memory_limit, normal(given).memory_limit);
  agreement.on_components(has, given);
}

/// The error for an element, or part of a key, that never fits.
inline Error above_memory_limit(int64_t bytes, int64_t limit, std::string_view label) {
  return {ErrorKind::ResourceExhausted,
          fmt::format("Attempted to insert tensors with combined size of '{}' bytes into Staging Area with a memory "
                      "limit of '{}': {}",
                      bytes, limit, label)};
}

}  // namespace headpond::internal
