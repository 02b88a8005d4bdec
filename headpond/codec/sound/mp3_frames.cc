// SPDX-License-Identifier: Apache-2.0
// ISO/IEC 11172-3 and 13818-3. A first frame without sound may hold "Xing" or "Info" and a number of frames.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "headpond/codec/sound/sound_file_internal.h"

namespace headpond::sound_internal {
namespace {

constexpr uint64_t kHeaderBytes = 4;

struct Mp3Header {
  int64_t bytes;  // Size of the whole frame.
  int64_t tag;    // Where a tag lies in it.
  int64_t samples;
  bool is_layer3;
  bool is_free;  // Free bit rate, so `bytes` is unknown.
};

// `kbits` of the second version, and of the first one.
int64_t kbits_of(uint64_t index, bool is_first) {
  constexpr std::array<int64_t, 16> kFirst = {0, 32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320, 0};
  constexpr std::array<int64_t, 16> kSecond = {0, 8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160, 0};
  return is_first ? kFirst[index] : kSecond[index];
}

// False iff there is no header. Fields: sync 11 bits, version 2, layer 2, no checksum 1; bit rate 4, rate 2, padding 1,
// private 1; mode 2 ...
bool parse_header(Bytes file, uint64_t at, Mp3Header& header) {
  if (at > file.size() || file.size() - at < kHeaderBytes) return false;
  const uint64_t word = big_number(file, at, 4);
  const uint64_t version = word >> 19 & 3, layer = word >> 17 & 3, bit_rate = word >> 12 & 15, rate = word >> 10 & 3;
  if (word >> 21 != 0x7ff || version == 1 || layer == 0 || bit_rate == 15 || rate == 3) return false;
  constexpr std::array<int64_t, 3> kRates = {44100, 48000, 32000};
  const bool is_first = version == 3, is_mono = (word >> 6 & 3) == 3, has_padding = (word >> 9 & 1) != 0;
  const int64_t hertz = kRates[rate] / (is_first ? 1 : version == 2 ? 2 : 4);
  header.is_layer3 = layer == 1;
  header.is_free = bit_rate == 0;
  header.bytes = (is_first ? 144'000 : 72'000) * kbits_of(bit_rate, is_first) / hertz + (has_padding ? 1 : 0);
  header.samples = is_first ? 1152 : 576;
  header.tag = static_cast<int64_t>(kHeaderBytes) + (is_first ? (is_mono ? 17 : 32) : (is_mono ? 9 : 17));
  return true;
}

// Version, layer and rate of two frames of one file.
bool are_alike(Bytes file, uint64_t a, uint64_t b) {
  constexpr uint64_t kSame = 0xfffe0c00;
  return (big_number(file, a, 4) & kSame) == (big_number(file, b, 4) & kSame);
}

// A frame like the one at `first` that ends with the file or before another one.
bool is_frame(Bytes file, uint64_t first, uint64_t at) {
  Mp3Header header, next;
  if (!parse_header(file, at, header) || !header.is_layer3 || header.is_free || !are_alike(file, first, at))
    return false;
  const uint64_t end = at + static_cast<uint64_t>(header.bytes);
  return end == file.size() || (parse_header(file, end, next) && are_alike(file, first, end));
}

void read_tag(Bytes file, const Mp3Header& header, Mp3Frames& frames) {
  const uint64_t tag = frames.first + static_cast<uint64_t>(header.tag);
  if (!has_text(file, tag, "Xing") && !has_text(file, tag, "Info")) return;
  if (file.size() - tag < 12) return;
  if ((big_number(file, tag + 4, 4) & 1) == 0) return;
  frames.stated = static_cast<int64_t>(big_number(file, tag + 8, 4));
}

// Decoders that are told a number of frames leave out the first samples, which are the decoder's delay; those of the
// silent frame, so that the file's first sample is the one that is given without a number. Both have the file's header,
// of the highest bit rate, so that there is room for the tag.
std::vector<std::byte> count_frames(Bytes file, const Mp3Frames& frames) {
  std::vector<std::byte> made(file.begin() + static_cast<ptrdiff_t>(frames.first),
                              file.begin() + static_cast<ptrdiff_t>(frames.first + kHeaderBytes));
  made[1] |= std::byte{1};
  made[2] = (made[2] & std::byte{0x0d}) | std::byte{0xe0};
  Mp3Header header = {};
  parse_header(made, 0, header);
  const auto bytes = static_cast<size_t>(header.bytes);
  made.resize(2 * bytes);
  std::copy_n(made.begin(), kHeaderBytes, made.begin() + header.bytes);
  const std::array<uint8_t, 8> tag = {'X', 'i', 'n', 'g', 0, 0, 0, 1};
  std::ranges::transform(tag, made.begin() + header.tag, [](uint8_t byte) { return static_cast<std::byte>(byte); });
  for (int i = 0; i < 4; ++i) {
    made[static_cast<size_t>(header.tag + 8 + i)] = static_cast<std::byte>((frames.frames + 1) >> (24 - 8 * i) & 0xff);
  }
  return made;
}

void walk(Bytes file, Mp3Frames& found) {
  Mp3Header header;
  uint64_t at = found.first;
  while (at < file.size()) {
    if (parse_header(file, at, header) && !header.is_free && are_alike(file, found.first, at)) {
      found.ends_inside = static_cast<uint64_t>(header.bytes) > file.size() - at;
      if (found.ends_inside) return;
      ++found.frames;
      at += static_cast<uint64_t>(header.bytes);
      continue;
    }
    uint64_t next = at + 1;  // Tags may follow the last frame, so only bytes before a frame are damage.
    while (next < file.size() && !is_frame(file, found.first, next)) ++next;
    if (next < file.size() && found.damage == 0) found.damage = at;
    at = next;
  }
}

}  // namespace

uint64_t id3_bytes(Bytes head) {
  if (!has_text(head, 0, "ID3") || head.size() < 10) return 0;
  uint64_t size = 0;
  for (uint64_t i = 6; i < 10; ++i) size = size << 7 | (static_cast<uint64_t>(head[i]) & 0x7f);
  const bool has_footer = (head[5] & std::byte{0x10}) != std::byte{0};
  return size + (has_footer ? 20 : 10);
}

Result<Mp3Frames> mp3_frames(Bytes file, std::string_view name) {
  Mp3Frames found;
  Mp3Header header;
  found.first = id3_bytes(file);
  const bool is_other = parse_header(file, found.first, header) && (!header.is_layer3 || header.is_free);
  if (is_other) {
    return fail(ErrorKind::Unimplemented,
                fmt::format("{}: of MPEG audio, layer 3 (MP3) with a stated bit rate is supported only", name));
  }
  while (found.first < file.size() && !is_frame(file, found.first, found.first)) ++found.first;
  if (found.first >= file.size() || !parse_header(file, found.first, header)) {
    return fail(ErrorKind::InvalidArgument, fmt::format("{}: no two frames of MPEG audio follow each other", name));
  }
  read_tag(file, header, found);
  const uint64_t tagged = found.first;
  if (found.stated >= 0) found.first += static_cast<uint64_t>(header.bytes);
  walk(file, found);
  found.first = tagged;
  found.samples = header.samples;
  if (found.stated < 0) found.count = count_frames(file, found);
  return found;
}

}  // namespace headpond::sound_internal
