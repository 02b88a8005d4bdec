// SPDX-License-Identifier: Apache-2.0
// The value that travels: a dtype, a shape, and bytes that are inline, borrowed, or owned together with others.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>
#include <type_traits>
#include <utility>

#include "headpond/tensor/buffer.h"
#include "headpond/tensor/dtype.h"
#include "headpond/tensor/shape.h"
#include "headpond/tensor/tensor_rep.h"

namespace headpond {

/// 48 bytes. Up to 16 bytes of payload live inside; more live in a counted Buffer or are borrowed. Row-major,
/// contiguous. Copies share the payload; it must not be changed once another thread or owner can see it. A moved-from
/// tensor is an empty one. bytes values are held as size() + 1 offsets (int64, from 0) followed by the characters
/// (Apache Arrow's layout).
class Tensor {
 public:
  Tensor() = default;  ///< dtype u8, shape [0].
  Tensor(const Tensor& other) : rep_(other.rep_) { add_owner(); }
  Tensor(Tensor&& other) noexcept : rep_(other.rep_) { other.forget(); }
  Tensor& operator=(Tensor other) noexcept {
    std::swap(rep_, other.rep_);
    return *this;
  }
  ~Tensor() { drop_owner(); }

  /// Copies `values`. Throws Exception(InvalidArgument) unless there are as many as `shape` has.
  template <class T>
  static Tensor from(std::span<const T> values, const Shape& shape) {
    return copied(values.data(), values.size(), dtype_of<T>(), shape);
  }
  static Tensor from(std::span<const std::string_view> values, const Shape& shape);
  template <class T>
    requires std::is_arithmetic_v<T>
  static Tensor scalar(T value) {
    uint64_t word = 0;
    std::memcpy(&word, &value, sizeof(T));
    return Tensor(Rep{.payload = {word, 0}, .dtype = dtype_of<T>(), .rank = 0, .is_inline = true});
  }
  static Tensor scalar(std::string_view value) { return from(std::span<const std::string_view>(&value, 1), Shape()); }

  /// Undefined content, to be written through mutable_data() before anybody else sees it. Throws
  /// Exception(InvalidArgument) for an unknown or overflowing size, and for dtype bytes; std::bad_alloc.
  static Tensor empty(DType dtype, const Shape& shape, BufferPool& pool = BufferPool::current());
  /// Borrows `data`, which must stay as it is as long as the tensor or a copy of it lives; `owner` (may be null), if
  /// given, is kept alive by them. For dtype bytes `data` is in the layout above.
  static Tensor view(const void* data, DType dtype, const Shape& shape, BufferRef owner = BufferRef());

  DType dtype() const { return rep_.dtype; }
  Shape shape() const;
  int rank() const { return rep_.rank; }
  /// REQUIRES: 0 <= axis < rank().
  int64_t dim(int axis) const { return rep_.has_long_dims ? long_dim(axis) : rep_.short_dim(axis); }
  /// shape() == shape, without making one.
  bool has_shape(const Shape& shape) const { return shape.rank() == rank() && has_dims(shape, 0); }
  /// The same for shape() without its first dimension: true iff rows, of which there may be none, have this shape.
  bool has_rows_of(const Shape& shape) const { return shape.rank() + 1 == rank() && has_dims(shape, 1); }
  int64_t size() const;      ///< The number of values.
  size_t byte_size() const;  ///< Bytes at data(); for dtype bytes offsets and characters together.
  const std::byte* data() const { return rep_.data(); }
  /// REQUIRES: made by empty(), not copied since.
  std::byte* mutable_data() { return const_cast<std::byte*>(data()); }
  /// The buffer that the payload lives in; null iff inline or borrowed. Does not add an owner.
  Buffer* owner() const { return rep_.owner; }

  /// The values. Throws Exception(InvalidArgument) unless T reads this dtype (see readable_as). Lives as long as this
  /// tensor or, unless the payload is inline, a copy of it.
  template <class T>
  std::span<const T> as() const {
    if (!readable_as<T>(dtype())) refuse_type(dtype_of<T>());
    return {reinterpret_cast<const T*>(data()), static_cast<size_t>(size())};
  }
  template <class T>
  std::span<T> mutable_as() {
    const auto values = std::as_const(*this).as<T>();
    return {const_cast<T*>(values.data()), values.size()};
  }
  /// Value `i` (row-major) of dtype bytes. Throws Exception(InvalidArgument) for another dtype or index.
  std::string_view bytes_at(int64_t i) const;

  /// Row `i` along the first dimension, copied if small, else sharing this payload. REQUIRES: rank() > 0, 0 <= i <
  /// dim(0).
  Tensor row(int64_t i) const;

  /// The 48 bytes themselves, for containers that move tensors as plain memory: release() gives up the ownership that
  /// adopt() takes over, exactly once.
  using Rep = TensorRep;
  Rep release() && {
    const Rep rep = rep_;
    forget();
    return rep;
  }
  static Tensor adopt(const Rep& rep) { return Tensor(rep); }

 private:
  static constexpr int kMaxRank = 32;
  explicit Tensor(const Rep& rep) : rep_(rep) {}
  // Becomes an empty tensor without giving up what it holds, by the fewest stores: every move does this.
  void forget() {
    rep_.owner = nullptr;
    rep_.dims[0] = 0;
    rep_.dtype = DType::u8;
    rep_.rank = 1;
    rep_.is_inline = rep_.has_long_dims = false;
  }
  static Tensor copied(const void* values, size_t count, DType dtype, const Shape& shape);
  // Whether `shape` is the dimensions from `first` on. REQUIRES: there are as many.
  bool has_dims(const Shape& shape, int first) const {
    if (rep_.has_long_dims) [[unlikely]]
      return has_long_dims(shape, first);
    for (int axis = 0; axis < shape.rank(); ++axis) {
      if (shape[axis] != rep_.short_dim(first + axis)) return false;
    }
    return true;
  }
  int64_t long_dim(int axis) const;
  bool has_long_dims(const Shape& shape, int first) const;
  void set_dims(const Shape& shape);
  void add_owner() const {
    if (rep_.owner != nullptr) rep_.owner->ref();
    if (rep_.has_long_dims) add_long_dims_owner();
  }
  void add_long_dims_owner() const;
  void drop_owner() {
    if (rep_.owner != nullptr) rep_.owner->unref();
    if (rep_.has_long_dims) drop_long_dims();
  }
  void drop_long_dims();
  [[noreturn]] void refuse_type(DType asked) const;

  Rep rep_;
};
static_assert(sizeof(Tensor) == 48);

}  // namespace headpond
