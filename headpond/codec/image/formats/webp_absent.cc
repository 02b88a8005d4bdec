// SPDX-License-Identifier: Apache-2.0
// Instead of webp.cc where libwebp is absent.
#include "headpond/codec/image/formats/format_internal.h"

namespace headpond::image_internal {

bool has_webp() { return false; }

Result<void> decode_webp(const Source& file, const PixelTarget&) {
  return file.error(ErrorKind::Unimplemented, "a WebP image: built without the component webp (HEADPOND_WEBP)");
}

}  // namespace headpond::image_internal
