// SPDX-License-Identifier: Apache-2.0
// IDX files, the format of MNIST: one tensor per file (docs/formats/idx.md).
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "headpond/base/list_of_names.h"
#include "headpond/base/status.h"
#include "headpond/io/file/file.h"
#include "headpond/tensor/tensor.h"

namespace headpond {

/// Reads an IDX file, plain or gzip (recognised by its first bytes): u8, i8, i16, i32, f32 or f64, rank 1 to 32,
/// converted to this machine's byte order, in one buffer. InvalidArgument iff the content contradicts itself: magic,
/// type code, rank, sizes beyond the file, bytes after the last value; DataLoss iff the header is truncated or the gzip
/// stream is truncated or damaged; ResourceExhausted iff the content, inflated, has more than `limit` bytes. Errors
/// name the file and the expected and found bytes.
Result<Tensor> read_idx(const std::string& path, uint64_t limit = UINT64_MAX);
void read_idx(internal::ListOfNames, uint64_t = UINT64_MAX) = delete;

/// The same for all bytes of `reader`.
Result<Tensor> read_idx(std::unique_ptr<ByteReader> reader, uint64_t limit = UINT64_MAX);

struct IdxPair {
  Tensor images;
  Tensor labels;
};

/// Reads both files. InvalidArgument, with both names, iff the first dimensions differ: every image has one label.
Result<IdxPair> read_idx_pair(const std::string& images_path, const std::string& labels_path);
void read_idx_pair(internal::ListOfNames, const std::string&) = delete;
void read_idx_pair(const std::string&, internal::ListOfNames) = delete;

/// Writes `tensor` as a plain IDX file, atomically. InvalidArgument for a dtype, rank or size that IDX does not have.
Result<void> write_idx(const std::string& path, const Tensor& tensor);
void write_idx(internal::ListOfNames, const Tensor&) = delete;

}  // namespace headpond
