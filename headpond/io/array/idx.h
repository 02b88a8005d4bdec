// SPDX-License-Identifier: Apache-2.0
// IDX files, as MNIST is kept in: one tensor a file (docs/formats/idx.md).
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "headpond/base/status.h"
#include "headpond/io/file/file.h"
#include "headpond/tensor/tensor.h"

namespace headpond {

/// The tensor of an IDX file, plain or gzip (by its first bytes): u8, i8, i16, i32, f32 or f64, rank 1 to 32, in this
/// machine's byte order and in one buffer. Reads, and inflates, once. InvalidArgument iff the content contradicts
/// itself: magic, type code, rank, sizes beyond the file, bytes after the last value; DataLoss iff the header is cut or
/// the gzip stream is cut or damaged; ResourceExhausted iff the file, inflated, has more than `limit` bytes. Errors
/// name the file and the expected and found bytes.
Result<Tensor> read_idx(const std::string& path, uint64_t limit = UINT64_MAX);

/// The same of what `reader` gives up to its end.
Result<Tensor> read_idx(std::unique_ptr<ByteReader> reader, uint64_t limit = UINT64_MAX);

struct IdxPair {
  Tensor images;
  Tensor labels;
};

/// Both files. InvalidArgument, naming both, iff the first dimensions differ: every image has one label.
Result<IdxPair> read_idx_pair(const std::string& images_path, const std::string& labels_path);

/// Writes `tensor` as a plain IDX file, whole or not at all. InvalidArgument for a dtype, rank or size that IDX lacks.
Result<void> write_idx(const std::string& path, const Tensor& tensor);

}  // namespace headpond
