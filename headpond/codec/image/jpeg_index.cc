// SPDX-License-Identifier: Apache-2.0
#include "headpond/codec/image/jpeg_index.h"

#include <fmt/format.h>

#include <exception>
#include <memory>

#include "headpond/codec/caught_internal.h"
#include "headpond/codec/image/baseline/baseline_internal.h"
#include "headpond/codec/image/jpeg_internal.h"

namespace headpond {

Result<std::vector<std::byte>> jpeg_index(std::span<const std::byte> file, int64_t interval,
                                          std::string_view name) try {
  if (interval < 0) {
    return fail(ErrorKind::InvalidArgument,
                fmt::format("{}: an index with a point every {} MCUs: 0 or more were expected", name, interval));
  }
  const auto layout = jpeg_internal::read_layout(file, {}, name);
  jpeg_internal::ScanIndex index;
  // Not on the stack, which may be small.
  const auto decoder = std::make_unique_for_overwrite<jpeg_internal::BaselineDecoder>();
  if (!layout || !layout->is_plain() || !decoder->make_index(file, interval, index)) return std::vector<std::byte>();
  return to_bytes(index);
} catch (const std::exception&) {
  return codec_internal::fail_caught(name);
}

}  // namespace headpond
