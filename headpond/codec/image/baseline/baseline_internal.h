// SPDX-License-Identifier: Apache-2.0
// Decodes what most JPEG files are: baseline, grey or YCbCr, of usual samplings, without defects. Pixels are those of
// libjpeg-turbo.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "headpond/codec/image/baseline/entropy_internal.h"
#include "headpond/codec/image/baseline/frame_internal.h"
#include "headpond/codec/image/baseline/samples_internal.h"
#include "headpond/codec/image/baseline/scan_index_internal.h"
#include "headpond/codec/image/image_window.h"

namespace headpond::jpeg_internal {

struct BaselineOptions {
  ImageWindow part;                  ///< A part of the stored image.
  int channels = 3;                  ///< 1: luma; 3: RGB.
  bool fancy = true;                 ///< See JpegOptions::fancy_upscaling.
  bool to_end = false;               ///< Rows below the part are checked too.
  const SampleCode* code = nullptr;  ///< Null: the best of this machine.
  const ScanIndex* index = nullptr;  ///< This file's index; the file is then read only where the part needs it.
};

/// Keeps its memory from file to file. One thread at a time.
class BaselineDecoder {
 public:
  /// Row `y` of the part; valid during the call.
  using TakeRow = std::function<void(int64_t y, const uint8_t* pixels)>;

  /// False iff the file is not such a file, or as soon as anything unusual is seen: then libjpeg is to decode it from
  /// its beginning, and finds in at least these rows what there is to say. The part lies inside the image. With an
  /// index: false iff it isn't that of the file's scan.
  bool decode(std::span<const std::byte> file, const BaselineOptions& options, const TakeRow& take);

  /// Makes `index`, with a point every `interval` MCUs of a row, or one a row if it is 0. False iff decode() of all of
  /// the file would give up.
  bool make_index(std::span<const std::byte> file, int64_t interval, ScanIndex& index);

  /// A call of decode().
  struct Work {
    BaselineDecoder& decoder;
    std::span<const std::byte> file;
    BaselineOptions options;
    TakeRow take;
  };
  /// Both calls at once, in less time than one after the other; the results are the same. REQUIRES: two decoders.
  static std::array<bool, 2> decode_two(const Work& first, const Work& second);

 private:
  // The samples of a component: of two rows of MCUs in turn, whole MCUs wide, with a sample more at each side.
  struct Plane {
    size_t coefficients = 0;  // Where those of a row of MCUs begin in its memory: of the columns that are needed.
    std::vector<uint8_t> samples;
    size_t stride = 0;
    int64_t width = 0, height = 0;  // In samples of the image.
    int64_t rows = 0;               // Rows in a row of MCUs.
    const uint8_t* row(int64_t y) const;
    uint8_t* row(int64_t y);
  };

  bool needs_context() const { return is_color() && options_.fancy && frame_.components[0].down == 2; }
  // libjpeg gives the last two rows of a row of MCUs after the next, where a row of pixels needs its neighbours.
  int64_t context() const { return needs_context() ? 1 : 0; }
  bool is_color() const { return frame_.count == 3 && options_.channels == 3; }
  void begin(std::span<const std::byte> file, const BaselineOptions& options, const TakeRow& take,
             const BaselineDecoder* other = nullptr);
  void begin_part();
  void end_part();
  void decode_rows();
  bool open(std::span<const std::byte> file);
  void prepare();
  bool fits_index() const;
  bool is_needed(int64_t row) const;
  size_t blocks_of_mcu() const;
  void list_blocks(int64_t first, int64_t end);
  bool enter_row(EntropyReader& reader, int64_t row, int16_t* coefficients);
  bool read_indexed(int64_t row, bool is_pair);
  bool decode_indexed();
  bool finish_row(int64_t row, const int16_t* coefficients);
  bool invert_row(int64_t row, const int16_t* coefficients);
  void give_rows(int64_t end);
  const uint8_t* upsampled(size_t which, int64_t y);
  const uint8_t* pixels_of(int64_t y);

  Frame frame_;
  BaselineOptions options_;
  const TakeRow* take_ = nullptr;
  EntropyReader reader_, next_reader_;  // The latter for the row after, if there is an index.
  std::array<Plane, 3> planes_;
  std::vector<int16_t> coefficients_;  // One row of MCUs, or two.
  size_t row_coefficients_ = 0;
  std::span<const std::byte> data_;      // Bytes of the scan.
  std::vector<RowBlock> blocks_;         // Blocks of a row of MCUs that is needed.
  int64_t mcu_begin_ = 0, mcu_end_ = 0;  // Columns of MCUs that are needed.
  int64_t row_ = 0, end_row_ = 0;        // The row of MCUs that is read; the one after the last.
  int64_t mcu_ = 0;                      // The first MCU of the row that no part has begun.
  int64_t next_row_ = 0;                 // To be given.
  bool is_open_ = false;                 // There is a row to be read.
  bool is_done_ = false;
  std::array<std::vector<uint8_t>, 2> chroma_;
  std::vector<uint8_t> pixels_;
};

}  // namespace headpond::jpeg_internal
