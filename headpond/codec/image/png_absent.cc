// SPDX-License-Identifier: Apache-2.0
// Instead of png.cc and png_encode.cc where libpng is absent.
#include <fmt/format.h>

#include "headpond/codec/image/png_internal.h"

namespace headpond {
namespace {

tl::unexpected<Error> absent(std::string_view name) {
  return fail(ErrorKind::Unimplemented, fmt::format("{}: built without the component png (HEADPOND_PNG)", name));
}

}  // namespace

bool has_png() { return false; }

Result<PngImage> decode_png(std::span<const std::byte>, const PngOptions&, std::string_view name) {
  return absent(name);
}

Result<PngImage> internal::decode_png_by_libpng(std::span<const std::byte>, const PngOptions&, std::string_view name) {
  return absent(name);
}

Result<PngWarnings> decode_png_into(std::span<const std::byte>, std::span<std::byte>, const PngOptions&,
                                    std::string_view name) {
  return absent(name);
}

Result<std::vector<std::byte>> encode_png(const Tensor&, int) { return absent("encode_png"); }

Result<PngWarnings> png_internal::decode_window(std::span<const std::byte>, const Layout&, const ImageWindow&,
                                                const PngOptions&, std::byte*, std::string_view name) {
  return absent(name);
}

}  // namespace headpond
