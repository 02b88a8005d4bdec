// SPDX-License-Identifier: Apache-2.0
#include <cstring>
#include <string_view>
#include <utility>

#include "headpond/codec/image/formats/format_internal.h"
#include "headpond/codec/image/formats/image.h"
#include "headpond/codec/image/kernels/file_decoder_internal.h"

namespace headpond::image_internal {
namespace {

constexpr std::string_view kJpeg = "jpeg", kPng = "png";

// Words the error like the kernel decode_jpeg(), whose name is in the message already.
tl::unexpected<Error> fail_jpeg(const Error& error) {
  return fail(error.kind(), error.message().substr(kJpeg.size() + 2));
}

// Takes the warnings of any format.
template <class Warnings>
Result<KernelDefects> as_defects(Result<Warnings> warnings) {
  if (!warnings) return fail(std::move(warnings).error());
  return KernelDefects{warnings->count, std::move(warnings->first)};
}

}  // namespace

Result<void> FileDecoder::open(std::span<const std::byte> file, const DecodeStage& stage,
                               std::span<const std::byte> index) {
  file_ = file;
  index_ = index;
  options_ = stage.image;
  jpeg_options_ = stage.options;
  switch (stage.format) {
    case DecodeStage::Format::jpeg:
      return open_jpeg();
    case DecodeStage::Format::png:
      return open_png();
    case DecodeStage::Format::any:
      return open_any();
  }
  return {};
}

Result<void> FileDecoder::open_jpeg() {
  way_ = Way::jpeg;
  const auto opened = jpeg_.open(file_, jpeg_options_, kJpeg, index_);
  if (!opened) return fail_jpeg(opened.error());
  const jpeg_internal::Layout& layout = jpeg_.layout();
  height_ = layout.decoded_height(jpeg_options_);
  width_ = layout.decoded_width(jpeg_options_);
  channels_ = jpeg_options_.channels == 0 ? layout.own_channels() : jpeg_options_.channels;
  return {};
}

Result<void> FileDecoder::open_png() {
  way_ = Way::png;
  const auto layout = png_internal::read_layout(file_, options_, kPng);
  if (!layout) return fail(layout.error());
  png_ = *layout;
  height_ = png_.height;
  width_ = png_.width;
  channels_ = options_.channels == 0 ? png_.channels() : options_.channels;
  return {};
}

Result<void> FileDecoder::open_any() {
  const auto info = image_info(file_, file_.size(), options_);
  if (!info) return fail(info.error());
  jpeg_options_ = jpeg_options(options_);
  if (info->format == ImageFormat::png) return open_png();
  if (info->format == ImageFormat::jpeg && is_plain_jpeg(options_)) return open_jpeg();
  way_ = Way::whole;
  height_ = info->height;
  width_ = info->width;
  channels_ = options_.channels == 0 ? info->channels : options_.channels;
  return {};
}

Result<KernelDefects> FileDecoder::decode(const ImageWindow& part, int ratio, std::byte* to) {
  if (way_ == Way::png) return as_defects(png_internal::decode_window(file_, png_, part, options_, to, kPng));
  if (way_ == Way::whole) return decode_whole(part, to);
  jpeg_options_.ratio = ratio;
  auto decoded = jpeg_.decode(part, jpeg_options_, to, kJpeg);
  if (!decoded) return fail_jpeg(decoded.error());
  auto defects = as_defects(std::move(decoded));
  if (jpeg_.ignores_index()) *defects = {defects->count + 1, "the index is of another file"};
  return defects;
}

std::array<bool, 2> FileDecoder::try_two(const Part& first, const Part& second) {
  for (const Part* const one : {&first, &second}) {
    FileDecoder& file = one->file;
    if (file.way_ != Way::jpeg || file.jpeg_.ignores_index()) return {};
    file.jpeg_options_.ratio = one->ratio;
  }
  const auto part = [](const Part& of) {
    return jpeg_internal::Decoder::Part{of.file.jpeg_, of.part, of.file.jpeg_options_, of.to};
  };
  return jpeg_internal::Decoder::try_two(part(first), part(second));
}

Result<KernelDefects> FileDecoder::decode_whole(const ImageWindow& part, std::byte* to) const {
  const size_t pixel = static_cast<size_t>(channels_) * item_size(options_.dtype);
  const size_t row = static_cast<size_t>(width_) * pixel, all = row * static_cast<size_t>(height_);
  const bool is_all = part == ImageWindow{0, 0, height_, width_};
  Tensor whole;
  if (!is_all) whole = Tensor::empty(options_.dtype, {height_, width_, channels_});
  auto decoded = as_defects(decode_image_into(file_, {is_all ? to : whole.mutable_data(), all}, options_));
  if (!decoded || is_all) return decoded;
  const size_t part_row = static_cast<size_t>(part.width) * pixel;
  const std::byte* from = whole.data() + static_cast<size_t>(part.y) * row + static_cast<size_t>(part.x) * pixel;
  for (int64_t y = 0; y < part.height; ++y, from += row, to += part_row) std::memcpy(to, from, part_row);
  return decoded;
}

}  // namespace headpond::image_internal
