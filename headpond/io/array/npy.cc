// SPDX-License-Identifier: Apache-2.0
#include "headpond/io/array/npy.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <new>
#include <utility>
#include <vector>

#include "headpond/io/array/byte_swap_internal.h"
#include "headpond/io/array/npy_header_internal.h"
#include "headpond/io/file/bytes_read.h"
#include "headpond/io/file/file.h"
#include "headpond/io/file/mapped_file.h"
#include "headpond/io/file/mapping_guard_internal.h"
#include "headpond/io/named_error_internal.h"

namespace headpond {
namespace {

using internal::NpyHeader;
constexpr int64_t kMaxEmptyRows = int64_t{1} << 20;

// From Fortran order to row-major order.
template <size_t kItem>
void copy_fortran(const std::byte* from, const Shape& shape, std::span<std::byte> to) {
  const auto rank = static_cast<size_t>(shape.rank());
  std::vector<size_t> steps(rank), index(rank);
  size_t step = kItem, source = 0;
  for (size_t axis = 0; axis < rank; ++axis) {
    steps[axis] = step;
    step *= static_cast<size_t>(shape[static_cast<int>(axis)]);
  }
  for (size_t at = 0; at < to.size(); at += kItem) {
    std::memcpy(&to[at], from + source, kItem);
    for (size_t axis = rank; axis-- > 0;) {
      source += steps[axis];
      if (++index[axis] < static_cast<size_t>(shape[static_cast<int>(axis)])) break;
      source -= steps[axis] * std::exchange(index[axis], 0);
    }
  }
}

void copy_values(const NpyHeader& header, std::span<const std::byte> from, std::span<std::byte> to) {
  if (to.empty()) return;
  if (!header.is_fortran || header.shape.rank() < 2) {
    std::memcpy(to.data(), from.data(), to.size());
  } else {
    const size_t item = item_size(header.dtype);
    if (item == 1) copy_fortran<1>(from.data(), header.shape, to);
    if (item == 2) copy_fortran<2>(from.data(), header.shape, to);
    if (item == 4) copy_fortran<4>(from.data(), header.shape, to);
    if (item == 8) copy_fortran<8>(from.data(), header.shape, to);
  }
  if (header.is_big_endian) internal::swap_bytes(to, item_size(header.dtype));
}

// `values` were copied from `begin`, perhaps in another order. `row` is -1 for the whole array.
Result<void> check_booleans(const NpyHeader& header, std::span<const std::byte> values,
                            std::span<const std::byte> content, uint64_t begin, std::string_view name, int64_t row) {
  if (header.dtype != DType::boolean) return {};
  const auto wrong = std::find_if(values.begin(), values.end(), [](std::byte value) { return value > std::byte{1}; });
  if (wrong == values.end()) return {};
  const auto source = content.subspan(begin, values.size());
  const auto offset = begin + static_cast<uint64_t>(std::find(source.begin(), source.end(), *wrong) - source.begin());
  return fail(ErrorKind::InvalidArgument,
              fmt::format("{}: npy: {}a boolean is {:02x}, at offset {}", name,
                          row < 0 ? "" : fmt::format("row {}: ", row), static_cast<uint8_t>(*wrong), offset));
}

}  // namespace

Result<Tensor> read_npy(std::span<const std::byte> content, std::string_view name) try {
  const auto header = internal::parse_npy_header(content, name);
  if (!header) return fail(header.error());
  Tensor tensor = Tensor::empty(header->dtype, header->shape);
  const std::span<std::byte> to(tensor.mutable_data(), tensor.byte_size());
  copy_values(*header, content.subspan(header->begin), to);
  HEADPOND_TRY(check_booleans(*header, to, content, header->begin, name, -1));
  return tensor;
} catch (const std::bad_alloc&) {
  return fail(internal::exception_error_of(name));
}

Result<Tensor> read_npy(const std::string& path) {
  const auto file = MappedFile::open(path);
  if (!file) return fail(file.error());
  auto tensor = read_npy((*file)->bytes(), path);
  internal::count_read((*file)->bytes().size());
  HEADPOND_TRY((*file)->check());
  return tensor;
}

Result<std::string> npy_header(DType dtype, const Shape& shape) { return internal::make_npy_header(dtype, shape); }

Result<std::string> npy_bytes(const Tensor& tensor) try {
  auto header = internal::make_npy_header(tensor.dtype(), tensor.shape());
  if (header) header->append(reinterpret_cast<const char*>(tensor.data()), tensor.byte_size());
  return header;
} catch (const std::bad_alloc&) {
  return fail(current_exception_error());
}

Result<void> write_npy(const std::string& path, const Tensor& tensor) {
  const auto header = internal::make_npy_header(tensor.dtype(), tensor.shape());
  if (!header) return fail(header.error().kind(), fmt::format("{}: {}", path, header.error().message()));
  return write_file_atomically(path, {std::as_bytes(std::span(*header)), {tensor.data(), tensor.byte_size()}});
}

class NpyFile::State {
 public:
  State(std::string name, std::unique_ptr<MappedFile> file, std::span<const std::byte> content)
      : name_(std::move(name)), file_(std::move(file)), content_(content) {}

  Result<void> open() {
    auto header = internal::parse_npy_header(content_, name_);
    if (file_ != nullptr) HEADPOND_TRY(file_->check());
    if (!header) return fail(std::move(header).error());
    header_ = std::move(*header);
    const Shape& shape = header_.shape;
    if (shape.rank() == 0) {
      return fail(ErrorKind::InvalidArgument, fmt::format("{}: npy: a scalar has no rows; read_npy reads it", name_));
    }
    if (header_.is_fortran && shape.rank() > 1) {
      return fail(ErrorKind::Unimplemented,
                  fmt::format("{}: npy: rows of an array in Fortran's order; read_npy reads it whole", name_));
    }
    row_ = {"", header_.dtype, shape.row()};
    if (header_.bytes == 0 && shape[0] > kMaxEmptyRows) {
      return fail(ErrorKind::InvalidArgument,
                  fmt::format("{}: npy: {} rows without values, at most {}", name_, shape[0], kMaxEmptyRows));
    }
    row_bytes_ = shape[0] == 0 ? 0 : header_.bytes / static_cast<uint64_t>(shape[0]);
    return {};
  }

  Result<void> read(int64_t i, std::byte* to) const {
    if (i < 0 || i >= size()) {
      return fail(ErrorKind::OutOfRange, fmt::format("{}: no row {}: there are {}", name_, i, size()));
    }
    const std::span<std::byte> row(to, row_bytes_);
    const uint64_t begin = begin_of(i);
    const auto source = content_.subspan(begin, row_bytes_);
    copy_values(header_, source, row);
    if (file_ != nullptr) {
      internal::count_read(row_bytes_);
      HEADPOND_TRY(file_->check_read(source));
    }
    return check_booleans(header_, row, content_, begin, name_, i);
  }

  Result<Tensor> at(int64_t i) const try {
    if (i < 0 || i >= size()) HEADPOND_TRY(read(i, nullptr));
    Tensor tensor = Tensor::empty(row_.dtype, row_.shape);
    HEADPOND_TRY(read(i, tensor.mutable_data()));
    return tensor;
  } catch (const std::bad_alloc&) {
    return fail(internal::exception_error_of(name_));
  }

  std::span<const std::byte> mapped_row(int64_t i) const {
    if (i < 0 || i >= size() || file_ == nullptr || header_.is_big_endian || row_.dtype == DType::boolean) return {};
    const auto row = content_.subspan(begin_of(i), row_bytes_);
    if (reinterpret_cast<uintptr_t>(row.data()) % item_size(row_.dtype) != 0) return {};
    internal::count_read(row_bytes_);
    internal::touch_pages(row);
    return row;
  }
  bool is_whole(int64_t i) const { return file_->check_read(content_.subspan(begin_of(i), row_bytes_)).has_value(); }

  int64_t size() const { return header_.shape[0]; }
  const FieldSpec& row() const { return row_; }
  const std::string& path() const { return name_; }

  static Result<std::unique_ptr<NpyFile>> make(std::unique_ptr<State> state) {
    HEADPOND_TRY(state->open());
    return std::unique_ptr<NpyFile>(new NpyFile(std::move(state)));
  }

 private:
  uint64_t begin_of(int64_t i) const { return header_.begin + static_cast<uint64_t>(i) * row_bytes_; }

  const std::string name_;
  const std::unique_ptr<MappedFile> file_;
  const std::span<const std::byte> content_;
  NpyHeader header_;  // Like the members below, constant after open().
  FieldSpec row_ = {};
  uint64_t row_bytes_ = 0;
};

NpyFile::NpyFile(std::unique_ptr<State> state) : state_(std::move(state)) {}
NpyFile::~NpyFile() = default;

Result<std::unique_ptr<NpyFile>> NpyFile::open(const std::string& path) {
  auto file = MappedFile::open(path);
  if (!file) return fail(std::move(file).error());
  const auto content = (*file)->bytes();
  return State::make(std::make_unique<State>(path, std::move(*file), content));
}

Result<std::unique_ptr<NpyFile>> NpyFile::over(std::string name, std::span<const std::byte> content) {
  return State::make(std::make_unique<State>(std::move(name), nullptr, content));
}

int64_t NpyFile::size() const { return state_->size(); }
const FieldSpec& NpyFile::row() const { return state_->row(); }
Result<void> NpyFile::read(int64_t i, std::byte* to) const { return state_->read(i, to); }
Result<Tensor> NpyFile::at(int64_t i) const { return state_->at(i); }
std::span<const std::byte> NpyFile::mapped_row(int64_t i) const { return state_->mapped_row(i); }
bool NpyFile::is_whole(int64_t i) const { return state_->is_whole(i); }
const std::string& NpyFile::path() const { return state_->path(); }

}  // namespace headpond
