// SPDX-License-Identifier: Apache-2.0
// npy files, as numpy.save writes them: one array a file (docs/formats/npy.md).
//
// Integers of 8 to 64 bits, f16, f32, f64 and booleans, of either byte order. InvalidArgument iff the content
// contradicts itself: magic, header, a shape that overflows or does not fit the file's size, a boolean that is neither
// 0 nor 1; DataLoss iff the header is cut; Unimplemented for another dtype or version (Python objects are never read);
// ResourceExhausted for a header above 64 KiB, or without memory. Errors name the file. Nothing is allocated that the
// file has no bytes for.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "headpond/base/status.h"
#include "headpond/tensor/element.h"

namespace headpond {

/// The array, in row-major order whatever the file's. As MappedFile::open(); DataLoss iff the file becomes shorter
/// meanwhile.
Result<Tensor> read_npy(const std::string& path);

/// The same of a file's content; `name` is for error texts.
Result<Tensor> read_npy(std::span<const std::byte> content, std::string_view name);

/// What numpy.save writes, as bytes. InvalidArgument for dtypes bf16 and bytes.
Result<std::string> npy_bytes(const Tensor& tensor);
/// Writes the file as numpy.save does, whole or not at all. InvalidArgument for dtypes bf16 and bytes.
Result<void> write_npy(const std::string& path, const Tensor& tensor);

/// The rows of an array along its first dimension, by their numbers. The file is mapped. Thread-safe.
class NpyFile {
 public:
  /// As read_npy(); InvalidArgument iff the array is a scalar, or has more than 2^20 rows without values; Unimplemented
  /// iff it is in Fortran's order and of rank above 1: its rows are not in one piece, and read_npy() reads it.
  static Result<std::unique_ptr<NpyFile>> open(const std::string& path);
  /// The same of `content`, which outlives the object.
  static Result<std::unique_ptr<NpyFile>> over(std::string name, std::span<const std::byte> content);
  ~NpyFile();
  NpyFile(const NpyFile&) = delete;
  NpyFile& operator=(const NpyFile&) = delete;

  int64_t size() const;          ///< Rows.
  const FieldSpec& row() const;  ///< What a row is; the name is empty.
  /// Copies row i to `to`, at any alignment, which has room for row().shape values of row().dtype. OutOfRange iff there
  /// is none; DataLoss iff the file became shorter meanwhile.
  Result<void> read(int64_t i, std::byte* to) const;
  /// The same as a tensor.
  Result<Tensor> at(int64_t i) const;
  const std::string& path() const;

 private:
  class State;
  explicit NpyFile(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace headpond
