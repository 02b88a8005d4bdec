// SPDX-License-Identifier: Apache-2.0
// What a file is, by its first bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace headpond::codec_internal {

/// How many of the first bytes are looked at.
inline constexpr size_t kSignatureBytes = 512;

/// The formats of images that are decoded, and what else there is. sound: of a format that is decoded.
enum class FileKind : uint8_t { unknown, jpeg, png, gif, webp, bmp, pnm, other_image, sound, other_sound, other };

struct Signature {
  FileKind kind = FileKind::unknown;
  std::string_view what = {};  ///< "a TIFF image", "HTML"; empty iff unknown.
};

Signature signature_of(std::span<const std::byte> head);

}  // namespace headpond::codec_internal
