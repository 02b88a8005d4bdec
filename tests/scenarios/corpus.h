// SPDX-License-Identifier: Apache-2.0
// The files of the scenarios. What is in them follows from numbers, so that each check knows the content of what it
// gets. All functions throw Exception for an error of the disk.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "headpond/dataset/dataset.h"
#include "headpond/tensor/tensor.h"

namespace headpond::scenarios {

/// W: WAVs of 1 to 8 s, mono, as folder/clip-00000.wav and so on.
inline constexpr int32_t kClipRate = 8000;
void write_clips(const std::string& folder, int64_t count);
int64_t clip_frames(int64_t number);
int16_t clip_sample(int64_t number, int64_t frame);
std::string clip_path(const std::string& folder, int64_t number);
/// The bytes of a clip.
std::vector<std::byte> clip_file(int64_t number, int64_t frames);

/// T: records of 32 bytes in 20 files, folder/records-00.tfrecord and so on.
void write_records(const std::string& folder, int64_t count);
/// The number of a record. DataLoss iff its content is not the one that belongs to the number.
Result<int64_t> record_number(std::string_view record);

/// J: JPEGs of ten drawn classes, sorted by class, in 12 TFRecord files of uneven size, folder/images-00.tfrecord and
/// so on. Written by all threads.
struct Images {
  int64_t count;
  int64_t least = 96, most = 512;  ///< Pixels of a side.
};
void write_images(const std::string& folder, const Images& images);
/// 350, 450, ... of 8000.
int64_t class_size(int64_t image_class, int64_t count);
struct ImageRecord {
  int64_t number, image_class;
  std::string_view jpeg;
};
/// DataLoss iff the CRC32 in the record is not that of its image.
Result<ImageRecord> image_record(std::string_view record);
/// What is drawn, u8 [side, side, 3]: tiles of 16 x 16 pixels, as a JPEG has them, by turns of one colour, which
/// follows from number and tile, and with the class's pattern.
inline constexpr int64_t kTile = 16;
Tensor image_pixels(int64_t number, int64_t image_class, int64_t side);
bool has_one_colour(int64_t row, int64_t column);
/// 48 to 207.
uint8_t tile_value(int64_t number, int64_t row, int64_t column, int64_t channel);
int64_t image_side(int64_t number, const Images& images);

/// L: texts of tokens in ten TFRecord files, folder/tokens-0.tfrecord and so on; lengths are log-normal with a median
/// of 120, and one in a hundred is above 2,000. The first token of a text is its number.
void write_tokens(const std::string& folder, int64_t count);
inline constexpr int64_t kLongestText = 16'000;
int64_t text_length(int64_t number);
int32_t token(int64_t number, int64_t i);
Tensor text_tokens(std::string_view record);

}  // namespace headpond::scenarios
