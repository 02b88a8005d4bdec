// SPDX-License-Identifier: Apache-2.0
// PNG from any bytes: pixels as the header says, or an error that names the file; the same into given memory, and again
// after encoding; a region of them; the header alone must agree with the file; libpng alone says the same. Checksums
// are made right first, because almost no input would pass them. The input is also taken for the compressed data of an
// image.
#include <zlib.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>
#include <vector>

#include "headpond/codec/image/kernels/crop_kernels.h"
#include "headpond/codec/image/png.h"
#include "headpond/codec/image/png_kernel.h"

namespace {

constexpr int64_t kMaxPixels = 1 << 16;

std::vector<std::byte> with_checksums(const uint8_t* data, size_t size) {
  std::vector<uint8_t> file(data, data + size);
  for (size_t at = 8; at + 12 <= size;) {
    const size_t length = size_t{file[at]} << 24 | file[at + 1] << 16 | file[at + 2] << 8 | file[at + 3];
    if (length > size - at - 12) break;
    const auto crc = static_cast<uint32_t>(crc32(0, &file[at + 4], static_cast<uInt>(length + 4)));
    for (size_t i = 0; i < 4; ++i) file[at + 8 + length + i] = static_cast<uint8_t>(crc >> (24 - 8 * i));
    at += length + 12;
  }
  const auto bytes = std::as_bytes(std::span(file));
  return {bytes.begin(), bytes.end()};
}

void append(std::vector<uint8_t>& to, const char* type, std::span<const uint8_t> body) {
  const auto word = [&to](size_t value) {
    for (int shift = 24; shift >= 0; shift -= 8) to.push_back(static_cast<uint8_t>(value >> shift));
  };
  word(body.size());
  const size_t begin = to.size();
  to.insert(to.end(), type, type + 4);
  to.insert(to.end(), body.begin(), body.end());
  word(crc32(0, &to[begin], static_cast<uInt>(to.size() - begin)));
}

// `data` up to the end of their last block, as far as they are blocks of deflate, as a stream with a right checksum.
std::vector<uint8_t> stream_of(std::span<const uint8_t> data) {
  std::vector<uint8_t> inflated(size_t{1} << 20);
  z_stream state = {};
  inflateInit2(&state, -15);
  state.next_in = const_cast<Bytef*>(data.data());
  state.avail_in = static_cast<uInt>(data.size());
  state.next_out = inflated.data();
  state.avail_out = static_cast<uInt>(inflated.size());
  const bool is_whole = inflate(&state, Z_FINISH) == Z_STREAM_END;
  inflateEnd(&state);
  if (is_whole) data = data.first(state.total_in);
  std::vector<uint8_t> stream = {0x78, 0x01};
  stream.insert(stream.end(), data.begin(), data.end());
  const auto sum = static_cast<uint32_t>(adler32(1, inflated.data(), static_cast<uInt>(state.total_out)));
  for (int shift = 24; shift >= 0; shift -= 8) stream.push_back(static_cast<uint8_t>(sum >> shift));
  return stream;
}

// The first bytes choose size and kind of the image, the others are its compressed data.
std::vector<std::byte> as_image_data(std::span<const uint8_t> data) {
  constexpr size_t kChoices = 4;
  if (data.size() < kChoices) return {};
  constexpr uint8_t kTypes[] = {0, 2, 4, 6, 3};
  const uint8_t type = kTypes[data[0] % 5], depth = type != 3 && data[1] % 4 == 3 ? 16 : 8;
  const std::vector<uint8_t> header = {
      0, 0, 0, static_cast<uint8_t>(1 + data[2] % 80), 0, 0, 0, static_cast<uint8_t>(1 + data[3] % 80), depth, type,
      0, 0, 0};
  std::vector<uint8_t> file = {0x89, 'P', 'N', 'G', '\r', '\n', 0x1a, '\n'};
  append(file, "IHDR", header);
  const std::vector<uint8_t> colors(3 * 200, 0x5a);
  if (type == 3) append(file, "PLTE", colors);
  append(file, "IDAT", stream_of(data.subspan(kChoices)));
  append(file, "IEND", {});
  const auto bytes = std::as_bytes(std::span(file));
  return {bytes.begin(), bytes.end()};
}

// The header of a part agrees with the whole file, or the part is too short.
void check_heads(std::span<const std::byte> file, const headpond::PngOptions& options) {
  const auto whole = headpond::png_info(file, file.size(), options, "fuzz");
  for (const size_t size : {size_t{33}, file.size() / 2, file.size() - file.size() / 8}) {
    if (size > file.size()) continue;
    const auto info = headpond::png_info(file.first(size), file.size(), options, "fuzz");
    if (info && whole && *info != *whole) __builtin_trap();
    if (!info && whole && info.error().kind() != headpond::ErrorKind::FailedPrecondition) __builtin_trap();
    if (!info && !info.error().message().starts_with("fuzz: ")) __builtin_trap();
  }
}

// The lower right quarter of the image has the pixels of the whole one.
void check_region(std::span<const std::byte> file, const headpond::Tensor& pixels,
                  const headpond::PngOptions& options) {
  if (options.dtype != headpond::u8) return;  // Nothing joins with those of 16 bits.
  const int64_t height = pixels.dim(0), width = pixels.dim(1), y = height / 2, x = width / 2;
  const std::vector<headpond::KernelRef> chain = {headpond::decode_png(options),
                                                  headpond::crop(y, x, {height - y, width - x})};
  const std::string_view text(reinterpret_cast<const char*>(file.data()), file.size());
  const auto part = headpond::run_kernels(chain, headpond::Tensor::scalar(text));
  if (!part || !part->has_shape({height - y, width - x, pixels.dim(2)})) __builtin_trap();
  const auto pixel = static_cast<size_t>(pixels.dim(2)), row = static_cast<size_t>(width - x) * pixel;
  for (int64_t i = 0; i < height - y; ++i) {
    const std::byte* const from = pixels.data() + static_cast<size_t>((y + i) * width + x) * pixel;
    if (std::memcmp(part->data() + static_cast<size_t>(i) * row, from, row) != 0) __builtin_trap();
  }
}

// libpng alone gives the same.
void check_libpng(std::span<const std::byte> file, const headpond::Result<headpond::PngImage>& image,
                  const headpond::PngOptions& options) {
  const auto other = headpond::internal::decode_png_by_libpng(file, options, "fuzz");
  if (image.has_value() != other.has_value()) __builtin_trap();
  if (!image) {
    if (image.error().to_string() != other.error().to_string()) __builtin_trap();
    return;
  }
  const headpond::Tensor &a = image->pixels, &b = other->pixels;
  if (a.shape() != b.shape() || std::memcmp(a.data(), b.data(), a.byte_size()) != 0) __builtin_trap();
  if (image->warnings.count != other->warnings.count || image->warnings.first != other->warnings.first)
    __builtin_trap();
}

void check(std::span<const std::byte> file, const headpond::PngOptions& options) {
  check_heads(file, options);
  const auto image = headpond::decode_png(file, options, "fuzz");
  check_libpng(file, image, options);
  if (!image) {
    if (!image.error().message().starts_with("fuzz: ")) __builtin_trap();
    return;
  }
  const headpond::Tensor& pixels = image->pixels;
  const auto info = headpond::png_info(file, file.size(), options, "fuzz");
  const int channels = options.channels == 0 ? info->channels : options.channels;
  if (!pixels.has_shape({info->height, info->width, channels})) __builtin_trap();
  std::vector<std::byte> target(pixels.byte_size());
  if (!headpond::decode_png_into(file, target, options, "fuzz")) __builtin_trap();
  if (std::memcmp(target.data(), pixels.data(), target.size()) != 0) __builtin_trap();
  check_region(file, pixels, options);
  const auto again = headpond::decode_png(headpond::encode_png(pixels, 1).value(), options);
  if (std::memcmp(target.data(), again->pixels.data(), target.size()) != 0) __builtin_trap();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::span<const std::byte> raw = std::as_bytes(std::span<const uint8_t>(data, size));
  check(raw, {.max_pixels = kMaxPixels});
  const auto file = with_checksums(data, size);
  const auto made = as_image_data({data, size});
  const int channels = size == 0 ? 0 : data[size - 1] % 5;
  for (const auto dtype : {headpond::u8, headpond::u16}) {
    check(file, {.channels = channels, .dtype = dtype, .max_pixels = kMaxPixels});
    check(made, {.channels = channels, .dtype = dtype, .max_pixels = kMaxPixels});
  }
  return 0;
}
