// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace headpond {

/// The order of an image's dimensions: [height, width, channels], as decoders give it, or [channels, height, width], as
/// networks take it.
enum class ImageLayout : uint8_t { hwc, chw };

}  // namespace headpond
