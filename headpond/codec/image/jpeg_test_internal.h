// SPDX-License-Identifier: Apache-2.0
// JPEG files that encode_jpeg() doesn't write, for tests.
#pragma once

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

// After <cstdio>, which it needs.
#include <jpeglib.h>

#include "headpond/base/random.h"
#include "headpond/tensor/tensor.h"

namespace headpond::jpeg_testing {

struct WriteOptions {
  int quality = 90;
  int across = 2, down = 2;  ///< The sampling factors of the first component; the others have 1 x 1.
  int restart = 0;           ///< In MCUs.
  bool optimize = false;
  bool progressive = false;
  J_COLOR_SPACE space = JCS_YCbCr;  ///< Of the file; of 4 components: CMYK or YCCK, whose values are CMYK.
};

/// A picture with edges and noise of 0 to `noise` - 1, u8 [height, width, channels].
inline Tensor noisy_picture(int64_t height, int64_t width, int64_t channels, uint64_t noise, uint64_t seed) {
  Random random(seed);
  Tensor image = Tensor::empty(u8, {height, width, channels});
  auto* const to = reinterpret_cast<uint8_t*>(image.mutable_data());
  for (int64_t i = 0; i < height * width * channels; ++i) {
    const int64_t x = i / channels % width, y = i / channels / width;
    const int64_t value = x * 3 + y * 2 + i % channels * 70 + (x / 9 + y / 7) % 2 * 90;
    to[i] = static_cast<uint8_t>((value + static_cast<int64_t>(random.below(noise))) % 256);
  }
  return image;
}

inline std::vector<std::byte> write_jpeg(const Tensor& image, const WriteOptions& options = {}) {
  jpeg_compress_struct info = {};
  jpeg_error_mgr errors = {};
  info.err = jpeg_std_error(&errors);
  jpeg_create_compress(&info);
  unsigned char* memory = nullptr;
  unsigned long bytes = 0;  // NOLINT(google-runtime-int): libjpeg's.
  jpeg_mem_dest(&info, &memory, &bytes);
  const auto channels = static_cast<int>(image.dim(2));
  info.image_height = static_cast<JDIMENSION>(image.dim(0));
  info.image_width = static_cast<JDIMENSION>(image.dim(1));
  info.input_components = channels;
  info.in_color_space = channels == 1 ? JCS_GRAYSCALE : channels == 3 ? JCS_RGB : JCS_CMYK;
  jpeg_set_defaults(&info);
  jpeg_set_colorspace(&info, channels == 1 ? JCS_GRAYSCALE : options.space);
  jpeg_set_quality(&info, options.quality, TRUE);
  info.comp_info[0].h_samp_factor = options.across;
  info.comp_info[0].v_samp_factor = options.down;
  for (int i = 1; i < channels; ++i) info.comp_info[i].h_samp_factor = info.comp_info[i].v_samp_factor = 1;
  info.restart_interval = static_cast<unsigned>(options.restart);
  info.optimize_coding = options.optimize ? TRUE : FALSE;
  if (options.progressive) jpeg_simple_progression(&info);
  jpeg_start_compress(&info, TRUE);
  const auto values = image.as<uint8_t>();
  while (info.next_scanline < info.image_height) {
    auto* row = const_cast<JSAMPLE*>(
        &values[info.next_scanline * static_cast<size_t>(info.image_width) * static_cast<size_t>(channels)]);
    jpeg_write_scanlines(&info, &row, 1);
  }
  jpeg_finish_compress(&info);
  jpeg_destroy_compress(&info);
  const auto* const from = reinterpret_cast<const std::byte*>(memory);
  std::vector<std::byte> file(from, from + bytes);
  std::free(memory);
  return file;
}

}  // namespace headpond::jpeg_testing
