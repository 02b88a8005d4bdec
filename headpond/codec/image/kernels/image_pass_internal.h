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

/// What a worker keeps from one image to the next.
struct ImageScratch {
  FileDecoder file;
  resize_internal::TapsCache taps;
  resize_internal::ResizeScratch resize;
  std::vector<std::byte> pixels;      // Pixels of the decoded part.
  std::vector<std::byte> canvas;      // The same with padding.
  std::vector<std::byte> row;         // A row of the result, before it is normalized.
  std::vector<int64_t> down, across;  // Indices of rows and columns.
  std::vector<int64_t> edges;         // Columns that a padded row repeats left and right; -1: the fill.
  Geometry geometry;
};

/// Immutable. `stages` outlive it.
class ImagePass {
 public:
  explicit ImagePass(const Stages& stages);

  /// Makes field 0 of `call` and sets `geometry`.
  Result<void> run(KernelCall& call, ImageScratch& scratch, Geometry& geometry) const;

  /// See RowsKernel: images that are only normalized.
  bool takes_rows(const FieldSpec& image) const;
  void run_rows(const FieldSpec& image, const std::byte* from, size_t count, std::byte* to) const;

 private:
  static std::span<const std::byte> index_of(const KernelCall& call);

  const Stages& stages_;
  const DecodeStage* decode_ = nullptr;
  std::optional<NormalizePass> normalize_;
};

}  // namespace headpond::image_internal
