// SPDX-License-Identifier: Apache-2.0
// The compression of a file.
#pragma once

#include <cstdint>
#include <string_view>

namespace headpond {

/// snappy stays the last one: is_known() counts up to it. What a new one needs: docs/how_to_add.md, "A compression".
enum class Compression : uint8_t {
  none,
  gzip,    ///< RFC 1952; several members are one stream.
  zlib,    ///< RFC 1950.
  snappy,  ///< Recognised by its first bytes, for the error message; never read.
};

/// False iff the value is none of the above, as one that was made from a number may be.
constexpr bool is_known(Compression compression) { return compression <= Compression::snappy; }

/// "none", "gzip", ...; "unknown" iff it is not known.
constexpr std::string_view to_string(Compression compression) {
  constexpr std::string_view kNames[] = {"none", "gzip", "zlib", "snappy"};
  return is_known(compression) ? kNames[static_cast<uint8_t>(compression)] : "unknown";
}

}  // namespace headpond
