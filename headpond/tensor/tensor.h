// SPDX-License-Identifier: Apache-2.0
// Tensor: the value that queues and datasets carry.
#pragma once

#include <cassert>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <iosfwd>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "headpond/tensor/buffer.h"
#include "headpond/tensor/dtype.h"
#include "headpond/tensor/shape.h"
#include "headpond/tensor/tensor_rep.h"

namespace headpond {

/// A dtype, a shape and the values, row-major and contiguous. 48 bytes: a payload of at most 16 bytes lies inside the
/// tensor; a larger one lies in a counted Buffer or in borrowed memory. Copies share such a payload, so a tensor is
/// written only before it is copied (mutable_data()). A moved-from tensor is empty. Values of dtype bytes are size() +
/// 1 offsets (int64, the first is 0) followed by the characters, which is Apache Arrow's layout. Different tensors may
/// be used by different threads, also if they share a payload; one tensor is used by one thread at a time.
///
/// REQUIRES of the functions below are checked by assert() in debug builds.
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

  /// Copies `values`. Throws Exception(InvalidArgument) unless their number is that of `shape`.
  template <class T>
  static Tensor from(std::span<const T> values, const Shape& shape) {
    return copied(values.data(), values.size(), dtype_of<T>(), shape);
  }
  static Tensor from(std::span<const std::string_view> values, const Shape& shape);
  /// The same for a vector of numbers, or of strings (anything that converts to std::string_view: dtype bytes).
  template <class T, class Allocator>
  static Tensor from(const std::vector<T, Allocator>& values, const Shape& shape) {
    if constexpr (std::is_convertible_v<const T&, std::string_view>) {
      const std::vector<std::string_view> views(values.begin(), values.end());
      return from(std::span<const std::string_view>(views), shape);
    } else if constexpr (std::is_same_v<T, bool>) {  // A vector of bits.
      const std::vector<uint8_t> flags(values.begin(), values.end());
      return copied(flags.data(), flags.size(), DType::boolean, shape);
    } else {
      return copied(values.data(), values.size(), dtype_of<T>(), shape);
    }
  }
  template <class T>
    requires std::is_arithmetic_v<T>
  static Tensor scalar(T value) {
    uint64_t word = 0;
    std::memcpy(&word, &value, sizeof(T));
    return Tensor(Rep{.payload = {word, 0}, .dtype = dtype_of<T>(), .rank = 0, .where = Rep::Payload::inside});
  }
  static Tensor scalar(std::string_view value) { return from(std::span<const std::string_view>(&value, 1), Shape()); }

  /// Undefined values, to be written through mutable_data(). Throws Exception(InvalidArgument) for an unknown
  /// dimension, a size that overflows, and dtype bytes; std::bad_alloc.
  static Tensor empty(DType dtype, const Shape& shape, BufferPool& pool = BufferPool::current());
  /// Borrows `data`, which must not change as long as the tensor or a copy of it lives. They keep `owner` alive if it
  /// is not null. For dtype bytes `data` is in the layout above. Throws as empty() does.
  static Tensor view(const void* data, DType dtype, const Shape& shape, BufferRef owner = BufferRef());
  /// Borrows memory that the caller lends for writing too: mutable_data() gives it, also in a copy. Throws as empty().
  static Tensor writable_view(std::byte* data, DType dtype, const Shape& shape) {
    Tensor tensor = view(data, dtype, shape);
    tensor.rep_.where = Rep::Payload::lent;
    return tensor;
  }
  /// Borrows memory of another library. `release` is called once, by the thread that destroys the last tensor over
  /// `data`; it must not throw. Throws as empty() does; then `release` is not called.
  static Tensor from_memory(const void* data, DType dtype, const Shape& shape, std::function<void()> release);

  DType dtype() const { return rep_.dtype; }
  Shape shape() const;
  int rank() const { return rep_.rank; }
  /// REQUIRES: 0 <= axis < rank().
  int64_t dim(int axis) const {
    assert(axis >= 0 && axis < rank());
    return rep_.has_long_dims ? long_dim(axis) : rep_.short_dim(axis);
  }
  /// shape() == shape, without making a Shape.
  bool has_shape(const Shape& shape) const { return shape.rank() == rank() && has_dims(shape, 0); }
  /// True iff shape() without its first dimension is `shape`: iff this holds rows of that shape, perhaps none.
  bool has_rows_of(const Shape& shape) const { return shape.rank() + 1 == rank() && has_dims(shape, 1); }
  int64_t size() const;      ///< The number of values.
  size_t byte_size() const;  ///< Bytes at data(); for dtype bytes offsets and characters together.
  const std::byte* data() const { return rep_.data(); }
  /// The payload, for writing. Throws Exception(FailedPrecondition) if the memory is borrowed, or another tensor or
  /// owner shares it: then copy it first.
  std::byte* mutable_data() {
    if (rep_.where == Rep::Payload::outside && !is_sole_owner()) check_writable();
    return const_cast<std::byte*>(data());
  }
  /// The buffer that keeps the payload alive; null iff the payload is inline or borrowed. Adds no owner.
  Buffer* owner() const { return rep_.owner; }

  /// The values. Throws Exception(InvalidArgument) unless T reads this dtype (see readable_as). The span lives as long
  /// as this tensor or, unless the payload is inline, a copy of it. Values of dtype bytes are read with bytes_at().
  template <class T>
  std::span<const T> as() const {
    if (!readable_as<T>(dtype())) refuse_type(dtype_of<T>());
    return {reinterpret_cast<const T*>(data()), static_cast<size_t>(size())};
  }
  /// The same for writing; throws as mutable_data() too.
  template <class T>
  std::span<T> mutable_as() {
    const size_t count = std::as_const(*this).as<T>().size();
    return {reinterpret_cast<T*>(mutable_data()), count};
  }
  /// Value `i` (row-major) of dtype bytes. Throws Exception(InvalidArgument) for another dtype or index.
  std::string_view bytes_at(int64_t i) const;
  /// The value of a tensor that has one, whatever its rank. Throws Exception(InvalidArgument) unless size() is 1 and T
  /// reads this dtype. item<std::string_view>() is bytes_at(0).
  template <class T>
  T item() const {
    if (size() != 1) refuse_item();
    if constexpr (std::is_same_v<T, std::string_view>) {
      return bytes_at(0);
    } else {
      return as<T>()[0];
    }
  }

  /// Row `i` along the first dimension; a small row is copied, a larger one shares the payload. REQUIRES: rank() > 0,
  /// 0 <= i < dim(0).
  Tensor row(int64_t i) const;

  /// The 48 bytes, for containers that move tensors as plain memory: release() gives up the ownership, and adopt()
  /// takes it over exactly once.
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
  // Becomes an empty tensor without dropping the payload, by the fewest stores: every move does this.
  void forget() {
    rep_.owner = nullptr;
    rep_.dims[0] = 0;
    rep_.dtype = DType::u8;
    rep_.rank = 1;
    rep_.where = Rep::Payload::outside;
    rep_.has_long_dims = false;
  }
  static Tensor copied(const void* values, size_t count, DType dtype, const Shape& shape);
  // True iff the dimensions from `first` on are `shape`. REQUIRES: their numbers are equal.
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
  [[noreturn]] void refuse_item() const;
  // The common case of a tensor that may be written: it lies at the begin of a buffer that nobody else has.
  bool is_sole_owner() const {
    return rep_.owner != nullptr && rep_.owner->is_unique() && rep_.data() == rep_.owner->data();
  }
  void check_writable() const;

  Rep rep_;
};
static_assert(sizeof(Tensor) == 48);

/// "float32 [2,2] [[0, 1], [2, 3]]"; at most 32 values and 32 bytes of each string are shown, "..." stands for the
/// rest.
std::string to_string(const Tensor& tensor);
std::ostream& operator<<(std::ostream& out, const Tensor& tensor);

}  // namespace headpond
