// SPDX-License-Identifier: Apache-2.0
#include "headpond/codec/image/png/png_filter_loops_internal.h"
#include "headpond/codec/image/png/png_filters_internal.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "headpond/codec/image/png/png_filters.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace headpond::HWY_NAMESPACE {

#if HWY_TARGET == HWY_SCALAR || HWY_TARGET == HWY_EMU128 || HWY_HAVE_SCALABLE

png_internal::FilterCode filter_code_of_target() { return png_internal::scalar_filters; }

#else

namespace hn = hwy::HWY_NAMESPACE;
namespace pi = png_internal;

// A pixel waits for the one before it, so a vector has one pixel: four lanes, or eight.
template <size_t kPixel>
using PixelBytes = hn::FixedTag<uint8_t, (kPixel <= 4 ? 4 : 8)>;
template <size_t kPixel>
using PixelInts = hn::Rebind<int16_t, PixelBytes<kPixel>>;

template <size_t kPixel>
void undo_left(const uint8_t* raw, const uint8_t* before, uint8_t* row, size_t size) {
  const PixelBytes<kPixel> d;
  auto left = hn::Zero(d);
  size_t i = 0;
  for (; i + hn::Lanes(d) <= size; i += kPixel) {  // Lanes after the pixel are written once more by the next one.
    left = hn::Add(left, hn::LoadU(d, raw + i));
    hn::StoreU(left, d, row + i);
  }
  pi::undo_from<pi::ByLeft, kPixel>(raw, before, row, i, size);
}

template <size_t kPixel>
void undo_average(const uint8_t* raw, const uint8_t* before, uint8_t* row, size_t size) {
  const PixelBytes<kPixel> d;
  const auto one = hn::Set(d, uint8_t{1});
  auto left = hn::Zero(d);
  size_t i = 0;
  for (; i + hn::Lanes(d) <= size; i += kPixel) {
    const auto up = hn::LoadU(d, before + i);
    const auto rounded_up = hn::And(hn::Xor(left, up), one);
    left = hn::Add(hn::LoadU(d, raw + i), hn::Sub(hn::AverageRound(left, up), rounded_up));
    hn::StoreU(left, d, row + i);
  }
  pi::undo_from<pi::ByAverage, kPixel>(raw, before, row, i, size);
}

template <size_t kPixel>
void undo_paeth(const uint8_t* raw, const uint8_t* before, uint8_t* row, size_t size) {
  const PixelBytes<kPixel> bytes;
  const PixelInts<kPixel> d;
  const auto low = hn::Set(d, int16_t{0xff});
  auto left = hn::Zero(d), corner = hn::Zero(d);
  size_t i = 0;
  for (; i + hn::Lanes(d) <= size; i += kPixel) {
    const auto up = hn::PromoteTo(d, hn::LoadU(bytes, before + i));
    const auto across = hn::Sub(up, corner), down = hn::Sub(left, corner);
    const auto to_left = hn::Abs(across), to_up = hn::Abs(down), to_corner = hn::Abs(hn::Add(across, down));
    const auto least = hn::Min(to_left, hn::Min(to_up, to_corner));
    const auto nearer = hn::IfThenElse(hn::Eq(to_up, least), up, corner);
    const auto predicted = hn::IfThenElse(hn::Eq(to_left, least), left, nearer);
    left = hn::And(hn::Add(predicted, hn::PromoteTo(d, hn::LoadU(bytes, raw + i))), low);
    hn::StoreU(hn::DemoteTo(bytes, left), bytes, row + i);
    corner = up;
  }
  pi::undo_from<pi::ByPaeth, kPixel>(raw, before, row, i, size);
}

void undo_up(const uint8_t* raw, const uint8_t* before, uint8_t* row, size_t size) {
  const hn::ScalableTag<uint8_t> d;
  size_t i = 0;
  for (; i + hn::Lanes(d) <= size; i += hn::Lanes(d)) {
    hn::StoreU(hn::Add(hn::LoadU(d, raw + i), hn::LoadU(d, before + i)), d, row + i);
  }
  pi::undo_up_from(raw, before, row, i, size);
}

template <size_t kPixel>
pi::UndoFilters of_pixels() {
  return {pi::copy_row, undo_left<kPixel>, undo_up, undo_average<kPixel>, undo_paeth<kPixel>};
}

pi::UndoFilters filters_of_target(size_t pixel_bytes) {
  switch (pixel_bytes) {
    case 3:
      return of_pixels<3>();
    case 4:
      return of_pixels<4>();
    case 6:
      return of_pixels<6>();
    case 8:
      return of_pixels<8>();
    default: {  // Nothing is won for pixels of one or two bytes.
      pi::UndoFilters filters = pi::scalar_filters(pixel_bytes);
      filters[2] = undo_up;
      return filters;
    }
  }
}

pi::FilterCode filter_code_of_target() { return filters_of_target; }

#endif

}  // namespace headpond::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace headpond {
namespace {

HWY_EXPORT(filter_code_of_target);

}  // namespace

namespace png_internal {
namespace {

void undo_up_scalar(const uint8_t* raw, const uint8_t* before, uint8_t* row, size_t size) {
  undo_up_from(raw, before, row, 0, size);
}

template <class Predictor, size_t kPixel>
void undo_scalar(const uint8_t* raw, const uint8_t* before, uint8_t* row, size_t size) {
  undo_from<Predictor, kPixel>(raw, before, row, 0, size);
}

template <size_t kPixel>
UndoFilters scalar_of_pixels() {
  return {copy_row, undo_scalar<ByLeft, kPixel>, undo_up_scalar, undo_scalar<ByAverage, kPixel>,
          undo_scalar<ByPaeth, kPixel>};
}

}  // namespace

UndoFilters scalar_filters(size_t pixel_bytes) {
  switch (pixel_bytes) {
    case 1:
      return scalar_of_pixels<1>();
    case 2:
      return scalar_of_pixels<2>();
    case 3:
      return scalar_of_pixels<3>();
    case 4:
      return scalar_of_pixels<4>();
    case 6:
      return scalar_of_pixels<6>();
    default:
      return scalar_of_pixels<8>();
  }
}

const std::vector<VectorTarget<FilterCode>>& filter_code_targets() {
  static const auto found = returned_targets(HWY_DISPATCH_TABLE(filter_code_of_target), HWY_TARGETS);
  return found;
}

FilterCode filter_code() { return best_code<FilterCode>(filter_code_targets(), scalar_filters); }

}  // namespace png_internal
}  // namespace headpond
#endif
