// SPDX-License-Identifier: Apache-2.0
#include "headpond/tensor/tensor.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <functional>
#include <string>

#include "headpond/base/status.h"

namespace headpond {

struct TensorRep::LongDims {
  std::atomic<uint32_t> owners = 1;
  std::vector<int64_t> dims;
};

namespace {

constexpr size_t kInlineBytes = 16;

[[noreturn]] void refuse(const std::string& why) { throw Exception(Error(ErrorKind::InvalidArgument, why)); }

// A view of row `i`. REQUIRES: !has_long_dims.
TensorRep row_of(const TensorRep& all, int64_t i, size_t row_bytes) {
  TensorRep row;
  row.dtype = all.dtype;
  row.rank = static_cast<uint8_t>(all.rank - 1);
  row.dims[0] = all.dims[0] >> 32 | all.dims[1] << 32;
  row.dims[1] = all.dims[1] >> 32;
  row.payload[0] = std::bit_cast<uint64_t>(all.data() + static_cast<size_t>(i) * row_bytes);
  if (all.owner != nullptr) all.owner->ref();
  row.owner = all.owner;
  return row;
}

size_t checked_bytes(DType dtype, const Shape& shape) {
  if (shape.rank() == 1 && shape[0] >= 0 && shape[0] <= INT32_MAX) {  // The common case, in a few instructions.
    return static_cast<size_t>(shape[0]) * item_size(dtype);
  }
  const auto size = shape.size();
  int64_t total = 0;
  if (!size || __builtin_mul_overflow(*size, static_cast<int64_t>(item_size(dtype)), &total)) {
    refuse(fmt::format("a tensor of shape {}: a dimension is unknown, or the size overflows", shape.to_string()));
  }
  return static_cast<size_t>(total);
}

const int64_t* offsets_of(const std::byte* data) { return reinterpret_cast<const int64_t*>(data); }

}  // namespace

Tensor Tensor::empty(DType dtype, const Shape& shape, BufferPool& pool) {
  if (dtype == DType::bytes) refuse("Tensor::empty of dtype bytes: the lengths of its values are not known yet");
  const size_t total = checked_bytes(dtype, shape);
  Tensor tensor;
  tensor.rep_.dtype = dtype;
  tensor.set_dims(shape);
  if (total <= kInlineBytes) {
    tensor.rep_.where = Rep::Payload::inside;
  } else {
    tensor.rep_.owner = pool.allocate(total).release();
    tensor.rep_.payload[0] = std::bit_cast<uint64_t>(tensor.rep_.owner->data());
  }
  return tensor;
}

Tensor Tensor::view(const void* data, DType dtype, const Shape& shape, BufferRef owner) {
  checked_bytes(dtype, shape);
  Tensor tensor;
  tensor.rep_.dtype = dtype;
  tensor.set_dims(shape);
  tensor.rep_.payload[0] = std::bit_cast<uint64_t>(data);
  tensor.rep_.owner = owner.release();
  return tensor;
}

Tensor Tensor::from_memory(const void* data, DType dtype, const Shape& shape, std::function<void()> release) {
  Tensor tensor = view(data, dtype, shape);
  tensor.rep_.owner = BufferRef::calling(std::move(release)).release();
  return tensor;
}

Tensor Tensor::copied(const void* values, size_t count, DType dtype, const Shape& shape) {
  if (shape.size() != static_cast<int64_t>(count)) {
    refuse(fmt::format("{} values for a tensor of shape {}", count, shape.to_string()));
  }
  Tensor tensor = empty(dtype, shape);
  if (count != 0) std::memcpy(tensor.mutable_data(), values, count * item_size(dtype));
  return tensor;
}

Tensor Tensor::from(std::span<const std::string_view> values, const Shape& shape) {
  if (shape.size() != static_cast<int64_t>(values.size())) {
    refuse(fmt::format("{} values for a tensor of shape {}", values.size(), shape.to_string()));
  }
  size_t total = (values.size() + 1) * sizeof(int64_t);
  for (const std::string_view value : values) total += value.size();
  BufferRef buffer = BufferPool::current().allocate(total);
  auto* const offsets = reinterpret_cast<int64_t*>(buffer->data());
  std::byte* const characters = buffer->data() + (values.size() + 1) * sizeof(int64_t);
  offsets[0] = 0;
  for (size_t i = 0; i < values.size(); ++i) {
    if (!values[i].empty()) std::memcpy(characters + offsets[i], values[i].data(), values[i].size());
    offsets[i + 1] = offsets[i] + static_cast<int64_t>(values[i].size());
  }
  const std::byte* const data = buffer->data();
  return view(data, DType::bytes, shape, std::move(buffer));
}

void Tensor::set_dims(const Shape& shape) {
  if (shape.rank() > kMaxRank) refuse(fmt::format("a tensor of {} dimensions; at most {}", shape.rank(), kMaxRank));
  rep_.rank = static_cast<uint8_t>(shape.rank());
  const auto dims = shape.dims();
  if (dims.size() > 4 || std::any_of(dims.begin(), dims.end(), [](int64_t dim) { return dim > UINT32_MAX; })) {
    rep_.dims[0] =
        std::bit_cast<uint64_t>(new Rep::LongDims{.owners = 1, .dims = std::vector<int64_t>(dims.begin(), dims.end())});
    rep_.has_long_dims = true;
  } else {
    for (size_t axis = 0; axis < dims.size(); ++axis) {
      rep_.dims[axis / 2] |= static_cast<uint64_t>(dims[axis]) << (axis % 2 * 32);
    }
  }
}

Shape Tensor::shape() const {
  std::array<int64_t, kMaxRank> dims;
  for (int axis = 0; axis < rank(); ++axis) dims[static_cast<size_t>(axis)] = dim(axis);
  return Shape(std::span<const int64_t>(dims.data(), static_cast<size_t>(rank())));
}

int64_t Tensor::long_dim(int axis) const { return rep_.long_dims()->dims[static_cast<size_t>(axis)]; }

bool Tensor::has_long_dims(const Shape& shape, int first) const {
  for (int axis = 0; axis < shape.rank(); ++axis) {
    if (shape[axis] != dim(first + axis)) return false;
  }
  return true;
}

int64_t Tensor::size() const {
  uint64_t product = 1;  // The other dimensions of an empty tensor may be too large to multiply: that wraps, and is 0.
  for (int axis = 0; axis < rank(); ++axis) product *= static_cast<uint64_t>(dim(axis));
  return static_cast<int64_t>(product);
}

size_t Tensor::byte_size() const {
  const int64_t count = size();
  if (dtype() != DType::bytes) return static_cast<size_t>(count) * item_size(dtype());
  return static_cast<size_t>(count + 1) * sizeof(int64_t) + static_cast<size_t>(offsets_of(data())[count]);
}

std::string_view Tensor::bytes_at(int64_t i) const {
  if (dtype() != DType::bytes) refuse(fmt::format("bytes_at of a tensor of {}", name(dtype())));
  const int64_t count = size();
  if (i < 0 || i >= count) refuse(fmt::format("bytes_at({}) of a tensor of {} values", i, count));
  const int64_t* const offsets = offsets_of(data());
  const auto* const characters = reinterpret_cast<const char*>(offsets + count + 1);
  return {characters + offsets[i], static_cast<size_t>(offsets[i + 1] - offsets[i])};
}

Tensor Tensor::row(int64_t i) const {
  assert(rank() > 0 && i >= 0 && i < dim(0));
  if (dtype() != DType::bytes && !rep_.has_long_dims) {
    size_t row_bytes = item_size(dtype());
    for (int axis = 1; axis < rank(); ++axis) row_bytes *= static_cast<size_t>(dim(axis));
    if (row_bytes > kInlineBytes) return adopt(row_of(rep_, i, row_bytes));  // The usual case: no shape is made for it.
  }
  const Shape row_shape = shape().row();
  const int64_t values = row_shape.size().value_or(0);
  if (dtype() == DType::bytes) {
    std::vector<std::string_view> texts(static_cast<size_t>(values));
    for (int64_t k = 0; k < values; ++k) texts[static_cast<size_t>(k)] = bytes_at(i * values + k);
    return from(texts, row_shape);
  }
  const size_t row_bytes = static_cast<size_t>(values) * item_size(dtype());
  const std::byte* const begin = data() + static_cast<size_t>(i) * row_bytes;
  if (row_bytes <= kInlineBytes) return copied(begin, static_cast<size_t>(values), dtype(), row_shape);
  if (rep_.owner != nullptr) rep_.owner->ref();
  return view(begin, dtype(), row_shape, BufferRef(rep_.owner));
}

void Tensor::add_long_dims_owner() const { rep_.long_dims()->owners.fetch_add(1, std::memory_order_relaxed); }

void Tensor::drop_long_dims() {
  if (rep_.long_dims()->owners.fetch_sub(1, std::memory_order_acq_rel) == 1) delete rep_.long_dims();
}

void Tensor::refuse_type(DType asked) const {
  refuse(fmt::format("a tensor of {} {} read as {}{}", name(dtype()), shape().to_string(), name(asked),
                     dtype() == DType::bytes ? ": read its values with bytes_at(i)" : ""));
}

void Tensor::refuse_item() const {
  refuse(fmt::format("item() of a tensor of {} {}, which has {} values", name(dtype()), shape().to_string(), size()));
}

void Tensor::check_writable() const {
  if (size() == 0) return;
  const auto refuse_write = [](const char* why) {
    throw Exception(
        Error(ErrorKind::FailedPrecondition, fmt::format("mutable_data() of a tensor {}; copy it first", why)));
  };
  const Buffer* const buffer = rep_.owner;
  // From the buffer's own bytes to their end; a view may have an owner and lie elsewhere.
  const bool is_own = buffer != nullptr && std::greater_equal<>()(data(), buffer->data()) &&
                      std::less<>()(data(), buffer->data() + buffer->size());
  if (!is_own) refuse_write("over borrowed memory");
  if (!buffer->is_unique()) refuse_write("whose payload another tensor shares");
}

}  // namespace headpond
