// SPDX-License-Identifier: Apache-2.0
#include "headpond/codec/image/png_kernel.h"

#include <fmt/format.h>

#include "headpond/codec/image/kernels/image_chain_internal.h"

namespace headpond {
namespace {

using image_internal::DecodeStage;

// The options that are not the default.
std::vector<std::string> parts_of(const ImageOptions& options) {
  const ImageOptions usual;
  std::vector<std::string> parts;
  if (options.channels != usual.channels) parts.push_back(fmt::format("channels={}", options.channels));
  if (options.dtype != usual.dtype) parts.push_back(fmt::format("dtype={}", name(options.dtype)));
  if (!options.apply_exif_orientation) parts.emplace_back("apply_exif_orientation=false");
  if (options.max_pixels != usual.max_pixels) parts.push_back(fmt::format("max_pixels={}", options.max_pixels));
  if (options.max_memory != usual.max_memory) parts.push_back(fmt::format("max_memory={}", options.max_memory));
  return parts;
}

}  // namespace

KernelRef image_internal::decode_kernel(const std::string& name, DecodeStage::Format format,
                                        const ImageOptions& options) {
  const auto refuse = [&](const char* what) { refuse_option(name, what); };
  if (options.channels < 0 || options.channels > 4) refuse("channels must be 0 to 4");
  if (options.dtype != DType::u8 && options.dtype != DType::u16) refuse("dtype must be uint8 or uint16");
  if (options.max_pixels < 1) refuse("max_pixels must be at least 1");
  if (options.max_memory < 1) refuse("max_memory must be at least 1");
  return std::make_shared<ImageChain>(title_of(name, parts_of(options)), "",
                                      Stages{{DecodeStage{{}, format, options}, name, 0, false}});
}

KernelRef decode_png(const ImageOptions& options) {
  return image_internal::decode_kernel("decode_png", DecodeStage::Format::png, options);
}

}  // namespace headpond
