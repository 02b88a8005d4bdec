// SPDX-License-Identifier: Apache-2.0
#include "headpond/codec/image/distance_map.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <exception>
#include <new>
#include <vector>

namespace headpond {
namespace {

// Compilers vectorise loops of a constant length at every level of optimisation; they unroll shorter ones instead.
constexpr int64_t kBlock = 32;
constexpr float kHalf = 0.5F;

// Writes kBlock distances from a column on. Compiled with -fno-math-errno, because otherwise a square root is a call.
void distances(float first_dx, float dy_squared, float limit, float* __restrict to) {
  for (int i = 0; i < kBlock; ++i) {
    const float dx = first_dx + static_cast<float>(i);
    const float distance = std::sqrt(dx * dx + dy_squared);
    to[i] = distance < limit ? distance : limit;
  }
}

// The output of a row.
template <class T>
struct Row {
  T* first;
  int64_t step;  // From a pixel to the next.
  float limit;

  T value(float distance) const {
    if constexpr (std::is_same_v<T, float>) return distance;
    return static_cast<T>(static_cast<int32_t>(distance * (255.0F / limit) + kHalf));
  }

  void fill(int64_t from, int64_t to) const {
    const T most = value(limit);
    if (step == 1) {
      std::fill(first + from, first + std::max(from, to), most);
    } else {
      for (int64_t x = from; x < to; ++x) first[x * step] = most;
    }
  }

  // Writes the pixels [from, to), whose nearest point is at column `center`.
  void measure(int64_t from, int64_t to, int64_t center, float dy_squared) const {
    for (int64_t x = from; x < to; x += kBlock) {
      const auto first_dx = static_cast<float>(x - center);
      const int64_t count = std::min(kBlock, to - x);
      if constexpr (std::is_same_v<T, float>) {
        if (step == 1 && count == kBlock) {
          distances(first_dx, dy_squared, limit, first + x);
          continue;
        }
      }
      put(x, count, first_dx, dy_squared);
    }
  }

 private:
  void put(int64_t x, int64_t count, float first_dx, float dy_squared) const {
    std::array<float, kBlock> block;
    std::array<T, kBlock> values;
    distances(first_dx, dy_squared, limit, block.data());
    for (size_t i = 0; i < kBlock; ++i) values[i] = value(block[i]);
    T* to = first + x * step;
    if (count == kBlock && step == 1) {
      std::copy(values.begin(), values.end(), to);
    } else {
      for (int64_t i = 0; i < count; ++i, to += step) *to = values[static_cast<size_t>(i)];
    }
  }
};

int64_t divide_up(int64_t number, int64_t by) { return number / by + (number % by > 0 ? 1 : 0); }

// Finds the nearest point of each pixel of a row, piece by piece. Rows are requested in ascending order.
class Envelope {
 public:
  Envelope(std::span<const ImagePoint> points, float limit, int64_t height, int64_t width)
      : limit_(limit), reach_(static_cast<int64_t>(std::ceil(limit))), width_(width) {
    const auto is_near = [&](int64_t at, int64_t size) { return at >= -reach_ && at < size + reach_; };
    for (const ImagePoint& point : points) {
      if (is_near(point.y, height) && is_near(point.x, width)) points_.push_back(point);
    }
    std::sort(points_.begin(), points_.end(),
              [](const ImagePoint& a, const ImagePoint& b) { return a.x != b.x ? a.x < b.x : a.y < b.y; });
    for (size_t i = 0; i < points_.size(); ++i) {
      if (i == 0 || points_[i].x != points_[i - 1].x) columns_.push_back({points_[i].x, i, i});
      columns_.back().last = i;
    }
    pieces_.resize(columns_.size() + 1);
  }

  template <class T>
  void write(int64_t y, const Row<T>& row) {
    find_pieces(y);
    int64_t x = 0;
    for (size_t i = 0; i < count_; ++i) {
      const Piece& piece = pieces_[i];
      const int64_t end = i + 1 < count_ ? pieces_[i + 1].begin : width_;
      const double rest = double{limit_} * limit_ - static_cast<double>(piece.dy_squared);
      const auto half = static_cast<int64_t>(std::sqrt(std::max(rest, 0.0))) + 1;  // Pixels beyond it have the limit.
      const int64_t from = std::clamp(piece.center - half, piece.begin, end);
      const int64_t to = std::clamp(piece.center + half + 1, from, end);
      row.fill(x, from);
      row.measure(from, to, piece.center, static_cast<float>(piece.dy_squared));
      x = to;
    }
    row.fill(x, width_);
  }

 private:
  // The points of a column; `nearest` is that of the last row.
  struct Column {
    int64_t x;
    size_t nearest, last;
  };
  // Pixels from `begin` to the next piece have their nearest point in column `center`.
  struct Piece {
    int64_t begin, center, dy_squared;
  };

  int64_t height_above(Column& column, int64_t y) {
    const auto distance = [&](size_t i) { return std::abs(points_[i].y - y); };
    while (column.nearest < column.last && distance(column.nearest + 1) <= distance(column.nearest)) ++column.nearest;
    return distance(column.nearest);
  }

  void find_pieces(int64_t y) {
    count_ = 0;
    for (Column& column : columns_) {
      const int64_t dy = height_above(column, y);
      if (dy <= reach_) add({0, column.x, dy * dy});
    }
  }

  // Columns come from left to right, so the new one is nearest from some pixel on.
  void add(Piece added) {
    while (count_ > 0) {
      const Piece& last = pieces_[count_ - 1];
      const int64_t apart = added.center - last.center;
      added.begin = divide_up(apart * (added.center + last.center) + added.dy_squared - last.dy_squared, 2 * apart);
      if (added.begin > last.begin) break;
      --count_;
    }
    if (count_ == 0) added.begin = 0;
    if (added.begin < width_) pieces_[count_++] = added;
  }

  const float limit_;
  const int64_t reach_;
  const int64_t width_;
  std::vector<ImagePoint> points_;  // By column, then by row.
  std::vector<Column> columns_;
  std::vector<Piece> pieces_;  // The first count_ are used.
  size_t count_ = 0;
};

template <class T>
void write_rows(std::span<const ImagePoint> points, float limit, const ImageChannel& to) {
  Envelope envelope(points, limit, to.height, to.width);
  auto* const values = reinterpret_cast<T*>(to.image.data());
  T* first = values + (to.is_planar ? to.index * to.height * to.width : to.index);
  const int64_t step = to.is_planar ? 1 : to.channels;
  for (int64_t y = 0; y < to.height; ++y, first += step * to.width) envelope.write(y, Row<T>{first, step, limit});
}

Result<void> check_limit(float limit) {
  const bool is_limit = limit >= kMinDistanceLimit && limit <= kMaxDistanceLimit;
  if (is_limit) return {};
  return fail(ErrorKind::InvalidArgument, fmt::format("distance map: a limit of {}; {} to {} was expected", limit,
                                                      kMinDistanceLimit, kMaxDistanceLimit));
}

Result<void> check(float limit, const ImageChannel& to) {
  HEADPOND_TRY(check_limit(limit));
  int64_t bytes = static_cast<int64_t>(item_size(to.dtype));
  const bool fits = (to.dtype == f32 || to.dtype == u8) && to.height >= 0 && to.width >= 0 && to.index >= 0 &&
                    to.index < to.channels && !__builtin_mul_overflow(bytes, to.channels, &bytes) &&
                    !__builtin_mul_overflow(bytes, to.height, &bytes) &&
                    !__builtin_mul_overflow(bytes, to.width, &bytes) && to.image.size() == static_cast<size_t>(bytes) &&
                    reinterpret_cast<uintptr_t>(to.image.data()) % item_size(to.dtype) == 0;
  if (fits) return {};
  return fail(
      ErrorKind::InvalidArgument,
      fmt::format("distance map: channel {} of {} x {} pixels of {} channels of {}; the target has {} bytes; expected "
                  "float32 or uint8, exactly as many bytes as the image has, aligned",
                  to.index, to.height, to.width, to.channels, name(to.dtype), to.image.size()));
}

}  // namespace

Result<void> write_distance_map(std::span<const ImagePoint> points, float limit, const ImageChannel& to) try {
  HEADPOND_TRY(check(limit, to));
  if (to.image.empty()) return {};
  if (to.dtype == f32) {
    write_rows<float>(points, limit, to);
  } else {
    write_rows<uint8_t>(points, limit, to);
  }
  return {};
} catch (const std::bad_alloc&) {
  return fail(current_exception_error());
}

Result<Tensor> distance_map(std::span<const ImagePoint> points, int64_t height, int64_t width, float limit) try {
  HEADPOND_TRY(check_limit(limit));
  Tensor map = Tensor::empty(f32, {height, width});
  HEADPOND_TRY(write_distance_map(points, limit,
                                  {.image = {map.mutable_data(), map.byte_size()}, .height = height, .width = width}));
  return map;
} catch (const std::exception&) {
  return fail(current_exception_error());
}

}  // namespace headpond
