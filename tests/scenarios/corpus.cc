// SPDX-License-Identifier: Apache-2.0
#include "corpus.h"

#include <zlib.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <memory>
#include <span>

#include "headpond/base/random.h"
#include "headpond/codec/image/jpeg.h"
#include "headpond/codec/sound/wav.h"
#include "headpond/dataset/ops.h"
#include "headpond/engine/loader.h"
#include "headpond/io/record/record_writer.h"

namespace headpond::scenarios {
namespace {

constexpr int64_t kClasses = 10, kImageFiles = 12;
constexpr size_t kImageHead = 3 * sizeof(int64_t);  // Number, class, hash.

std::string numbered(const std::string& folder, const char* form, int64_t number) {
  char name[64];
  std::snprintf(name, sizeof(name), form, static_cast<long long>(number));
  return folder + "/" + name;
}

std::unique_ptr<RecordWriter> writer(const std::string& path) { return value_or_throw(RecordWriter::open(path)); }

int64_t hash_of(std::string_view bytes) {
  return static_cast<int64_t>(crc32(0, reinterpret_cast<const Bytef*>(bytes.data()), static_cast<uInt>(bytes.size())));
}

int64_t class_of(int64_t number, int64_t count) {
  int64_t image_class = 0;
  for (int64_t end = class_size(0, count); number >= end && image_class + 1 < kClasses;) {
    end += class_size(++image_class, count);
  }
  return image_class;
}

std::string image_payload(int64_t number, const Images& images) {
  const int64_t image_class = class_of(number, images.count);
  const auto jpeg = value_or_throw(encode_jpeg(image_pixels(number, image_class, image_side(number, images))));
  const std::string_view file(reinterpret_cast<const char*>(jpeg.data()), jpeg.size());
  const int64_t head[] = {number, image_class, hash_of(file)};
  return std::string(reinterpret_cast<const char*>(head), kImageHead).append(file);
}

}  // namespace

int64_t clip_frames(int64_t number) {
  return kClipRate + static_cast<int64_t>(mix(1, static_cast<uint64_t>(number)) % (7 * kClipRate));
}

int16_t clip_sample(int64_t number, int64_t frame) {
  return static_cast<int16_t>((number + 3) * (frame + 1) * 7 + frame % 13);
}

std::string clip_path(const std::string& folder, int64_t number) { return numbered(folder, "clip-%05lld.wav", number); }

std::vector<std::byte> clip_file(int64_t number, int64_t frames) {
  Tensor samples = Tensor::empty(DType::f32, {frames, 1});
  const auto values = samples.mutable_as<float>();
  for (int64_t i = 0; i < frames; ++i) {
    values[static_cast<size_t>(i)] = static_cast<float>(clip_sample(number, i)) / 32768.F;
  }
  return value_or_throw(encode_wav(samples, kClipRate));
}

void write_clips(const std::string& folder, int64_t count) {
  std::filesystem::create_directories(folder);
  for (int64_t i = 0; i < count; ++i) {
    const auto bytes = clip_file(i, clip_frames(i));
    std::ofstream out(clip_path(folder, i), std::ios::binary);
    out.write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
    if (!out.flush()) throw Exception(Error(ErrorKind::ResourceExhausted, "cannot write the clips"));
  }
}

void write_records(const std::string& folder, int64_t count) {
  std::filesystem::create_directories(folder);
  constexpr int64_t kFiles = 20;
  for (int64_t file = 0; file < kFiles; ++file) {
    const auto out = writer(numbered(folder, "records-%02lld.tfrecord", file));
    for (int64_t i = count * file / kFiles; i < count * (file + 1) / kFiles; ++i) {
      const auto number = static_cast<uint64_t>(i);
      const uint64_t words[4] = {number, mix(1, number), mix(2, number), mix(3, number)};
      value_or_throw(out->append(std::as_bytes(std::span(words))));
    }
    value_or_throw(out->close());
  }
}

Result<int64_t> record_number(std::string_view record) {
  uint64_t words[4] = {};
  std::memcpy(words, record.data(), std::min(record.size(), sizeof(words)));
  for (uint64_t i = 1; i < 4; ++i) {
    if (words[i] != mix(i, words[0])) return fail(ErrorKind::DataLoss, "a record with another record's content");
  }
  return static_cast<int64_t>(words[0]);
}

int64_t class_size(int64_t image_class, int64_t count) { return (350 + 100 * image_class) * count / 8000; }

int64_t image_side(int64_t number, const Images& images) {
  return images.least + static_cast<int64_t>(mix(2, static_cast<uint64_t>(number)) %
                                             static_cast<uint64_t>(images.most - images.least + 1));
}

bool has_one_colour(int64_t row, int64_t column) { return (row + column) % 2 == 0; }

uint8_t tile_value(int64_t number, int64_t row, int64_t column, int64_t channel) {
  const auto tile = static_cast<uint64_t>((row * 64 + column) * 4 + channel);
  return static_cast<uint8_t>(48 + mix(static_cast<uint64_t>(number), tile) % 160);
}

Tensor image_pixels(int64_t number, int64_t image_class, int64_t side) {
  Tensor pixels = Tensor::empty(DType::u8, {side, side, 3});
  uint8_t* to = pixels.mutable_as<uint8_t>().data();
  std::array<uint8_t, 3> colour = {};
  for (int64_t y = 0; y < side; ++y) {
    for (int64_t x = 0; x < side; ++x) {
      const int64_t row = y / kTile, column = x / kTile;
      for (int64_t c = 0; c < 3 && x % kTile == 0; ++c)
        colour[static_cast<size_t>(c)] = tile_value(number, row, column, c);
      const int64_t wave = (x * (image_class % 5) + y * (image_class / 5 + 1)) * 16 % 256;
      for (const uint8_t value : colour)
        *to++ = has_one_colour(row, column) ? value : static_cast<uint8_t>((value + wave) / 2);
    }
  }
  return pixels;
}

void write_images(const std::string& folder, const Images& images) {
  if (!has_jpeg())
    throw Exception(Error(ErrorKind::Unimplemented, "the images are JPEGs: built without libjpeg-turbo"));
  std::filesystem::create_directories(folder);
  const int64_t shares = kImageFiles * (kImageFiles + 1) / 2;
  Loader payloads(range(images.count) | map([images](int64_t number) { return image_payload(number, images); }));
  int64_t first = 0;
  for (int64_t file = 0; file < kImageFiles; ++file) {
    const int64_t end = file + 1 == kImageFiles ? images.count : first + images.count * (file + 1) / shares;
    const auto out = writer(numbered(folder, "images-%02lld.tfrecord", file));
    for (; first < end; ++first) value_or_throw(out->append(value_or_throw(payloads.next())[0].bytes_at(0)));
    value_or_throw(out->close());
  }
}

Result<ImageRecord> image_record(std::string_view record) {
  int64_t head[3] = {};
  if (record.size() < kImageHead) return fail(ErrorKind::DataLoss, "an image without its head");
  std::memcpy(head, record.data(), kImageHead);
  const ImageRecord image = {head[0], head[1], record.substr(kImageHead)};
  if (hash_of(image.jpeg) != head[2]) {
    return fail(ErrorKind::DataLoss, "an image with another one's hash");
  }
  return image;
}

int64_t text_length(int64_t number) {
  Random random(RandomKey{11}, static_cast<uint64_t>(number));
  const double u = 1 - static_cast<double>(random.uniform()), v = static_cast<double>(random.uniform());
  const double normal = std::sqrt(-2 * std::log(u)) * std::cos(2 * 3.14159265358979 * v);
  const double sigma = std::log(2000.0 / 120.0) / 2.3263;  // The 99th percentile of a standard normal.
  return std::clamp<int64_t>(std::llround(120 * std::exp(sigma * normal)), 1, kLongestText);
}

int32_t token(int64_t number, int64_t i) {
  return i == 0 ? static_cast<int32_t>(number) : static_cast<int32_t>((number * 31 + i * 7) % 50'000 + 1);
}

void write_tokens(const std::string& folder, int64_t count) {
  std::filesystem::create_directories(folder);
  constexpr int64_t kFiles = 10;
  for (int64_t file = 0; file < kFiles; ++file) {
    const auto out = writer(numbered(folder, "tokens-%lld.tfrecord", file));
    for (int64_t i = count * file / kFiles; i < count * (file + 1) / kFiles; ++i) {
      std::vector<int32_t> tokens(static_cast<size_t>(text_length(i)));
      for (size_t j = 0; j < tokens.size(); ++j) tokens[j] = token(i, static_cast<int64_t>(j));
      value_or_throw(out->append(std::as_bytes(std::span(tokens))));
    }
    value_or_throw(out->close());
  }
}

Tensor text_tokens(std::string_view record) {
  Tensor tokens = Tensor::empty(DType::i32, {static_cast<int64_t>(record.size() / sizeof(int32_t))});
  std::memcpy(tokens.mutable_data(), record.data(), tokens.byte_size());
  return tokens;
}

}  // namespace headpond::scenarios
