// SPDX-License-Identifier: Apache-2.0
// index_tar(), with what is needed to read a part of the archive again.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "headpond/base/status.h"
#include "headpond/io/archive/tar.h"

namespace headpond::internal {

struct TarPlaces {
  std::vector<uint64_t> begins;     ///< Where the first header of each member begins.
  bool has_global_headers = false;  ///< A header applies to all later members.
};
/// Like headpond::index_tar(); fills `places`.
Result<TarIndex> index_tar(std::span<const std::byte> archive, std::string_view name, const TarLimits& limits,
                           TarPlaces& places);

}  // namespace headpond::internal
