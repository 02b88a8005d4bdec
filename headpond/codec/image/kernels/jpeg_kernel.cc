// SPDX-License-Identifier: Apache-2.0
#include "headpond/codec/image/kernels/jpeg_kernel.h"

#include <fmt/format.h>

#include <string>

#include "headpond/codec/image/kernels/image_chain_internal.h"

namespace headpond {
namespace {

constexpr const char* kDecodeJpeg = "decode_jpeg";

// Refuses what the functions refuse, but while the pipeline is built.
void check_jpeg_options(const JpegOptions& options) {
  const auto checked = jpeg_internal::check_options(options, kDecodeJpeg);
  if (!checked) throw Exception(checked.error());
  if (options.max_pixels < 1 || options.max_scans < 1 || options.max_memory < 1) {
    image_internal::refuse_option(kDecodeJpeg, "max_pixels, max_scans and max_memory must be at least 1");
  }
}

std::vector<std::string> parts_of(const JpegOptions& options) {
  const JpegOptions usual;
  std::vector<std::string> parts;
  const auto note = [&](bool differs, const auto& value, const char* name) {
    if (differs) parts.push_back(fmt::format("{}={}", name, value));
  };
  constexpr std::string_view kDamages[] = {"fail", "strict", "recover"};
  note(options.channels != usual.channels, options.channels, "channels");
  note(options.ratio != usual.ratio, options.ratio, "ratio");
  note(options.fancy_upscaling != usual.fancy_upscaling, options.fancy_upscaling, "fancy_upscaling");
  note(options.dct_method != usual.dct_method, options.dct_method, "dct_method");
  note(options.damage != usual.damage, kDamages[static_cast<size_t>(options.damage)], "damage");
  note(options.acceptable_fraction != usual.acceptable_fraction, options.acceptable_fraction, "acceptable_fraction");
  note(options.apply_exif_orientation != usual.apply_exif_orientation, options.apply_exif_orientation,
       "apply_exif_orientation");
  note(options.check != usual.check, "whole", "check");
  note(options.scale != usual.scale, "fit", "scale");
  note(options.max_pixels != usual.max_pixels, options.max_pixels, "max_pixels");
  note(options.max_scans != usual.max_scans, options.max_scans, "max_scans");
  note(options.max_memory != usual.max_memory, options.max_memory, "max_memory");
  return parts;
}

}  // namespace

KernelRef decode_jpeg(const JpegOptions& options) {
  using namespace image_internal;
  check_jpeg_options(options);
  return std::make_shared<ImageChain>(title_of(kDecodeJpeg, parts_of(options)), "",
                                      Stages{{DecodeStage{options}, kDecodeJpeg, 0, false}});
}

}  // namespace headpond
