// SPDX-License-Identifier: Apache-2.0
// Instead of gif.cc where giflib is absent.
#include "headpond/codec/image/formats/format_internal.h"

namespace headpond::image_internal {

bool has_gif() { return false; }

Result<void> decode_gif(const Source& file, const PixelTarget&) {
  return file.error(ErrorKind::Unimplemented, "a GIF image: built without the component gif (HEADPOND_GIF)");
}

}  // namespace headpond::image_internal
