// SPDX-License-Identifier: Apache-2.0
#include "odd_files.h"

#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <numeric>

#include "corpus.h"
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
    made.head[static_cast<size_t>(i)] = static_cast<float>(clip_sample(number, i)) / 32768.F;
  }
  return made;
}

// The pixels of `number` in a form: channels, and 8 or 16 bits; what comes back as three channels of 8.
Tensor pixels_of(int64_t number, int channels, DType dtype, std::array<float, kHead>& head) {
  const Tensor rgb = image_pixels(number, kSide);
  const auto from = rgb.as<uint8_t>();
  Tensor made = Tensor::empty(dtype, {kSide, kSide, channels});
  for (size_t at = 0; at < static_cast<size_t>(made.size()); ++at) {
    const size_t pixel = at / static_cast<size_t>(channels), c = at % static_cast<size_t>(channels);
    const bool alpha = channels % 2 == 0 && c + 1 == static_cast<size_t>(channels);
    const uint8_t value = alpha ? 255 : from[pixel * 3 + c];
    if (dtype == DType::u8) {
      made.mutable_as<uint8_t>()[at] = value;
    } else {
      made.mutable_as<uint16_t>()[at] = static_cast<uint16_t>(value * 256 + 77);
    }
  }
  for (size_t i = 0; i < kHead; ++i) head[i] = static_cast<float>(channels < 3 ? from[i / 3 * 3] : from[i]);
  return made;
}

Payload image(int64_t number, std::string name, int channels = 3, DType dtype = DType::u8) {
  std::array<float, kHead> head;
  const auto png = value_or_throw(encode_png(pixels_of(number, channels, dtype, head), 1));
  Payload made = payload('P', number, std::move(name), {reinterpret_cast<const char*>(png.data()), png.size()}, true);
  made.head = head;
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

Payload plain_payload(int64_t number) { return number % 2 == 0 ? sound(number, "plain", {}) : image(number, "plain"); }

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
      image(number, "grey png", 1),
      image(number, "grey png with alpha", 2),
      image(number, "png with alpha", 4),
      image(number, "png of 16 bits", 3, DType::u16),
  };
  const std::string whole = image(number, "").bytes.substr(1 + sizeof(int64_t));
  std::string flipped = whole;
  flipped[whole.size() / 2] = static_cast<char>(flipped[whole.size() / 2] ^ 4);
  all.push_back(payload('P', number, "png, truncated", cut(whole, whole.size() / 3), false));
  all.push_back(payload('P', number, "png with a flipped bit", flipped, false));
  all.push_back(payload('P', number, "png of zero bytes", "", false));
  all.push_back(payload('P', number, "JPEG under a PNG's name", "\xFF\xD8\xFF\xE0 JFIF", false));
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
      {{"gzip with a plain name", "", -1, -1, {}}, gzip},
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
