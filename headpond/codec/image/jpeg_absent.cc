// SPDX-License-Identifier: Apache-2.0
// Instead of jpeg.cc and jpeg_encode.cc where libjpeg-turbo is absent.
#include <fmt/format.h>

#include "headpond/codec/image/jpeg.h"
#include "headpond/codec/image/jpeg_index.h"
#include "headpond/codec/image/jpeg_internal.h"

namespace headpond {
namespace {

tl::unexpected<Error> absent(std::string_view name) {
  return fail(ErrorKind::Unimplemented, fmt::format("{}: built without the component jpeg (HEADPOND_JPEG)", name));
}

}  // namespace

bool has_jpeg() { return false; }

Result<JpegImage> decode_jpeg(std::span<const std::byte>, const JpegOptions&, std::string_view name) {
  return absent(name);
}

Result<JpegWarnings> decode_jpeg_into(std::span<const std::byte>, std::span<std::byte>, const JpegOptions&,
                                      std::string_view name) {
  return absent(name);
}

Result<JpegImage> decode_and_crop_jpeg(std::span<const std::byte>, const ImageWindow&, const JpegOptions&,
                                       std::string_view name) {
  return absent(name);
}

Result<JpegImage> decode_indexed_jpeg(std::span<const std::byte>, std::span<const std::byte>, const ImageWindow&,
                                      const JpegOptions&, std::string_view name) {
  return absent(name);
}

Result<std::vector<std::byte>> encode_jpeg(const Tensor&, const JpegEncodeOptions&) { return absent("encode_jpeg"); }

struct jpeg_internal::Decoder::Library {};
jpeg_internal::Decoder::Decoder() = default;
jpeg_internal::Decoder::~Decoder() = default;

Result<void> jpeg_internal::Decoder::open(std::span<const std::byte>, const JpegOptions&, std::string_view name,
                                          std::span<const std::byte>) {
  return absent(name);
}

Result<JpegWarnings> jpeg_internal::Decoder::decode(const ImageWindow&, const JpegOptions&, std::byte*,
                                                    std::string_view name) {
  return absent(name);
}

std::array<bool, 2> jpeg_internal::Decoder::try_two(const Part&, const Part&) { return {}; }

}  // namespace headpond
