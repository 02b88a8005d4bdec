// SPDX-License-Identifier: Apache-2.0
#include "cli/bench/kernels/crop_only_jpeg.h"

#ifdef HEADPOND_HAS_JPEG
#include <csetjmp>
#include <cstdio>
// After cstdio: it uses FILE.
#include <jpeglib.h>
#endif

namespace headpond::cli {

#ifdef HEADPOND_HAS_JPEG
namespace {

struct JumpingErrors {
  jpeg_error_mgr base;
  jmp_buf place;
};

void jump(j_common_ptr info) { std::longjmp(reinterpret_cast<JumpingErrors*>(info->err)->place, 1); }

// Only plain values live across setjmp.
bool decode_rows(const unsigned char* file, size_t bytes, const ImageWindow& window, uint8_t* pixels) {
  jpeg_decompress_struct info;
  JumpingErrors errors;
  info.err = jpeg_std_error(&errors.base);
  errors.base.error_exit = jump;
  if (setjmp(errors.place) != 0) {
    jpeg_destroy_decompress(&info);
    return false;
  }
  jpeg_create_decompress(&info);
  jpeg_mem_src(&info, file, bytes);
  jpeg_read_header(&info, TRUE);
  info.out_color_space = JCS_RGB;
  jpeg_start_decompress(&info);
  auto left = static_cast<JDIMENSION>(window.x), width = static_cast<JDIMENSION>(window.width);
  jpeg_crop_scanline(&info, &left, &width);
  if (window.y > 0) jpeg_skip_scanlines(&info, static_cast<JDIMENSION>(window.y));
  for (int64_t row = 0; row < window.height; ++row) {
    JSAMPROW line = pixels + row * 3 * static_cast<int64_t>(width);
    jpeg_read_scanlines(&info, &line, 1);
  }
  jpeg_abort_decompress(&info);
  jpeg_destroy_decompress(&info);
  return true;
}

}  // namespace

Result<void> decode_crop_only(std::span<const std::byte> file, const ImageWindow& window,
                              std::vector<uint8_t>& pixels) {
  constexpr int64_t kBlock = 16;  // Columns are added up to whole blocks at both sides.
  pixels.resize(static_cast<size_t>(3 * window.height * (window.width + 2 * kBlock)));
  if (decode_rows(reinterpret_cast<const unsigned char*>(file.data()), file.size(), window, pixels.data())) return {};
  return fail(ErrorKind::DataLoss, "libjpeg-turbo refused a file");
}

#else

Result<void> decode_crop_only(std::span<const std::byte>, const ImageWindow&, std::vector<uint8_t>&) {
  return fail(ErrorKind::Unimplemented, "this build has no component jpeg");
}

#endif

}  // namespace headpond::cli
