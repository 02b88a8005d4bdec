// SPDX-License-Identifier: Apache-2.0
// The manifest of a checkpoint: docs/formats/checkpoint.md.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "headpond/base/status.h"
#include "headpond/train/loop/checkpoint.h"

namespace headpond::internal {

inline constexpr const char* kManifest = "manifest.json";

struct ManifestFile {
  std::string name;
  uint64_t bytes = 0;
  uint32_t crc = 0;  ///< CRC-32C.
};
struct Manifest {
  CheckpointFacts facts;
  std::vector<ManifestFile> files;
};

/// Ends with the CRC-32C of all text before it.
std::string manifest_text(const Manifest& manifest);
/// DataLoss iff the text is not whole, Unimplemented iff it is of another version. `path` is for errors.
Result<Manifest> parse_manifest(std::string_view text, const std::string& path);

}  // namespace headpond::internal
