// SPDX-License-Identifier: Apache-2.0
// What a file is, by its first bytes.
#pragma once

#include <optional>
#include <string_view>

#include "headpond/codec/image/formats/format_internal.h"
#include "headpond/codec/image/formats/image.h"

namespace headpond::image_internal {

/// How many of the first bytes are looked at.
inline constexpr size_t kSignatureBytes = 512;

struct Signature {
  std::optional<ImageFormat> format = {};  ///< One that is decoded.
  std::string_view what = {};              ///< "a TIFF image", "HTML"; empty iff unknown.
  bool is_image = false;                   ///< `what` is an image.
};

Signature signature_of(Bytes head);

}  // namespace headpond::image_internal
