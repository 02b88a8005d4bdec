// SPDX-License-Identifier: Apache-2.0
// npy files, as numpy.save writes them: one array per file (docs/formats/npy.md).
//
// Integers of 8 to 64 bits, f16, f32, f64 and booleans, of either byte order. InvalidArgument iff the content
// contradicts itself: magic, header, a shape that overflows or does not fit the file's size, a boolean that is neither
// 0 nor 1; DataLoss iff the header is truncated; Unimplemented for another dtype or version (Python objects are never
// read); ResourceExhausted for a header above 64 KiB, or without memory. Errors name the file. Memory is bounded by the
// size of the file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "headpond/base/list_of_names.h"
#include "headpond/base/status.h"
#include "headpond/tensor/element.h"

namespace headpond {

/// Reads the array into row-major order. As MappedFile::open(); DataLoss iff the file becomes shorter while it is read.
Result<Tensor> read_npy(const std::string& path);
void read_npy(internal::ListOfNames) = delete;

/// The same for the content of a file; `name` is for error messages.
Result<Tensor> read_npy(std::span<const std::byte> content, std::string_view name);

/// The beginning of a file for an array of this dtype and shape; its values follow. InvalidArgument for dtypes bf16 and
/// bytes.
Result<std::string> npy_header(DType dtype, const Shape& shape);
/// The bytes that numpy.save writes. InvalidArgument for dtypes bf16 and bytes.
Result<std::string> npy_bytes(const Tensor& tensor);
/// Writes the file as numpy.save does, atomically. InvalidArgument for dtypes bf16 and bytes.
Result<void> write_npy(const std::string& path, const Tensor& tensor);
void write_npy(internal::ListOfNames, const Tensor&) = delete;

/// The rows of an array along its first dimension, by number. The file is mapped. Thread-safe.
class NpyFile {
 public:
  /// Like read_npy(). InvalidArgument iff the array is a scalar, or has more than 2^20 rows without values;
  /// Unimplemented iff it is in Fortran order and of rank above 1, as its rows are not contiguous: read_npy() reads it.
  static Result<std::unique_ptr<NpyFile>> open(const std::string& path);
  static void open(internal::ListOfNames) = delete;
  /// The same for `content`, which must outlive the object.
  static Result<std::unique_ptr<NpyFile>> over(std::string name, std::span<const std::byte> content);
  ~NpyFile();
  NpyFile(const NpyFile&) = delete;
  NpyFile& operator=(const NpyFile&) = delete;

  int64_t size() const;          ///< Rows.
  const FieldSpec& row() const;  ///< The dtype and shape of a row; the name is empty.
  /// Copies row i to `to`, at any alignment, which must have room for row().shape values of row().dtype. OutOfRange iff
  /// there is no such row; DataLoss iff the file became shorter.
  Result<void> read(int64_t i, std::byte* to) const;
  /// Row i as a tensor.
  Result<Tensor> at(int64_t i) const;
  /// The values of row i where the file is mapped, valid as long as this object lives; after using them ask
  /// is_whole(i). Waits until the system has read them, and counts them as read. Empty if there is no such row, or its
  /// bytes are not those of a tensor: other byte order, booleans, an address that is no multiple of the values' size.
  std::span<const std::byte> mapped_row(int64_t i) const;
  /// False iff read(i) would fail now. REQUIRES: mapped_row(i) is not empty.
  bool is_whole(int64_t i) const;
  const std::string& path() const;

 private:
  class State;
  explicit NpyFile(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace headpond
