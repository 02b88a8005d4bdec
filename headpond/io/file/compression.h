// SPDX-License-Identifier: Apache-2.0
// The compression of a file.
#pragma once

#include <cstdint>
#include <string_view>

namespace headpond {

enum class Compression : uint8_t {
  none,
  gzip,    ///< RFC 1952; several members are one stream.
  zlib,    ///< RFC 1950.
  snappy,  ///< Recognised by its first bytes, for the error message; never read.
};

/// "none", "gzip", ...
constexpr std::string_view to_string(Compression compression) {
  constexpr std::string_view kNames[] = {"none", "gzip", "zlib", "snappy"};
  return kNames[static_cast<uint8_t>(compression)];
}

}  // namespace headpond
