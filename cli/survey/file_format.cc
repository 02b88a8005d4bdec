// SPDX-License-Identifier: Apache-2.0
#include "cli/survey/file_format.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>

#include "headpond/base/crc32c.h"
#include "headpond/codec/image/formats/image.h"
#include "headpond/io/compression/inflate.h"

namespace headpond::cli {
namespace {

using Bytes = std::span<const std::byte>;

bool stands_at(Bytes start, size_t offset, std::string_view mark) {
  return start.size() >= offset + mark.size() && std::memcmp(&start[offset], mark.data(), mark.size()) == 0;
}

// A length with a fitting checksum, which a file in 4,000,000,000 has by chance.
bool is_record_header(Bytes start) {
  constexpr size_t kLength = 8;
  uint32_t crc = 0;
  if (start.size() < kLength + sizeof crc) return false;
  std::memcpy(&crc, &start[kLength], sizeof crc);
  return masked_crc32c(start.first(kLength)) == crc;
}

bool is_idx(Bytes start) {
  constexpr std::array<uint8_t, 6> kTypeCodes = {0x08, 0x09, 0x0b, 0x0c, 0x0d, 0x0e};
  constexpr uint8_t kMaxRank = 32;
  if (start.size() < 4 || start[0] != std::byte{0} || start[1] != std::byte{0}) return false;
  const auto rank = static_cast<uint8_t>(start[3]);
  return std::ranges::find(kTypeCodes, static_cast<uint8_t>(start[2])) != kTypeCodes.end() && rank > 0 &&
         rank <= kMaxRank;
}

// A zip archive whose first member is an array.
bool is_npz(Bytes start) {
  constexpr size_t kNameSize = 26, kName = 30;
  if (!stands_at(start, 0, "PK\x03\x04") || start.size() < kName) return false;
  uint16_t size = 0;
  std::memcpy(&size, &start[kNameSize], sizeof size);
  constexpr std::string_view kEnd = ".npy";
  return size >= kEnd.size() && stands_at(start, kName + size - kEnd.size(), kEnd);
}

bool is_text(Bytes start) {
  constexpr std::string_view kControl = "\t\n\r\f\x1b";
  const auto is_character = [&](std::byte byte) {
    return static_cast<uint8_t>(byte) >= 0x20 || kControl.find(static_cast<char>(byte)) != std::string_view::npos;
  };
  return !start.empty() && std::ranges::all_of(start, is_character);
}

// Some texts begin as a PNM image does.
std::string_view by_content(Bytes start) {
  constexpr size_t kTarMark = 257;
  if (is_record_header(start)) return "tfrecord";
  if (const auto image = image_format(start); image && (*image != ImageFormat::pnm || !is_text(start))) {
    return name(*image);
  }
  constexpr std::array<std::string_view, 4> kWaves = {"RIFF", "RIFX", "RF64", "BW64"};
  const bool is_riff = std::ranges::any_of(kWaves, [&](std::string_view id) { return stands_at(start, 0, id); });
  if (is_riff && stands_at(start, 8, "WAVE")) return "wav";
  if (stands_at(start, kTarMark, "ustar")) return "tar";
  if (stands_at(start, 0, "\x93NUMPY")) return "npy";
  if (is_npz(start)) return "npz";
  return is_idx(start) ? "idx" : "unknown";
}

std::string_view by_name(std::string_view path) {
  std::string name(path.substr(path.rfind('/') + 1));
  std::ranges::transform(name, name.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  for (const std::string_view end : {".gz", ".zlib"}) {
    if (name.ends_with(end)) name.resize(name.size() - end.size());
  }
  constexpr std::array<std::pair<std::string_view, std::string_view>, 22> kEnds = {
      {{".csv", "csv"}, {".tsv", "tsv"}, {".jsonl", "jsonl"}, {".ndjson", "jsonl"}, {".txt", "text"}, {".npy", "npy"},
       {".npz", "npz"}, {".png", "png"}, {".jpg", "jpeg"},    {".jpeg", "jpeg"},    {".bmp", "bmp"},  {".dib", "bmp"},
       {".pgm", "pnm"}, {".ppm", "pnm"}, {".pnm", "pnm"},     {".webp", "webp"},    {".gif", "gif"},  {".wav", "wav"},
       {".tar", "tar"}, {".tgz", "tar"}, {".idx", "idx"},     {"-ubyte", "idx"}}};
  const auto* const found = std::ranges::find_if(kEnds, [&](const auto& end) { return name.ends_with(end.first); });
  if (found != kEnds.end()) return found->second;
  return name.find("tfrecord") != std::string::npos ? "tfrecord" : "unknown";
}

// The first bytes of what `start` inflates to; fewer where it is damaged.
std::vector<std::byte> inflated(Bytes start, Compression compression) {
  auto stored = make_memory_reader("", start);
  const auto reader = compression == Compression::gzip ? make_gzip_reader(std::move(stored), kFormatBytes)
                                                       : make_zlib_reader(std::move(stored), kFormatBytes);
  std::vector<std::byte> all(kFormatBytes);
  size_t size = 0;
  while (size < all.size()) {
    const auto got = reader->read(std::span(all).subspan(size));
    if (!got || *got == 0) break;
    size += *got;
  }
  all.resize(size);
  return all;
}

}  // namespace

FileFormat guess_format(std::string_view path, std::span<const std::byte> start) {
  FileFormat format = {by_content(start)};
  std::vector<std::byte> inside;
  if (format.name == "unknown" && is_gzip(start)) {
    inside = inflated(start, Compression::gzip);
    start = inside;
    format = {by_content(start), Compression::gzip};
  } else if (format.name == "unknown" && is_zlib(start) && is_record_header(inflated(start, Compression::zlib))) {
    format = {"tfrecord", Compression::zlib};
  }
  if (format.name == "unknown") format.name = by_name(path);
  if (format.name == "unknown" && is_text(start)) format.name = "text";
  if (format.name == "tsv") {
    format.name = "csv";
    format.delimiter = '\t';
  }
  return format;
}

}  // namespace headpond::cli
