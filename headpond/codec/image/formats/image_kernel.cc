// SPDX-License-Identifier: Apache-2.0
#include "headpond/codec/image/formats/image_kernel.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <string>
#include <vector>

namespace headpond {
namespace {

[[noreturn]] void refuse_image(const std::string& what) {
  throw Exception(Error(ErrorKind::InvalidArgument, "decode_image: " + what));
}

// The options that are not the default.
std::string title_of(const ImageOptions& options) {
  const ImageOptions usual;
  std::vector<std::string> parts;
  if (options.channels != usual.channels) parts.push_back(fmt::format("channels={}", options.channels));
  if (options.dtype != usual.dtype) parts.push_back(fmt::format("dtype={}", name(options.dtype)));
  if (!options.apply_exif_orientation) parts.emplace_back("apply_exif_orientation=false");
  if (options.max_pixels != usual.max_pixels) parts.push_back(fmt::format("max_pixels={}", options.max_pixels));
  if (options.max_memory != usual.max_memory) parts.push_back(fmt::format("max_memory={}", options.max_memory));
  return parts.empty() ? "decode_image" : fmt::format("decode_image({})", fmt::join(parts, ", "));
}

class DecodeImage final : public Kernel {
 public:
  explicit DecodeImage(const ImageOptions& options)
      : Kernel({.title = title_of(options), .result = [options](const Spec& in) { return pixels(in, options); }}),
        options_(options) {}

  Result<void> run(KernelCall& call) const override {
    const std::string_view text = call.in().bytes_at(0);
    const std::span<const std::byte> file(reinterpret_cast<const std::byte*>(text.data()), text.size());
    const auto info = image_info(file, file.size(), options_);
    if (!info) return fail(info.error());
    const Shape shape = {info->height, info->width, options_.channels == 0 ? info->channels : options_.channels};
    const size_t bytes = static_cast<size_t>(*shape.size()) * item_size(options_.dtype);
    const auto decoded = decode_image_into(file, {call.make(0, options_.dtype, shape), bytes}, options_);
    if (!decoded) return fail(decoded.error());
    return {};
  }

 private:
  static Spec pixels(Spec spec, const ImageOptions& options) {
    if (spec[0].dtype != DType::bytes || spec[0].shape.rank() != 0) {
      refuse_image(fmt::format("takes bytes[], not {}{}", name(spec[0].dtype), spec[0].shape.to_string()));
    }
    spec[0].dtype = options.dtype;
    spec[0].shape = {kUnknown, kUnknown, options.channels == 0 ? kUnknown : options.channels};
    return spec;
  }

  const ImageOptions options_;
};

}  // namespace

KernelRef decode_image(const ImageOptions& options) {
  if (options.channels < 0 || options.channels > 4) refuse_image("channels must be 0 to 4");
  if (options.dtype != DType::u8 && options.dtype != DType::u16) refuse_image("dtype must be uint8 or uint16");
  if (options.max_pixels < 1) refuse_image("max_pixels must be at least 1");
  if (options.max_memory < 1) refuse_image("max_memory must be at least 1");
  return std::make_shared<DecodeImage>(options);
}

}  // namespace headpond
