// SPDX-License-Identifier: Apache-2.0
// What a program would write that uses libjpeg-turbo alone.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "headpond/base/status.h"
#include "headpond/codec/image/image_window.h"

namespace headpond::cli {

/// Decodes the columns of blocks around `window`, and its rows, to RGB in `pixels`. An error iff libjpeg-turbo has one.
/// Without the component jpeg always an error.
Result<void> decode_crop_only(std::span<const std::byte> file, const ImageWindow& window, std::vector<uint8_t>& pixels);

}  // namespace headpond::cli
