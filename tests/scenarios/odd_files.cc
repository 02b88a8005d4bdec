// SPDX-License-Identifier: Apache-2.0
#include "odd_files.h"

#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <numeric>

#include "corpus.h"
#include "headpond/codec/image/jpeg.h"
#include "headpond/codec/image/png.h"
#include "headpond/io/record/record_writer.h"

namespace headpond::scenarios {
namespace {

constexpr int64_t kFrames = 2000, kSide = 40, kRecords = 50, kDamaged = 20;

template <class T>
void put(std::string& to, T value) {
  to.append(reinterpret_cast<const char*>(&value), sizeof(value));
}

void put_chunk(std::string& to, const char* id, const std::string& content, uint32_t declared_more = 0) {
  to += id;
  put(to, static_cast<uint32_t>(content.size()) + declared_more);
  to += content;
  if (content.size() % 2 == 1) to += '\0';
}

struct WavForm {
  uint16_t code = 1, bits = 16;
  bool extensible = false;
  std::string before = "", after = "";  // Chunks around the data.
  uint32_t declared_more = 0;
  int64_t frames = kFrames;
};

std::string format_chunk(const WavForm& form) {
  std::string content;
  const auto frame_bytes = static_cast<uint16_t>(form.bits / 8);
  put(content, form.extensible ? uint16_t{0xFFFE} : form.code);
  put(content, uint16_t{1});
  put(content, uint32_t{kClipRate});
  put(content, uint32_t{kClipRate} * frame_bytes);
  put(content, frame_bytes);
  put(content, form.bits);
  if (!form.extensible) return content;
  put(content, uint16_t{22});
  put(content, form.bits);
  put(content, uint32_t{4});
  put(content, form.code);
  return content + std::string("\x00\x00\x00\x00\x10\x00\x80\x00\x00\xAA\x00\x38\x9B\x71", 14);
}

std::string wav_samples(int64_t number, const WavForm& form) {
  std::string data;
  for (int64_t i = 0; i < form.frames; ++i) {
    const int32_t sample = clip_sample(number, i);
    if (form.bits == 16) put(data, static_cast<int16_t>(sample));
    if (form.bits == 8) put(data, static_cast<uint8_t>(sample / 256 + 128));
    if (form.bits == 24) data += std::string(1, '\0') + std::string(reinterpret_cast<const char*>(&sample), 2);
    if (form.bits == 32 && form.code == 1) put(data, sample * 65536);
    if (form.code == 3) put(data, static_cast<float>(sample) / 32768.F);
  }
  return data;
}

std::string wav_file(int64_t number, const WavForm& form) {
  std::string body = "WAVE";
  put_chunk(body, "fmt ", format_chunk(form));
  body += form.before;
  put_chunk(body, "data", wav_samples(number, form), form.declared_more);
  body += form.after;
  std::string file = "RIFF";
  put(file, static_cast<uint32_t>(body.size()) + form.declared_more);
  return file + body;
}

std::string chunk(const char* id, size_t bytes) {
  std::string made;
  put_chunk(made, id, std::string(bytes, 'x'));
  return made;
}

Payload payload(char kind, int64_t number, std::string form, const std::string& file, bool decodes) {
  Payload made{.form = std::move(form), .bytes = std::string(1, kind), .decodes = decodes};
  put(made.bytes, number);
  made.bytes += file;
  return made;
}

Payload sound(int64_t number, std::string name, const WavForm& form, bool decodes = true) {
  Payload made = payload('W', number, std::move(name), wav_file(number, form), decodes);
  for (int64_t i = 0; i < std::min(kHead, form.frames); ++i) {
    const int32_t sample = clip_sample(number, i), kept = form.bits == 8 ? sample / 256 * 256 : sample;
    made.head[static_cast<size_t>(i)] = static_cast<float>(kept) / 32768.F;
  }
  return made;
}

// What is drawn: a gradient, which a JPEG keeps to a few steps.
uint8_t drawn(int64_t number, int64_t y, int64_t x, int64_t channel) {
  const int64_t colours[] = {40 + 3 * x, 215 - 4 * y, 30 + 2 * x + 2 * y + number % 40, 255};
  return static_cast<uint8_t>(colours[channel]);
}

std::array<float, kHead> drawn_head(int64_t number, bool grey = false) {
  std::array<float, kHead> head;
  for (int64_t i = 0; i < kHead; ++i) {
    const int64_t pixel = i * kApart / 3, channel = i * kApart % 3;
    head[static_cast<size_t>(i)] = drawn(number, pixel / kSide, pixel % kSide, grey ? 0 : channel);
  }
  return head;
}

// The pixels of `number` in a form: channels, the last of an even number of them opaque, and 8 or 16 bits.
Tensor pixels_of(int64_t number, int channels, DType dtype = u8) {
  Tensor made = Tensor::empty(dtype, {kSide, kSide, channels});
  for (int64_t at = 0; at < made.size(); ++at) {
    const int64_t pixel = at / channels, c = at % channels;
    const bool alpha = channels % 2 == 0 && c + 1 == channels;
    const uint8_t value = drawn(number, pixel / kSide, pixel % kSide, alpha ? 3 : c);
    if (dtype == u8) {
      made.mutable_as<uint8_t>()[static_cast<size_t>(at)] = value;
    } else {
      made.mutable_as<uint16_t>()[static_cast<size_t>(at)] = static_cast<uint16_t>(value * 256 + 77);
    }
  }
  return made;
}

std::string text_of(const std::vector<std::byte>& file) {
  return {reinterpret_cast<const char*>(file.data()), file.size()};
}

Payload png(int64_t number, std::string name, int channels = 3, DType dtype = u8) {
  const std::string file = text_of(value_or_throw(encode_png(pixels_of(number, channels, dtype), 1)));
  Payload made = payload('I', number, std::move(name), file, true);
  made.head = drawn_head(number, channels < 3);
  return made;
}

std::string jpeg_file(int64_t number, int channels = 3, bool progressive = false) {
  return text_of(value_or_throw(encode_jpeg(pixels_of(number, channels), {.progressive = progressive})));
}

Payload jpeg(int64_t number, std::string name, const std::string& file, bool grey = false) {
  Payload made = payload('I', number, std::move(name), file, true);
  made.head = drawn_head(number, grey);
  return made;
}

std::string marker(char name, const std::string& content) {
  const size_t size = content.size() + 2;
  return std::string("\xFF") + name + static_cast<char>(size / 256) + static_cast<char>(size % 256) + content;
}

// Stored turned to the left, with the EXIF orientation 6, which turns it back.
Payload turned_jpeg(int64_t number) {
  const Tensor upright = pixels_of(number, 3);
  Tensor stored = Tensor::empty(u8, {kSide, kSide, 3});
  for (int64_t y = 0; y < kSide; ++y) {
    for (int64_t x = 0; x < kSide; ++x) {
      std::memcpy(stored.mutable_data() + ((kSide - 1 - x) * kSide + y) * 3, upright.data() + (y * kSide + x) * 3, 3);
    }
  }
  const std::string tiff("II*\0\x08\0\0\0\x01\0\x12\x01\x03\0\x01\0\0\0\x06\0\0\0\0\0\0\0", 26);
  const std::string file = text_of(value_or_throw(encode_jpeg(stored)));
  return jpeg(number, "JPEG with an EXIF orientation",
              file.substr(0, 2) + marker('\xE1', std::string("Exif\0\0", 6) + tiff) + file.substr(2));
}

// Of one colour, by the four inks 200, 60, 210, 240 as Adobe stores them: ink x black / 255. Each first block has the
// difference to 128 in seven bits, all others have none.
Payload inks_jpeg(int64_t number) {
  std::string quantum(1, '\0'), frame("\x08\0\x28\0\x28\x04", 6), scan("\x04", 1);
  quantum += std::string(64, '\x08');
  for (char component = 1; component <= 4; ++component) {
    frame += component + std::string("\x11\0", 2);
    scan += component + std::string("\0", 1);
  }
  const std::string dc = std::string("\0\x01\x01", 3) + std::string(15, '\0') + '\x07';
  const std::string ac = "\x10\x01" + std::string(16, '\0');
  uint64_t bits = 0;
  for (const uint64_t difference : {72, 127 - 68, 82, 112}) bits = bits << 10 | uint64_t{2} << 8 | difference << 1;
  std::string blocks;
  for (int byte = 4; byte >= 0; --byte) blocks += static_cast<char>(bits >> (8 * byte));
  blocks += std::string(kSide / 8 * kSide / 8 - 1, '\0');
  Payload made = payload('I', number, "JPEG of four inks",
                         "\xFF\xD8" + marker('\xEE', std::string("Adobe\0\x64\0\0\0\0\0", 12)) +
                             marker('\xDB', quantum) + marker('\xC0', frame) + marker('\xC4', dc + ac) +
                             marker('\xDA', scan + std::string("\0\x3F\0", 3)) + blocks + "\xFF\xD9",
                         true);
  for (size_t i = 0; i < kHead; ++i) made.head[i] = std::array{188.F, 56.F, 198.F}[i * static_cast<size_t>(kApart) % 3];
  return made;
}

std::string cut(const std::string& text, size_t bytes) { return text.substr(0, text.size() - bytes); }

std::string read_all(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

void write_all(const std::string& path, const std::string& bytes) { std::ofstream(path, std::ios::binary) << bytes; }

std::string write_good(const std::string& path, Compression compression = Compression::none) {
  const auto out = value_or_throw(RecordWriter::open(path, {.compression = compression}));
  for (int64_t i = 0; i < kRecords; ++i) value_or_throw(out->append(sound(2 * i, "plain", {}).bytes));
  value_or_throw(out->close());
  return read_all(path);
}

std::vector<int64_t> numbers_but(int64_t first_left_out, int64_t left_out) {
  std::vector<int64_t> numbers;
  for (int64_t i = 0; i < kRecords; ++i) {
    if (i < first_left_out || i >= first_left_out + left_out) numbers.push_back(2 * i);
  }
  return numbers;
}

}  // namespace

Payload plain_payload(int64_t number) {
  return number % 2 == 0 ? sound(number, "plain", {}) : jpeg(number, "plain", jpeg_file(number));
}

std::vector<Payload> planted_payloads(int64_t number) {
  std::vector<Payload> all = {
      sound(number, "wav of 8 bits", {.bits = 8}),
      sound(number, "wav of 24 bits", {.bits = 24}),
      sound(number, "wav of 32 bits", {.bits = 32}),
      sound(number, "wav of floats", {.code = 3, .bits = 32}),
      sound(number, "wav with an extensible header", {.extensible = true}),
      sound(number, "wav with a JUNK chunk", {.before = chunk("JUNK", 28)}),
      sound(number, "wav with LIST chunks", {.before = chunk("LIST", 26), .after = chunk("LIST", 40)}),
      sound(number, "wav with an odd chunk", {.before = chunk("note", 13)}),
      sound(number, "wav whose header says more", {.declared_more = 4000}, false),
      sound(number, "wav without frames", {.frames = 0}),
      jpeg(number, "progressive JPEG", jpeg_file(number, 3, true)),
      jpeg(number, "grey JPEG", jpeg_file(number, 1), true),
      inks_jpeg(number),
      turned_jpeg(number),
      png(number, "PNG under a JPEG's name"),
      png(number, "grey PNG with alpha", 2),
      png(number, "PNG with alpha", 4),
      png(number, "PNG of 16 bits", 3, u16),
  };
  const std::string file = png(number, "").bytes.substr(1 + sizeof(int64_t));
  std::string flipped = file;
  flipped[file.size() / 2] = static_cast<char>(flipped[file.size() / 2] ^ 4);
  all.push_back(payload('I', number, "JPEG, truncated", cut(jpeg_file(number), 40), false));
  all.push_back(payload('I', number, "JPEG of zero bytes", "", false));
  all.push_back(payload('I', number, "PNG, truncated", cut(file, file.size() / 3), false));
  all.push_back(payload('I', number, "PNG with a flipped bit", flipped, false));
  all.push_back(payload('I', number, "JPEG of its first bytes", "\xFF\xD8\xFF\xE0 JFIF", false));
  return all;
}

std::vector<DamagedFile> write_damaged_files(const std::string& folder) {
  std::filesystem::create_directories(folder);
  const std::string good = write_good(folder + "/good.tfrecord");
  const size_t record = good.size() / kRecords, at = kDamaged * record, last = (kRecords - 1) * record;
  std::string payload_bit = good, length = good;
  payload_bit[at + 100] = static_cast<char>(payload_bit[at + 100] ^ 1);
  length[at + 8] = static_cast<char>(length[at + 8] ^ 1);
  const std::string gzip = write_good(folder + "/scratch", Compression::gzip);
  const auto offset = static_cast<int64_t>(at), end = static_cast<int64_t>(good.size());
  const std::vector<std::pair<DamagedFile, std::string>> all = {
      {{"a flipped bit", "", kDamaged, offset, numbers_but(kDamaged, 1)}, payload_bit},
      {{"a wrong checksum of a length", "", kDamaged, offset, numbers_but(kDamaged, kRecords)}, length},
      {{"a truncated tail", "", kRecords - 1, static_cast<int64_t>(last), numbers_but(kRecords - 1, 1)},
       cut(good, 700)},
      {{"an empty file", "", -1, -1, {}, false}, ""},
      {{"garbage after the end", "", kRecords, end, numbers_but(kRecords, 0)}, good + "not a record at all"},
      {{"gzip with a plain name", "", -1, -1, numbers_but(kRecords, 0), false}, gzip},
  };
  std::vector<DamagedFile> files;
  for (const auto& [file, bytes] : all) {
    files.push_back(file);
    files.back().path = folder + "/damaged-" + std::to_string(files.size()) + ".tfrecord";
    write_all(files.back().path, bytes);
  }
  return files;
}

}  // namespace headpond::scenarios
