// SPDX-License-Identifier: Apache-2.0
#include "headpond/codec/image/formats/image.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <exception>
#include <optional>
#include <utility>
#include <vector>

#include "headpond/codec/caught_internal.h"
#include "headpond/codec/image/exif_internal.h"
#include "headpond/codec/image/formats/format_internal.h"
#include "headpond/codec/image/jpeg.h"
#include "headpond/codec/image/png.h"
#include "headpond/codec/signature_internal.h"

namespace headpond {
namespace {

using codec_internal::FileKind;
using codec_internal::Signature;
using image_internal::Bytes;
using image_internal::is_plain_jpeg;
using image_internal::jpeg_options;
using image_internal::Picture;
using image_internal::PixelTarget;
using image_internal::Source;
using image_internal::swaps_sides;

// How one of the smaller formats is read.
struct Reader {
  ImageFormat format;
  Result<Picture> (*picture)(const Source&);
  Result<void> (*decode)(const Source&, const PixelTarget&);
};
constexpr std::array kReaders = {
    Reader{ImageFormat::bmp, image_internal::bmp_picture, image_internal::decode_bmp},
    Reader{ImageFormat::pnm, image_internal::pnm_picture, image_internal::decode_pnm},
    Reader{ImageFormat::webp, image_internal::webp_picture, image_internal::decode_webp},
    Reader{ImageFormat::gif, image_internal::gif_picture, image_internal::decode_gif},
};

const Reader& reader_of(ImageFormat format) { return *std::ranges::find(kReaders, format, &Reader::format); }

// What the file is, and the image in it.
struct Found {
  ImageFormat format;
  Picture picture;

  int64_t height() const { return swaps_sides(picture.orientation) ? picture.width : picture.height; }
  int64_t width() const { return swaps_sides(picture.orientation) ? picture.height : picture.width; }
  int channels(const ImageOptions& options) const {
    return options.channels == 0 ? picture.channels : options.channels;
  }
  size_t pixel_bytes(const ImageOptions& options) const {
    return static_cast<size_t>(channels(options)) * item_size(options.dtype);
  }
  Shape shape(const ImageOptions& options) const { return {height(), width(), channels(options)}; }
  size_t bytes(const ImageOptions& options) const {
    return static_cast<size_t>(*shape(options).size()) * item_size(options.dtype);
  }
};

// Whatever the format, its mark is in these.
constexpr uint64_t kMarkBytes = 12;

std::optional<ImageFormat> decoded_format(const Signature& found) {
  switch (found.kind) {
    case FileKind::jpeg:
      return ImageFormat::jpeg;
    case FileKind::png:
      return ImageFormat::png;
    case FileKind::gif:
      return ImageFormat::gif;
    case FileKind::webp:
      return ImageFormat::webp;
    case FileKind::bmp:
      return ImageFormat::bmp;
    case FileKind::pnm:
      return ImageFormat::pnm;
    default:
      return std::nullopt;
  }
}

Result<ImageFormat> format_of(const Source& source) {
  const Signature found = codec_internal::signature_of(source.head);
  if (const auto format = decoded_format(found)) return *format;
  if (!source.is_whole()) HEADPOND_TRY(source.need(kMarkBytes));
  if (found.what.empty()) {
    const size_t shown = std::min<size_t>(source.head.size(), 8);
    return source.invalid(fmt::format("no image: it begins with {:02x}", fmt::join(source.head.first(shown), " ")));
  }
  if (found.kind != FileKind::other_image) return source.invalid(fmt::format("no image: it is {}", found.what));
  return source.error(ErrorKind::Unimplemented,
                      fmt::format("{} is not supported: convert it to PNG, or its pixels to npy", found.what));
}

Result<Picture> picture_of(const Source& source, ImageFormat format, const ImageOptions& options) {
  if (format == ImageFormat::jpeg) {
    const auto info = jpeg_info(source.head, source.file_bytes, jpeg_options(options), source.name);
    if (!info) return fail(info.error());
    return Picture{info->height, info->width, info->channels, false, is_plain_jpeg(options) ? 0 : 3};
  }
  if (format == ImageFormat::png) {
    const auto info = png_info(source.head, source.file_bytes, options, source.name);
    if (!info) return fail(info.error());
    return Picture{info->height, info->width, info->channels, info->bit_depth == 16, 0};
  }
  return reader_of(format).picture(source);
}

Result<void> check_options(const Source& source, const ImageOptions& options) {
  if (options.channels < 0 || options.channels > 4 || (options.dtype != DType::u8 && options.dtype != DType::u16)) {
    return source.invalid(fmt::format("channels {} of {}: 0 to 4 of uint8 or uint16 were expected", options.channels,
                                      headpond::name(options.dtype)));
  }
  return {};
}

Result<void> check_limits(const Source& source, const Found& found, const ImageOptions& options) {
  const int64_t height = found.picture.height, width = found.picture.width;
  const auto pixel = static_cast<int64_t>(found.pixel_bytes(options));
  const int64_t each = pixel * (found.picture.orientation == 1 ? 1 : 2) + found.picture.extra_bytes;
  int64_t pixels = 0, bytes = 0;
  const bool is_beyond = __builtin_mul_overflow(height, width, &pixels) || __builtin_mul_overflow(pixels, each, &bytes);
  if (is_beyond || pixels > options.max_pixels) {
    return source.error(ErrorKind::ResourceExhausted,
                        fmt::format("{} x {} pixels: more than the limit of {}", width, height, options.max_pixels));
  }
  if (bytes > options.max_memory) {
    return source.error(ErrorKind::ResourceExhausted,
                        fmt::format("{} x {} pixels take {} bytes: more than the limit of {}", width, height, bytes,
                                    options.max_memory));
  }
  return {};
}

Result<Found> find(const Source& source, const ImageOptions& options) {
  HEADPOND_TRY(check_options(source, options));
  const auto format = format_of(source);
  if (!format) return fail(format.error());
  const auto picture = picture_of(source, *format, options);
  if (!picture) return fail(picture.error());
  const Found found = {*format, *picture};
  HEADPOND_TRY(check_limits(source, found, options));
  return found;
}

// A JPEG in a form that libjpeg-turbo does not give.
Result<ImageWarnings> convert_jpeg(const Source& file, const PixelTarget& to, const ImageOptions& options) {
  auto image = decode_jpeg(file.head, jpeg_options(options), file.name);
  if (!image) return fail(std::move(image).error());
  const Shape& shape = image->pixels.shape();
  const auto channels = static_cast<int>(shape[2]);
  const auto values = image->pixels.as<uint8_t>();
  for (int64_t y = 0; y < shape[0]; ++y) to.put_row(y, &values[static_cast<size_t>(y * shape[1] * channels)], channels);
  return ImageWarnings{image->warnings.count, std::move(image->warnings.first)};
}

template <class Warnings>
Result<ImageWarnings> as_warnings(Result<Warnings> warnings) {
  if (!warnings) return fail(std::move(warnings).error());
  return ImageWarnings{warnings->count, std::move(warnings->first)};
}

// `target` has the size of the pixels.
Result<ImageWarnings> decode_to(const Source& file, const Found& found, std::span<std::byte> target,
                                const ImageOptions& options) {
  if (found.format == ImageFormat::png) {
    return as_warnings(decode_png_into(file.head, target, options, file.name));
  }
  const auto& picture = found.picture;
  std::vector<std::byte> stored;
  if (picture.orientation != 1) stored.resize(target.size());
  std::byte* const memory = stored.empty() ? target.data() : stored.data();
  const PixelTarget to(memory, picture.width, found.channels(options), options.dtype);
  if (found.format == ImageFormat::jpeg) {
    if (!is_plain_jpeg(options)) return convert_jpeg(file, to, options);
    return as_warnings(decode_jpeg_into(file.head, target, jpeg_options(options), file.name));
  }
  HEADPOND_TRY(reader_of(found.format).decode(file, to));
  if (!stored.empty()) {
    image_internal::turn_image(stored.data(), picture.height, picture.width, found.pixel_bytes(options),
                               picture.orientation, target.data());
  }
  return ImageWarnings();
}

}  // namespace

JpegOptions image_internal::jpeg_options(const ImageOptions& options) {
  const int channels = options.channels == 2 ? 1 : options.channels == 4 ? 3 : options.channels;
  return {.channels = channels,
          .apply_exif_orientation = options.apply_exif_orientation,
          .max_pixels = options.max_pixels,
          .max_memory = options.max_memory};
}

bool image_internal::is_plain_jpeg(const ImageOptions& options) {
  return options.dtype == DType::u8 && jpeg_options(options).channels == options.channels;
}

std::string_view name(ImageFormat format) {
  constexpr std::array<std::string_view, 6> kNames = {"jpeg", "png", "bmp", "pnm", "webp", "gif"};
  return kNames[static_cast<size_t>(format)];
}

std::optional<ImageFormat> image_format(std::span<const std::byte> head) {
  return decoded_format(codec_internal::signature_of(head));
}

bool has_decoder(ImageFormat format) {
  if (format == ImageFormat::jpeg) return has_jpeg();
  if (format == ImageFormat::png) return has_png();
  if (format == ImageFormat::webp) return image_internal::has_webp();
  return format != ImageFormat::gif || image_internal::has_gif();
}

Result<ImageInfo> image_info(std::span<const std::byte> head, uint64_t file_bytes, const ImageOptions& options,
                             std::string_view name) try {
  const Source source = {head.first(std::min<uint64_t>(head.size(), file_bytes)), file_bytes, name,
                         options.apply_exif_orientation};
  if (source.head.empty()) HEADPOND_TRY(source.need(1));
  const auto found = find(source, options);
  if (!found) return fail(found.error());
  const Picture& picture = found->picture;
  return ImageInfo{found->format, found->height(), found->width(), picture.channels, picture.is_wide ? 16 : 8};
} catch (const std::exception&) {
  return codec_internal::fail_caught(name);
}

Result<DecodedImage> decode_image(std::span<const std::byte> file, const ImageOptions& options,
                                  std::string_view name) try {
  const Source source = {file, file.size(), name, options.apply_exif_orientation};
  const auto found = find(source, options);
  if (!found) return fail(found.error());
  Tensor pixels = Tensor::empty(options.dtype, found->shape(options));
  auto warnings = decode_to(source, *found, {pixels.mutable_data(), pixels.byte_size()}, options);
  if (!warnings) return fail(std::move(warnings).error());
  return DecodedImage{std::move(pixels), *std::move(warnings)};
} catch (const std::exception&) {
  return codec_internal::fail_caught(name);
}

Result<ImageWarnings> decode_image_into(std::span<const std::byte> file, std::span<std::byte> target,
                                        const ImageOptions& options, std::string_view name) try {
  const Source source = {file, file.size(), name, options.apply_exif_orientation};
  const auto found = find(source, options);
  if (!found) return fail(found.error());
  const bool is_aligned = reinterpret_cast<uintptr_t>(target.data()) % item_size(options.dtype) == 0;
  if (target.size() != found->bytes(options) || !is_aligned) {
    return source.invalid(fmt::format("{} x {} pixels of {} channels of {} need {} bytes, aligned; the target has {}",
                                      found->width(), found->height(), found->channels(options),
                                      headpond::name(options.dtype), found->bytes(options), target.size()));
  }
  return decode_to(source, *found, target, options);
} catch (const std::exception&) {
  return codec_internal::fail_caught(name);
}

}  // namespace headpond
