// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>

#include "headpond/codec/image/geometry/warp_lanes_internal.h"
#include "headpond/codec/image/geometry/warp_rows_internal.h"

namespace headpond::warp_internal {
namespace {

__extension__ using Wide = __int128;
constexpr double kOne = 4294967296.0;  // Fixed point with 32 fraction bits.
constexpr int kBits = 32;

// The pixels [from, to) of a row.
struct Span {
  int64_t from;
  int64_t to;
};

Wide divide_up(Wide number, Wide by) { return number / by + (number % by > 0 ? 1 : 0); }

// The part of `span` where low <= start + x * step < high.
Span narrowed(Span span, Wide start, Wide step, Wide low, Wide high) {
  if (step == 0) return start >= low && start < high ? span : Span{span.from, span.from};
  if (step < 0) {
    start = -start;
    step = -step;
    const Wide mirrored = 1 - high;
    high = 1 - low;
    low = mirrored;
  }
  const Wide from = std::max<Wide>(span.from, divide_up(low - start, step));
  const Wide to = std::min<Wide>(span.to, divide_up(high - start, step));
  if (from >= to) return {span.from, span.from};
  return {static_cast<int64_t>(from), static_cast<int64_t>(to)};
}

// Positions along the rows of an affine map, in fixed point, plus `shift` pixels.
class AffineRows {
 public:
  AffineRows(const ImageMap& map, double shift)
      : step_{fixed(map.to_image[0]), fixed(map.to_image[3])},
        down_{fixed(map.to_image[1]), fixed(map.to_image[4])},
        first_{fixed((map.to_image[0] + map.to_image[1]) / 2 + map.to_image[2] + shift),
               fixed((map.to_image[3] + map.to_image[4]) / 2 + map.to_image[5] + shift)} {}

  void move_to(int64_t y) {
    x_ = first_[0] + down_[0] * y;
    y_ = first_[1] + down_[1] * y;
  }
  // Where the position is at least (low, low) and below (width, height).
  Span within(Span span, int64_t low, int64_t width, int64_t height) const {
    const Wide one = Wide{1} << kBits;
    const Span by_x = narrowed(span, x_, step_[0], low * one, width * one);
    return narrowed(by_x, y_, step_[1], low * one, height * one);
  }
  // The source of pixel `at`, which lies in an image: 64 bits are enough, and wrap after the last one.
  uint64_t x(int64_t at) const { return static_cast<uint64_t>(x_ + step_[0] * at); }
  uint64_t y(int64_t at) const { return static_cast<uint64_t>(y_ + step_[1] * at); }
  uint64_t step_x() const { return static_cast<uint64_t>(step_[0]); }
  uint64_t step_y() const { return static_cast<uint64_t>(step_[1]); }

 private:
  static Wide fixed(double pixels) { return static_cast<Wide>(std::floor(pixels * kOne + 0.5)); }

  const Wide step_[2], down_[2], first_[2];
  Wide x_ = 0, y_ = 0;
};

// Positions of one row of a perspective, plus `shift` pixels.
struct PerspectiveRow {
  PerspectiveRow(const ImageMap& map, int64_t row, double added) : m(map.to_image.data()), shift(added) {
    const double y = static_cast<double>(row) + 0.5;
    for (size_t i = 0; i < 3; ++i) rest[i] = m[3 * i + 1] * y + m[3 * i + 2];
  }
  XY at(int64_t pixel) const {
    const double x = static_cast<double>(pixel) + 0.5;
    const double by = m[6] * x + rest[2];
    return {(m[0] * x + rest[0]) / by + shift, (m[3] * x + rest[1]) / by + shift};
  }

  const double* m;
  double shift;
  double rest[3];
};

// A pixel of N bytes; of any number for N = 0.
template <size_t N>
void copy_pixel(const std::byte* from, size_t bytes, std::byte* to) {
  std::memcpy(to, from, N == 0 ? bytes : N);
}

template <size_t N>
void fill_pixels(const Picture& picture, Span span, std::byte* row) {
  for (int64_t x = span.from; x < span.to; ++x) {
    copy_pixel<N>(picture.fill.data(), picture.pixel_bytes, row + static_cast<size_t>(x) * picture.pixel_bytes);
  }
}

constexpr double kNearestShift = 0x1p-17;  // Rounds a position to 16 fraction bits.

template <size_t N>
void nearest_affine(const Picture& picture, const ImageMap& map, std::byte* row) {
  const size_t bytes = N == 0 ? picture.pixel_bytes : N;
  const size_t row_bytes = static_cast<size_t>(picture.width) * bytes;
  AffineRows rows(map, kNearestShift);
  for (int64_t y = 0; y < map.height; ++y, row += static_cast<size_t>(map.width) * bytes) {
    rows.move_to(y);
    const Span inside = rows.within({0, map.width}, 0, picture.width, picture.height);
    fill_pixels<N>(picture, {0, inside.from}, row);
    fill_pixels<N>(picture, {inside.to, map.width}, row);
    uint64_t at_x = rows.x(inside.from), at_y = rows.y(inside.from);
    std::byte* to = row + static_cast<size_t>(inside.from) * bytes;
    for (int64_t x = inside.from; x < inside.to; ++x, to += bytes) {
      copy_pixel<N>(picture.data + (at_y >> kBits) * row_bytes + (at_x >> kBits) * bytes, bytes, to);
      at_x += rows.step_x();
      at_y += rows.step_y();
    }
  }
}

template <size_t N>
void nearest_perspective(const Picture& picture, const ImageMap& map, std::byte* to) {
  const size_t bytes = N == 0 ? picture.pixel_bytes : N;
  const size_t row_bytes = static_cast<size_t>(picture.width) * bytes;
  const auto width = static_cast<double>(picture.width), height = static_cast<double>(picture.height);
  for (int64_t y = 0; y < map.height; ++y) {
    const PerspectiveRow row(map, y, kNearestShift);
    for (int64_t x = 0; x < map.width; ++x, to += bytes) {
      const XY at = row.at(x);
      const bool is_inside = at[0] >= 0 && at[0] < width && at[1] >= 0 && at[1] < height;
      const std::byte* from = picture.fill.data();
      if (is_inside) from = picture.data + static_cast<size_t>(at[1]) * row_bytes + static_cast<size_t>(at[0]) * bytes;
      copy_pixel<N>(from, bytes, to);
    }
  }
}

template <size_t N>
void nearest(const Picture& picture, const ImageMap& map, std::byte* to) {
  map.is_affine() ? nearest_affine<N>(picture, map, to) : nearest_perspective<N>(picture, map, to);
}

// From `a` to `b` by weight / 256 of the second. A value with weight 0 isn't used: it may be no number.
inline float mixed(float a, float b, int32_t weight) {
  if (weight == 0) return a;
  const float part = static_cast<float>(weight) * (1.0F / 256);
  return a * (1 - part) + b * part;
}
inline int32_t mixed(int32_t a, int32_t b, int32_t weight) { return a * (256 - weight) + b * weight; }

// The four pixels around a position.
template <class T>
struct Taps {
  const T* top_left;
  const T* top_right;
  const T* bottom_left;
  const T* bottom_right;

  T value(size_t channel, int32_t right, int32_t down) const {
    using Sum = std::conditional_t<std::is_same_v<T, float>, float, int32_t>;
    const auto top = mixed(Sum{top_left[channel]}, Sum{top_right[channel]}, right);
    const auto bottom = mixed(Sum{bottom_left[channel]}, Sum{bottom_right[channel]}, right);
    const auto sum = mixed(top, bottom, down);
    if constexpr (std::is_same_v<T, float>) return sum;
    return static_cast<T>((static_cast<int32_t>(sum) + 32768) >> 16);
  }
};

template <class T>
struct Bilinear {
  const T* data;
  const T* fill;
  int64_t height;
  int64_t width;
  size_t channels;

  explicit Bilinear(const Picture& picture)
      : data(reinterpret_cast<const T*>(picture.data)),
        fill(reinterpret_cast<const T*>(picture.fill.data())),
        height(picture.height),
        width(picture.width),
        channels(static_cast<size_t>(picture.channels)) {}

  const T* pixel(int64_t x, int64_t y) const { return data + static_cast<size_t>(y * width + x) * channels; }
  const T* pixel_or_fill(int64_t x, int64_t y) const {
    return x >= 0 && x < width && y >= 0 && y < height ? pixel(x, y) : fill;
  }
  // From the four pixels whose first one is (x, y); all are in the image iff `inside`.
  template <bool inside>
  void write(int64_t x, int64_t y, int32_t right, int32_t down, T* to) const {
    const T* const first = inside ? pixel(x, y) : nullptr;
    const size_t row = static_cast<size_t>(width) * channels;
    const Taps<T> taps = inside ? Taps<T>{first, first + channels, first + row, first + row + channels}
                                : Taps<T>{pixel_or_fill(x, y), pixel_or_fill(x + 1, y), pixel_or_fill(x, y + 1),
                                          pixel_or_fill(x + 1, y + 1)};
    for (size_t channel = 0; channel < channels; ++channel) to[channel] = taps.value(channel, right, down);
  }
  void write_fill(Span span, T* row) const {
    for (int64_t x = span.from; x < span.to; ++x) {
      std::copy_n(fill, channels, row + static_cast<size_t>(x) * channels);
    }
  }
};

// The first of four pixels, and rounding to 8 fraction bits.
constexpr double kBilinearShift = -0.5 + 0x1p-9;

template <bool inside, class T>
void bilinear_span(const Bilinear<T>& image, const AffineRows& rows, Span span, T* row) {
  uint64_t at_x = rows.x(span.from), at_y = rows.y(span.from);
  T* to = row + static_cast<size_t>(span.from) * image.channels;
  for (int64_t x = span.from; x < span.to; ++x, to += image.channels) {
    image.template write<inside>(static_cast<int64_t>(at_x) >> kBits, static_cast<int64_t>(at_y) >> kBits,
                                 static_cast<int32_t>(at_x >> 24 & 255), static_cast<int32_t>(at_y >> 24 & 255), to);
    at_x += rows.step_x();
    at_y += rows.step_y();
  }
}

// Pixels whose offsets in bytes, and coordinates with 8 fraction bits, are 32-bit integers.
bool fits_lanes(const Bilinear<uint8_t>& image) {
  constexpr int64_t kSides = int64_t{1} << 22, kBytes = std::numeric_limits<int32_t>::max();
  const int64_t row_bytes = image.width * static_cast<int64_t>(image.channels);
  return image.height < kSides && image.width < kSides && image.height * row_bytes <= kBytes;
}

// The pixels of `span` with all four neighbours in the image.
void bilinear_inside(const Bilinear<uint8_t>& image, const AffineRows& rows, Span span, uint8_t* row) {
  if (!fits_lanes(image)) return bilinear_span<true>(image, rows, span, row);
  const auto channels = static_cast<int32_t>(image.channels);
  const BytePixels pixels = {image.data, static_cast<int32_t>(image.width) * channels, channels};
  const BilinearBytes write = bilinear_bytes();
  uint64_t at_x = rows.x(span.from), at_y = rows.y(span.from);
  Coordinates coordinates;
  for (int64_t x = span.from; x < span.to; x += static_cast<int64_t>(coordinates.count)) {
    coordinates.count = std::min(Coordinates::kSize, static_cast<size_t>(span.to - x));
    for (size_t i = 0; i < coordinates.count; ++i) {
      coordinates.x[i] = static_cast<int32_t>(at_x >> 24);
      coordinates.y[i] = static_cast<int32_t>(at_y >> 24);
      at_x += rows.step_x();
      at_y += rows.step_y();
    }
    write(pixels, coordinates, row + static_cast<size_t>(x) * image.channels);
  }
}
void bilinear_inside(const Bilinear<float>& image, const AffineRows& rows, Span span, float* row) {
  bilinear_span<true>(image, rows, span, row);
}

template <class T>
void bilinear_affine(const Bilinear<T>& image, const ImageMap& map, T* row) {
  AffineRows rows(map, kBilinearShift);
  for (int64_t y = 0; y < map.height; ++y, row += static_cast<size_t>(map.width) * image.channels) {
    rows.move_to(y);
    const Span some = rows.within({0, map.width}, -1, image.width, image.height);
    const Span all = rows.within(some, 0, image.width - 1, image.height - 1);
    image.write_fill({0, some.from}, row);
    bilinear_span<false>(image, rows, {some.from, all.from}, row);
    bilinear_inside(image, rows, all, row);
    bilinear_span<false>(image, rows, {all.to, some.to}, row);
    image.write_fill({some.to, map.width}, row);
  }
}

template <class T>
void bilinear_perspective(const Bilinear<T>& image, const ImageMap& map, T* to) {
  const auto width = static_cast<double>(image.width), height = static_cast<double>(image.height);
  for (int64_t y = 0; y < map.height; ++y) {
    const PerspectiveRow row(map, y, kBilinearShift);
    for (int64_t x = 0; x < map.width; ++x, to += image.channels) {
      const XY at = row.at(x);
      if (!(at[0] >= -1 && at[0] < width && at[1] >= -1 && at[1] < height)) {
        std::copy_n(image.fill, image.channels, to);
        continue;
      }
      const double left = std::floor(at[0]), top = std::floor(at[1]);
      image.template write<false>(static_cast<int64_t>(left), static_cast<int64_t>(top),
                                  static_cast<int32_t>((at[0] - left) * 256), static_cast<int32_t>((at[1] - top) * 256),
                                  to);
    }
  }
}

}  // namespace

void write_nearest(const Picture& picture, const ImageMap& map, std::byte* to) {
  switch (picture.pixel_bytes) {
    case 1:
      return nearest<1>(picture, map, to);
    case 2:
      return nearest<2>(picture, map, to);
    case 3:
      return nearest<3>(picture, map, to);
    case 4:
      return nearest<4>(picture, map, to);
    case 8:
      return nearest<8>(picture, map, to);
    case 12:
      return nearest<12>(picture, map, to);
    case 16:
      return nearest<16>(picture, map, to);
    default:
      return nearest<0>(picture, map, to);
  }
}

template <class T>
void write_bilinear(const Picture& picture, const ImageMap& map, std::byte* to) {
  const Bilinear<T> image(picture);
  T* const values = reinterpret_cast<T*>(to);
  map.is_affine() ? bilinear_affine(image, map, values) : bilinear_perspective(image, map, values);
}

template void write_bilinear<uint8_t>(const Picture&, const ImageMap&, std::byte*);
template void write_bilinear<float>(const Picture&, const ImageMap&, std::byte*);

}  // namespace headpond::warp_internal
