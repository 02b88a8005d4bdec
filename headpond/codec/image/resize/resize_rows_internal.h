// SPDX-License-Identifier: Apache-2.0
// The rows of a resized image, one after the other, so that the next step finds them in the cache.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "headpond/codec/image/resize/float_passes_internal.h"
#include "headpond/codec/image/resize/passes_internal.h"
#include "headpond/codec/image/resize/taps_internal.h"

namespace headpond::resize_internal {

/// Tables that were used last. One thread at a time.
class TapsCache {
 public:
  /// The table is valid until 16 others have been asked for.
  const Taps& get(const TapsKey& key);

 private:
  static constexpr size_t kMostCached = 32;  // For 16 pairs of sizes.
  struct Cached {
    std::unique_ptr<const Taps> taps;
    uint64_t used = 0;
  };
  std::vector<Cached> cached_;
  uint64_t clock_ = 0;
};

/// Memory that is used again for the next image.
struct ResizeScratch {
  std::vector<std::byte> ring;  // Rows after the horizontal pass, or one before it.
  std::vector<const std::byte*> rows;
  ColumnPlan plan;
  FloatPlan float_plan;
};

/// One pass over the rows of a result. Everything that is given outlives it. REQUIRES: the taps are for the image's
/// dtype; row 0 and pixel 0 of `image` are where the shifts say; it holds all that the parts read.
class ResizeRows {
 public:
  ResizeRows(const ImageView& image, const TapsPart& rows, const TapsPart& columns, ResizeScratch& scratch);

  /// Writes the next row to `to`. REQUIRES: at most rows.size calls.
  void next(std::byte* to);

 private:
  template <class T>
  void next_as(T* to);
  template <class T>
  const T* source_row(int64_t y);
  void lerp_next(uint8_t* to);
  void fetch_ahead();
  void across(const uint8_t* from, uint8_t* to) const;
  void across(const float* from, float* to) const;
  void down(const uint8_t* const* rows, int64_t count, uint8_t* to, int64_t values) const;
  void down(const float* const* rows, int64_t count, float* to, int64_t values) const;

  const ImageView image_;
  const TapsPart rows_;
  const TapsPart columns_;
  const bool has_horizontal_;
  const bool is_flip_;        // The horizontal pass only flips.
  const int64_t from_, end_;  // The values of a row of the image that are read.
  const Passes& passes_;
  const Passes::Columns across_;  // Of u8.
  const FloatPasses& float_passes_;
  ResizeScratch& scratch_;
  const int64_t ring_rows_;
  const int64_t ahead_;
  int64_t y_ = 0;
  int64_t asked_ = 0;    // What rows of the result below this one need was asked for.
  int64_t fetched_ = 0;  // Rows of the image below this one were asked for, or are not needed.
  int64_t made_ = 0;     // Rows of the image below this one have had their horizontal pass.
};

}  // namespace headpond::resize_internal
