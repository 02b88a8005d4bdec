// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <png.h>

#include <array>
#include <cstring>
#include <new>

#include "headpond/codec/image/png.h"

namespace headpond {
namespace {

// The encoding of a file; see png.cc for the reason of this object.
struct Session {
  Session() = default;
  ~Session() { png_destroy_write_struct(&png, &info); }
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  uint32_t width = 0, height = 0;
  int channels = 0, bit_depth = 0, level = 0;
  const std::byte* pixels = nullptr;
  std::vector<std::byte> file;
  png_structp png = nullptr;
  png_infop info = nullptr;
  std::array<char, 128> error = {};
};

[[noreturn]] void on_error(png_structp png, png_const_charp text) {
  auto& error = static_cast<Session*>(png_get_error_ptr(png))->error;
  std::strncpy(error.data(), text, error.size() - 1);
  png_longjmp(png, 1);
}
void on_warning(png_structp /*png*/, png_const_charp /*text*/) {}

// Exceptions must not pass through libpng.
bool append(std::vector<std::byte>& file, const std::byte* from, size_t count) noexcept try {
  file.insert(file.end(), from, from + count);
  return true;
} catch (const std::bad_alloc&) {
  return false;
}

void on_write(png_structp png, png_bytep from, size_t count) {
  auto& file = static_cast<Session*>(png_get_io_ptr(png))->file;
  if (!append(file, reinterpret_cast<const std::byte*>(from), count)) png_error(png, "Out of memory");
}
void on_flush(png_structp /*png*/) {}

// False, with session.error set, iff libpng fails.
bool encode(Session& session) {
  session.png = png_create_write_struct(PNG_LIBPNG_VER_STRING, &session, on_error, on_warning);
  if (session.png == nullptr) return false;
  if (setjmp(png_jmpbuf(session.png)) != 0) return false;
  session.info = png_create_info_struct(session.png);
  if (session.info == nullptr) png_error(session.png, "Out of memory");
  constexpr std::array kTypes = {PNG_COLOR_TYPE_GRAY, PNG_COLOR_TYPE_GRAY_ALPHA, PNG_COLOR_TYPE_RGB,
                                 PNG_COLOR_TYPE_RGB_ALPHA};
  png_set_write_fn(session.png, &session, on_write, on_flush);
  png_set_user_limits(session.png, 0x7fffffff, 0x7fffffff);
  png_set_compression_level(session.png, session.level);
  png_set_IHDR(session.png, session.info, session.width, session.height, session.bit_depth,
               kTypes[static_cast<size_t>(session.channels - 1)], PNG_INTERLACE_NONE, PNG_COMPRESSION_TYPE_DEFAULT,
               PNG_FILTER_TYPE_DEFAULT);
  png_write_info(session.png, session.info);
  if (session.bit_depth == 16) png_set_swap(session.png);
  const size_t row_bytes = size_t{session.width} * static_cast<size_t>(session.channels * session.bit_depth / 8);
  for (size_t y = 0; y < session.height; ++y) {
    png_write_row(session.png, reinterpret_cast<png_const_bytep>(session.pixels + y * row_bytes));
  }
  png_write_end(session.png, session.info);
  return true;
}

Result<void> check_image(const Tensor& image, int level) {
  const auto is_side = [](int64_t side) { return side >= 1 && side <= INT32_MAX; };
  const bool has_shape = (image.rank() == 2 || (image.rank() == 3 && image.dim(2) >= 1 && image.dim(2) <= 4)) &&
                         is_side(image.dim(0)) && is_side(image.dim(1));
  if (has_shape && (image.dtype() == u8 || image.dtype() == u16) && level >= -1 && level <= 9) return {};
  return fail(
      ErrorKind::InvalidArgument,
      fmt::format("encode_png: {} {} at level {}: uint8 or uint16 [height, width] or [height, width, 1 to 4] at "
                  "level -1 to 9 were expected",
                  name(image.dtype()), image.shape().to_string(), level));
}

}  // namespace

Result<std::vector<std::byte>> encode_png(const Tensor& image, int compression_level) try {
  HEADPOND_TRY(check_image(image, compression_level));
  Session session;
  session.height = static_cast<uint32_t>(image.dim(0));
  session.width = static_cast<uint32_t>(image.dim(1));
  session.channels = image.rank() == 2 ? 1 : static_cast<int>(image.dim(2));
  session.bit_depth = image.dtype() == u16 ? 16 : 8;
  session.level = compression_level;
  session.pixels = image.data();
  if (encode(session)) return std::move(session.file);
  return fail(ErrorKind::ResourceExhausted,
              fmt::format("encode_png: {}", session.error[0] == 0 ? "Out of memory" : session.error.data()));
} catch (const std::bad_alloc&) {
  return fail(current_exception_error());
}

}  // namespace headpond
