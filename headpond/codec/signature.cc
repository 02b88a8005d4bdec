// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cstring>
#include <string>

#include "headpond/codec/signature_internal.h"

namespace headpond::codec_internal {
namespace {

using std::string_view_literals::operator""sv;
using Bytes = std::span<const std::byte>;

struct Mark {
  size_t offset;
  std::string_view bytes;
  Signature means;
};

constexpr Signature image(std::string_view what) { return {FileKind::other_image, what}; }
constexpr Signature sound(std::string_view what) { return {FileKind::sound, what}; }
constexpr Signature other_sound(std::string_view what) { return {FileKind::other_sound, what}; }
constexpr Signature other(std::string_view what) { return {FileKind::other, what}; }

constexpr Signature kPnm = {FileKind::pnm, "a PNM image"};

// Longer marks come before their beginnings.
constexpr std::array kMarks = {
    Mark{0, "\xff\xd8"sv, {FileKind::jpeg, "a JPEG image"}},
    Mark{0, "\x89PNG"sv, {FileKind::png, "a PNG image"}},
    Mark{0, "GIF8"sv, {FileKind::gif, "a GIF image"}},
    Mark{8, "WEBP"sv, {FileKind::webp, "a WebP image"}},
    Mark{8, "WAVE"sv, sound("WAV sound")},
    Mark{8, "AVI "sv, other("AVI video")},
    Mark{8, "AIFF"sv, sound("AIFF sound")},
    Mark{8, "AIFC"sv, sound("AIFF sound")},
    Mark{0, "II*\0"sv, image("a TIFF image")},
    Mark{0, "MM\0*"sv, image("a TIFF image")},
    Mark{0, "II+\0"sv, image("a BigTIFF image")},
    Mark{0, "MM\0+"sv, image("a BigTIFF image")},
    Mark{4, "ftypavi"sv, image("an AVIF image")},
    Mark{4, "ftyphei"sv, image("a HEIF image")},
    Mark{4, "ftyphev"sv, image("a HEIF image")},
    Mark{4, "ftypmif1"sv, image("a HEIF image")},
    Mark{4, "ftypmsf1"sv, image("a HEIF image")},
    Mark{4, "ftyp"sv, other_sound("MP4 video or sound")},
    Mark{0, "\xff\x0a"sv, image("a JPEG XL image")},
    Mark{0, "\0\0\0\x0cJXL \r\n\x87\n"sv, image("a JPEG XL image")},
    Mark{0, "\0\0\0\x0cjP  \r\n\x87\n"sv, image("a JPEG 2000 image")},
    Mark{0, "\xff\x4f\xff\x51"sv, image("a JPEG 2000 image")},
    Mark{0, "8BPS"sv, image("a Photoshop image")},
    Mark{0, "v/1\x01"sv, image("an OpenEXR image")},
    Mark{0, "#?RADIANCE"sv, image("a Radiance HDR image")},
    Mark{0, "qoif"sv, image("a QOI image")},
    Mark{0, "DDS "sv, image("a DDS image")},
    Mark{0, "\0\0\x01\0"sv, image("an icon")},
    Mark{0, "\0\0\x02\0"sv, image("a cursor")},
    Mark{0, "\x1f\x8b"sv, other("gzip")},
    Mark{0, "PK\x03\x04"sv, other("a zip archive")},
    Mark{0, "BZh"sv, other("bzip2")},
    Mark{0, "\xfd\x37zXZ"sv, other("xz")},
    Mark{0, "\x28\xb5\x2f\xfd"sv, other("Zstandard")},
    Mark{0, "7z\xbc\xaf\x27\x1c"sv, other("a 7z archive")},
    Mark{0, "\x93NUMPY"sv, other("an npy array")},
    Mark{0, "\x89HDF"sv, other("HDF5")},
    Mark{0, "%PDF"sv, other("PDF")},
    Mark{0, "%!PS"sv, other("PostScript")},
    Mark{0, "fLaC"sv, sound("FLAC sound")},
    Mark{0, "ID3"sv, sound("MP3 sound")},
    Mark{0, "OggS"sv, sound("Ogg sound or video")},
    Mark{0, "\x1a\x45\xdf\xa3"sv, other_sound("Matroska or WebM video or sound")},
    Mark{0, "caff"sv, other_sound("CAF sound")},
    Mark{0, "wvpk"sv, other_sound("WavPack sound")},
    Mark{0, "MAC "sv, other_sound("Monkey's Audio")},
    Mark{0, ".snd"sv, other_sound("AU sound")},
    Mark{0, "#!AMR"sv, other_sound("AMR sound")},
    Mark{0, "\x30\x26\xb2\x75"sv, other_sound("WMA sound or video")},
    Mark{0, "riff"sv, other_sound("Wave64 sound")},
    Mark{0, "MThd"sv, other_sound("MIDI")},
    Mark{0,
         "\x7f"
         "ELF"sv,
         other("a program")},
    Mark{0, "version https://git-lfs"sv, other("a pointer of Git LFS, whose file was not fetched")},
};

bool stands_at(Bytes head, size_t offset, std::string_view bytes) {
  return head.size() >= offset + bytes.size() && std::memcmp(&head[offset], bytes.data(), bytes.size()) == 0;
}

char lower(std::byte value) {
  const char c = static_cast<char>(value);
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

bool is_text(Bytes head) {
  return std::ranges::none_of(head, [](std::byte value) {
    const auto c = static_cast<uint8_t>(value);
    return (c < 0x20 && c != '\t' && c != '\n' && c != '\r' && c != '\f') || c == 0x7f;
  });
}

Signature signature_of_text(Bytes head) {
  const auto first = std::ranges::find_if(head, [](std::byte value) { return static_cast<uint8_t>(value) > ' '; });
  std::string begin;
  for (auto at = first; at != head.end() && begin.size() < 16; ++at) begin += lower(*at);
  if (begin.starts_with("\xef\xbb\xbf")) begin.erase(0, 3);
  for (const std::string_view mark : {"<!doctype html", "<html", "<head", "<body", "<script"}) {
    if (begin.starts_with(mark)) return other("HTML");
  }
  if (begin.starts_with("<svg")) return image("an SVG image");
  if (begin.starts_with("<?xml")) return other("XML");
  if (begin.starts_with('{') || begin.starts_with('[')) return other("JSON");
  return other("text");
}

// "P5" and white space; the letters alone begin many a text.
Signature signature_of_pnm(Bytes head) {
  if (head.size() < 2 || static_cast<char>(head[0]) != 'P') return {};
  const char number = static_cast<char>(head[1]);
  const bool is_apart = head.size() == 2 || (static_cast<uint8_t>(head[2]) <= ' ' && head[2] != std::byte{0}) ||
                        static_cast<char>(head[2]) == '#';
  if (!is_apart) return {};
  if (number >= '1' && number <= '7') return kPnm;
  if (number == 'f' || number == 'F') return image("a PFM image of floats");
  return {};
}

// Two letters that begin many a text; the bytes 6 to 9 are 0 in every bitmap that is written today.
bool is_bmp(Bytes head) { return stands_at(head, 0, "BM") && (head.size() < 10 || stands_at(head, 6, "\0\0\0\0"sv)); }

}  // namespace

Signature signature_of(Bytes head) {
  head = head.first(std::min(head.size(), kSignatureBytes));
  if (head.empty()) return other("an empty file");
  for (const Mark& mark : kMarks) {
    if (stands_at(head, mark.offset, mark.bytes)) return mark.means;
  }
  if (const Signature pnm = signature_of_pnm(head); pnm.kind != FileKind::unknown) return pnm;
  if (is_bmp(head)) return {FileKind::bmp, "a BMP image"};
  if (stands_at(head, 257, "ustar")) return other("a tar archive");
  if (is_text(head)) return signature_of_text(head);
  if (std::ranges::all_of(head, [](std::byte value) { return value == std::byte{0}; })) return other("zeros only");
  return {};
}

}  // namespace headpond::codec_internal
