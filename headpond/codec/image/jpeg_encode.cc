// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <csetjmp>
#include <cstdio>
#include <cstdlib>
#include <exception>

// After <cstdio>, which it needs.
#include <jpeglib.h>

#include "headpond/codec/caught_internal.h"
#include "headpond/codec/image/jpeg.h"

namespace headpond {
namespace {

constexpr int64_t kLargestSide = 65'500;

struct Encoder {
  Encoder() = default;
  Encoder(const Encoder&) = delete;
  Encoder& operator=(const Encoder&) = delete;
  ~Encoder() {
    jpeg_destroy_compress(&info);
    std::free(memory);  // NOLINT(cppcoreguidelines-no-malloc,hicpp-no-malloc): libjpeg's.
  }

  jpeg_compress_struct info = {};
  jpeg_error_mgr errors = {};
  jmp_buf back;
  unsigned char* memory = nullptr;
  unsigned long size = 0;  // NOLINT(google-runtime-int): libjpeg's type.
  std::array<char, JMSG_LENGTH_MAX> text = {};
};

[[noreturn]] void on_error(j_common_ptr info) {
  auto& encoder = *static_cast<Encoder*>(info->client_data);
  info->err->format_message(info, encoder.text.data());
  std::longjmp(encoder.back, 1);
}
void on_message(j_common_ptr, int) {}

void set_options(Encoder& encoder, const JpegEncodeOptions& options) {
  jpeg_compress_struct& info = encoder.info;
  jpeg_set_defaults(&info);
  jpeg_set_quality(&info, options.quality, TRUE);
  info.dct_method = JDCT_ISLOW;
  info.optimize_coding = options.optimize ? TRUE : FALSE;
  if (info.num_components == 3 && !options.chroma_downsampling) {
    info.comp_info[0].h_samp_factor = info.comp_info[0].v_samp_factor = 1;
  }
  if (options.progressive) jpeg_simple_progression(&info);
}

bool encode(Encoder& encoder, const Tensor& image, const JpegEncodeOptions& options) {
  jpeg_compress_struct& info = encoder.info;
  info.err = jpeg_std_error(&encoder.errors);
  info.err->error_exit = on_error;
  info.err->emit_message = on_message;
  info.client_data = &encoder;
  if (setjmp(encoder.back) != 0) return false;
  jpeg_create_compress(&info);
  jpeg_mem_dest(&info, &encoder.memory, &encoder.size);
  const int channels = image.rank() == 2 ? 1 : static_cast<int>(image.dim(2));
  info.image_height = static_cast<JDIMENSION>(image.dim(0));
  info.image_width = static_cast<JDIMENSION>(image.dim(1));
  info.input_components = channels;
  info.in_color_space = channels == 1 ? JCS_GRAYSCALE : JCS_RGB;
  set_options(encoder, options);
  jpeg_start_compress(&info, TRUE);
  const size_t row_bytes = size_t{info.image_width} * static_cast<size_t>(channels);
  while (info.next_scanline < info.image_height) {
    const std::byte* const row = image.data() + info.next_scanline * row_bytes;
    auto* from = const_cast<JSAMPROW>(reinterpret_cast<const JSAMPLE*>(row));  // libjpeg only reads it.
    jpeg_write_scanlines(&info, &from, 1);
  }
  jpeg_finish_compress(&info);
  return true;
}

}  // namespace

Result<std::vector<std::byte>> encode_jpeg(const Tensor& image, const JpegEncodeOptions& options) try {
  const auto is_side = [](int64_t side) { return side > 0 && side <= kLargestSide; };
  const bool is_image = image.dtype() == u8 &&
                        (image.rank() == 2 || (image.rank() == 3 && (image.dim(2) == 1 || image.dim(2) == 3))) &&
                        is_side(image.dim(0)) && is_side(image.dim(1));
  if (!is_image || options.quality < 1 || options.quality > 100) {
    return fail(
        ErrorKind::InvalidArgument,
        fmt::format("encode_jpeg: {} {}, quality {}: uint8 [height, width] with 1 or 3 channels, sides from 1 to "
                    "{}, quality 1 to 100 were expected",
                    headpond::name(image.dtype()), image.shape().to_string(), options.quality, kLargestSide));
  }
  Encoder encoder;
  if (!encode(encoder, image, options)) {
    return fail(ErrorKind::ResourceExhausted, fmt::format("encode_jpeg: {}", encoder.text.data()));
  }
  const auto* const begin = reinterpret_cast<const std::byte*>(encoder.memory);
  return std::vector<std::byte>(begin, begin + encoder.size);
} catch (const std::exception&) {
  return codec_internal::fail_caught("encode_jpeg");
}

}  // namespace headpond
