// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <vector>

#include "headpond/codec/image/formats/format_internal.h"

namespace headpond::image_internal {
namespace {

constexpr uint32_t kMostSide = 0x7fffffff;
constexpr uint64_t kMostPnmHeader = 4096;  // A comment may be long.

struct PnmLayout {
  int64_t width = 0, height = 0;
  int channels = 1;
  uint32_t most = 0;  // The value of white.
  uint64_t pixels = 0;

  bool is_wide() const { return most > 255; }
  uint64_t row_values() const { return static_cast<uint64_t>(width) * static_cast<uint64_t>(channels); }
  uint64_t row_bytes() const { return row_values() * (is_wide() ? 2 : 1); }
};

bool is_space(uint8_t c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

class Header {
 public:
  explicit Header(const Source& source) : source_(source) {}

  // The next number, of at most `most`, and the one white space after it.
  Result<uint32_t> number(std::string_view what, uint32_t most) {
    HEADPOND_TRY(pass_space(what));
    uint64_t value = 0;
    const uint64_t begin = at_;
    for (;; ++at_) {
      HEADPOND_TRY(need_next(what));
      const uint8_t c = source_.byte(at_);
      if (c < '0' || c > '9') break;
      value = std::min<uint64_t>(value * 10 + (c - '0'), uint64_t{1} << 40);
    }
    if (at_ == begin || !is_space(source_.byte(at_)) || value == 0 || value > most) {
      return source_.invalid(fmt::format("{} at offset {}: a number from 1 to {} was expected", what, begin, most));
    }
    ++at_;
    return static_cast<uint32_t>(value);
  }
  uint64_t at() const { return at_; }

 private:
  Result<void> need_next(std::string_view what) const {
    if (at_ < kMostPnmHeader) return source_.need(at_ + 1);
    return source_.invalid(fmt::format("{}: not within the first {} bytes", what, kMostPnmHeader));
  }
  Result<void> pass_space(std::string_view what) {
    for (bool is_comment = false;; ++at_) {
      HEADPOND_TRY(need_next(what));
      const uint8_t c = source_.byte(at_);
      if (c == '#') is_comment = true;
      if (is_comment ? c != '\n' && c != '\r' : is_space(c)) continue;
      if (!is_comment) return {};
      is_comment = false;
    }
  }

  const Source& source_;
  uint64_t at_ = 2;
};

Result<PnmLayout> read_pnm_layout(const Source& source) {
  HEADPOND_TRY(source.need(2));
  const char kind = static_cast<char>(source.byte(1));
  if (kind != '5' && kind != '6') {
    return source.error(ErrorKind::Unimplemented,
                        fmt::format("a P{} image: only P5 and P6 are read; convert it to PNG", kind));
  }
  Header header(source);
  const auto width = header.number("width", kMostSide);
  if (!width) return fail(width.error());
  const auto height = header.number("height", kMostSide);
  if (!height) return fail(height.error());
  const auto most = header.number("largest value", 65535);
  if (!most) return fail(most.error());
  const PnmLayout layout = {*width, *height, kind == '5' ? 1 : 3, *most, header.at()};
  uint64_t bytes = 0;
  if (__builtin_mul_overflow(layout.row_bytes(), static_cast<uint64_t>(layout.height), &bytes)) bytes = UINT64_MAX / 2;
  HEADPOND_TRY(source.need_in_file(layout.pixels + bytes));
  return layout;
}

// To the full range of u8 or u16, to the nearest; a half goes up. A value above white is white.
class Scale {
 public:
  explicit Scale(uint32_t most) : most_(most), full_(most > 255 ? 65535 : 255) {}
  uint32_t operator()(uint32_t value) const {
    return most_ == full_ ? value : (std::min(value, most_) * full_ + most_ / 2) / most_;
  }

 private:
  const uint32_t most_, full_;
};

}  // namespace

Result<Picture> pnm_picture(const Source& source) {
  const auto layout = read_pnm_layout(source);
  if (!layout) return fail(layout.error());
  return Picture{layout->height, layout->width, layout->channels, layout->is_wide()};
}

Result<void> decode_pnm(const Source& file, const PixelTarget& to) {
  const auto layout = read_pnm_layout(file);
  if (!layout) return fail(layout.error());
  const Scale scale(layout->most);
  std::vector<uint16_t> wide(layout->is_wide() ? layout->row_values() : 0);
  std::vector<uint8_t> narrow(layout->is_wide() ? 0 : layout->row_values());
  for (int64_t y = 0; y < layout->height; ++y) {
    const uint64_t at = layout->pixels + static_cast<uint64_t>(y) * layout->row_bytes();
    const auto* const from = reinterpret_cast<const uint8_t*>(file.head.data() + at);
    for (size_t i = 0; i < wide.size(); ++i) {
      wide[i] = static_cast<uint16_t>(scale(uint32_t{from[2 * i]} << 8 | from[2 * i + 1]));
    }
    for (size_t i = 0; i < narrow.size(); ++i) narrow[i] = static_cast<uint8_t>(scale(from[i]));
    if (layout->is_wide()) {
      to.put_row(y, wide.data(), layout->channels);
    } else {
      to.put_row(y, narrow.data(), layout->channels);
    }
  }
  return {};
}

}  // namespace headpond::image_internal
