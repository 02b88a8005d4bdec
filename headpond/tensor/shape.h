// SPDX-License-Identifier: Apache-2.0
// Shape: the dimensions of a tensor, or of the tensors that a queue or a dataset gives.
#pragma once

#include <array>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace headpond {

/// An unknown dimension: in the shapes of a PaddingFIFOQueue and in dataset specs, never in a tensor.
inline constexpr int64_t kUnknown = -1;

/// A value type; up to four dimensions need no allocation. The constructors throw Exception(InvalidArgument) for a
/// dimension below kUnknown. REQUIRES are checked by assert() in debug builds.
class Shape {
 public:
  Shape() = default;  ///< Rank 0: a scalar.
  Shape(std::initializer_list<int64_t> dims) : Shape(std::span<const int64_t>(dims.begin(), dims.size())) {}
  explicit Shape(std::span<const int64_t> dims);

  int rank() const { return rank_; }
  /// REQUIRES: 0 <= axis < rank().
  int64_t operator[](int axis) const {
    assert(axis >= 0 && axis < rank_);
    return dims()[static_cast<size_t>(axis)];
  }
  std::span<const int64_t> dims() const {
    return {rank_ <= kInline ? few_.data() : many_.data(), static_cast<size_t>(rank_)};
  }

  /// True iff every dimension is known (>= 0).
  bool is_full() const;
  /// The number of values; nullopt iff a dimension is unknown or the product does not fit int64_t.
  std::optional<int64_t> size() const;
  /// True iff `full` has this rank and the same value in every dimension that is known here.
  bool admits(const Shape& full) const;
  /// The shape of `count` tensors of this shape, stacked: [count, ...].
  Shape stacked(int64_t count) const;
  /// This shape without its first dimension. REQUIRES: rank() > 0.
  Shape row() const {
    assert(rank_ > 0);
    return Shape(dims().subspan(1));
  }
  /// "[28,28]"; "[?,3]" where unknown; "[]" for a scalar.
  std::string to_string() const;

  friend bool operator==(const Shape& a, const Shape& b);

 private:
  static constexpr int kInline = 4;
  std::array<int64_t, kInline> few_ = {};
  std::vector<int64_t> many_;  // All dimensions, iff there are more than kInline.
  int rank_ = 0;
};

}  // namespace headpond
