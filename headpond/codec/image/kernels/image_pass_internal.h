// SPDX-License-Identifier: Apache-2.0
// One pass over the image of a sample: decode, crop, resize, crop, flip, normalize, into the row of the batch.
#pragma once

#include <optional>
#include <vector>

#include "headpond/codec/image/kernels/file_decoder_internal.h"
#include "headpond/codec/image/kernels/geometry_internal.h"
#include "headpond/codec/image/normalize/normalize_pass_internal.h"
#include "headpond/tensor/kernel.h"

namespace headpond::image_internal {

/// A part of a file whose pixels are wanted, or there already.
struct FilePart {
  ImageWindow part;
  int ratio = 1;
  std::byte* to = nullptr;

  friend bool operator==(const FilePart&, const FilePart&) = default;
};

/// What a worker keeps from one image to the next.
struct ImageScratch {
  FileDecoder file;
  std::optional<FilePart> decoded;  // A part of `file` that was decoded without a defect.
  resize_internal::TapsCache taps;
  resize_internal::ResizeScratch resize;
  std::vector<std::byte> pixels;      // Pixels of the decoded part.
  std::vector<std::byte> canvas;      // The same with padding.
  std::vector<std::byte> row;         // A row of the result, before it is normalized.
  std::vector<int64_t> down, across;  // Indices of rows and columns.
  std::vector<int64_t> edges;         // Columns that a padded row repeats left and right; -1: the fill.
  Geometry geometry;
};

/// The same for the second of two images that are made at once.
struct SecondImageScratch : ImageScratch {};

/// Immutable. `stages` outlive it.
class ImagePass {
 public:
  explicit ImagePass(const Stages& stages);

  /// Opens the file, if there is one, and sets scratch.geometry.
  Result<void> begin(KernelCall& call, ImageScratch& scratch) const;
  /// Decodes what make() needs of both files, if it can be done at once. REQUIRES: begin() of both.
  void decode_two(KernelCall& first, ImageScratch& first_scratch, KernelCall& second,
                  ImageScratch& second_scratch) const;
  /// Makes field 0 of `call`. REQUIRES: begin().
  Result<void> make(KernelCall& call, ImageScratch& scratch) const;

  /// See RowsKernel: images that are only normalized.
  bool takes_rows(const FieldSpec& image) const;
  void run_rows(const FieldSpec& image, const std::byte* from, size_t count, std::byte* to) const;

 private:
  static std::span<const std::byte> index_of(const KernelCall& call);
  Result<void> make(KernelCall& call, ImageScratch& scratch, std::optional<FilePart>* asked) const;

  const Stages& stages_;
  const DecodeStage* decode_ = nullptr;
  std::optional<NormalizePass> normalize_;
};

}  // namespace headpond::image_internal
