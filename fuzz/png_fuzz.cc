// SPDX-License-Identifier: Apache-2.0
// PNG from any bytes: pixels as the header says, or an error that names the file; the same into given memory, and again
// after encoding; a region of them; the header alone must agree with the file. Checksums are made right first, because
// almost no input would pass them.
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

void check(std::span<const std::byte> file, const headpond::PngOptions& options) {
  check_heads(file, options);
  const auto image = headpond::decode_png(file, options, "fuzz");
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
  const int channels = size == 0 ? 0 : data[size - 1] % 5;
  for (const auto dtype : {headpond::u8, headpond::u16}) {
    check(file, {.channels = channels, .dtype = dtype, .max_pixels = kMaxPixels});
  }
  return 0;
}
