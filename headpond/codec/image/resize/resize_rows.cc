// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstring>

#include "headpond/codec/image/resize/passes_internal.h"
#include "headpond/codec/image/resize/resize_rows_internal.h"

namespace headpond::resize_internal {
namespace {

int64_t most_rows(const TapsPart& part) {
  int64_t most = 1;
  for (int64_t i = 0; i < part.size; ++i) most = std::max(most, part.count(i));
  return most;
}

// A pass that would copy its rows.
bool copies(const TapsPart& columns) { return columns.taps->key.is_identity() && columns.first(0) == 0; }

}  // namespace

const Taps& TapsCache::get(const TapsKey& key) {
  ++clock_;
  for (Cached& kept : cached_) {
    if (kept.taps->key != key) continue;
    kept.used = clock_;
    return *kept.taps;
  }
  auto made = std::make_unique<const Taps>(make_taps(key));  // First: if this throws, the cache stays as it is.
  if (cached_.size() < kMostCached) {
    cached_.push_back({std::move(made), clock_});
    return *cached_.back().taps;
  }
  Cached& oldest = *std::min_element(cached_.begin(), cached_.end(),
                                     [](const Cached& a, const Cached& b) { return a.used < b.used; });
  oldest = {std::move(made), clock_};
  return *oldest.taps;
}

ResizeRows::ResizeRows(const ImageView& image, const TapsPart& rows, const TapsPart& columns, ResizeScratch& scratch)
    : image_(image),
      rows_(rows),
      columns_(columns),
      has_horizontal_(!copies(columns)),
      passes_(passes()),
      float_passes_(float_passes()),
      scratch_(scratch),
      ring_rows_(rows.taps->key.is_lerp() ? 1 : most_rows(rows)),
      made_(rows.size > 0 ? rows.from() : 0) {
  const size_t pixel = static_cast<size_t>(image.channels) * item_size(image.dtype);
  const int64_t width = rows.taps->key.is_lerp() ? image.width : columns.size;
  const size_t bytes = static_cast<size_t>(ring_rows_ * width) * pixel;
  if (scratch_.ring.size() < bytes) scratch_.ring.resize(bytes);
  scratch_.rows.resize(static_cast<size_t>(ring_rows_));
  scratch_.plan.clear();
  const bool is_resized = columns.taps->key.in != columns.taps->key.out && columns.size > 0;
  if (is_resized && image.dtype == DType::u8 && passes_.plan != nullptr)
    passes_.plan(columns, image.channels, scratch_.plan);
  scratch_.float_plan.step = 0;
  const bool is_sum = is_resized && image.dtype == DType::f32 && !columns.taps->key.is_nearest();
  if (is_sum && float_passes_.plan != nullptr) float_passes_.plan(columns, image.channels, scratch_.float_plan);
}

void ResizeRows::across(const uint8_t* from, uint8_t* to) const {
  const TapsKey& key = columns_.taps->key;
  if (key.in == key.out && key.reversed && columns_.size > 0)
    return passes_.reverse(from + columns_.from() * image_.channels, to, columns_.size, image_.channels);
  const int64_t end = columns_.to() * image_.channels;
  if (key.is_nearest()) return passes_.take_columns(from, end, to, columns_, image_.channels, scratch_.plan);
  if (key.is_lerp()) return passes_.lerp_columns(from, end, to, columns_, image_.channels, scratch_.plan);
  passes_.sum_columns(from, end, to, columns_, image_.channels, scratch_.plan);
}

void ResizeRows::across(const float* from, float* to) const {
  const TapsKey& key = columns_.taps->key;
  if (key.in == key.out && key.reversed && columns_.size > 0)
    return float_passes_.reverse(from + columns_.from() * image_.channels, to, columns_.size, image_.channels);
  if (key.is_nearest()) return take_columns(from, to, columns_, image_.channels);
  const int64_t end = columns_.to() * image_.channels;
  float_passes_.sum_columns(from, end, to, columns_, image_.channels, scratch_.float_plan);
}

void ResizeRows::down(const uint8_t* const* rows, int64_t count, uint8_t* to, int64_t values) const {
  passes_.sum_rows(rows, rows_.fixed(y_), count, to, values);
}

void ResizeRows::down(const float* const* rows, int64_t count, float* to, int64_t values) const {
  float_passes_.sum_rows(rows, rows_.exact(y_), count, to, values);
}

// Row `y` of the image after the horizontal pass.
template <class T>
const T* ResizeRows::source_row(int64_t y) {
  const std::byte* const row = image_.data + y * image_.row_bytes;
  if (!has_horizontal_) return reinterpret_cast<const T*>(row) + columns_.first(0) * image_.channels;
  const int64_t values = columns_.size * image_.channels;
  T* const kept = reinterpret_cast<T*>(scratch_.ring.data()) + y % ring_rows_ * values;
  for (; made_ <= y; ++made_) {
    T* const made = reinterpret_cast<T*>(scratch_.ring.data()) + made_ % ring_rows_ * values;
    const std::byte* const from = image_.data + made_ * image_.row_bytes;
    across(reinterpret_cast<const T*>(from), made);
  }
  return kept;
}

template <class T>
void ResizeRows::next_as(T* to) {
  const int64_t first = rows_.first(y_), count = rows_.count(y_);
  const int64_t values = columns_.size * image_.channels;
  if (rows_.taps->key.is_nearest()) {  // One row, which is not needed again, or is made again.
    const auto* const row = reinterpret_cast<const T*>(image_.data + first * image_.row_bytes);
    if (has_horizontal_) return across(row, to);
    std::copy_n(row + columns_.first(0) * image_.channels, values, to);
    return;
  }
  made_ = std::max(made_, first);
  for (int64_t j = 0; j < count; ++j) {
    scratch_.rows[static_cast<size_t>(j)] = reinterpret_cast<const std::byte*>(source_row<T>(first + j));
  }
  down(reinterpret_cast<const T* const*>(scratch_.rows.data()), count, to, values);
}

// Vertical first: two rows of the image are mixed at once, and each row of the result needs one horizontal pass.
void ResizeRows::lerp_next(uint8_t* to) {
  const auto* const first = reinterpret_cast<const uint8_t*>(image_.data + rows_.first(y_) * image_.row_bytes);
  const uint8_t* const second = first + (rows_.count(y_) == 2 ? image_.row_bytes : 0);
  if (!has_horizontal_) {
    const int64_t left = columns_.first(0) * image_.channels;
    return passes_.lerp_rows(first + left, second + left, *rows_.fixed(y_), to, columns_.size * image_.channels);
  }
  auto* const mixed = reinterpret_cast<uint8_t*>(scratch_.ring.data());
  const int64_t from = columns_.from() * image_.channels;
  passes_.lerp_rows(first + from, second + from, *rows_.fixed(y_), mixed + from,
                    columns_.to() * image_.channels - from);
  across(mixed, to);
}

void ResizeRows::next(std::byte* to) {
  if (rows_.taps->key.is_lerp()) {
    lerp_next(reinterpret_cast<uint8_t*>(to));
  } else if (image_.dtype == DType::u8) {
    next_as(reinterpret_cast<uint8_t*>(to));
  } else {
    next_as(reinterpret_cast<float*>(to));
  }
  ++y_;
}

}  // namespace headpond::resize_internal
