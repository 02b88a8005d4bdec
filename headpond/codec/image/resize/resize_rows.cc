// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstring>

#include "headpond/base/system/prefetch.h"
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

// How many rows of the result ahead rows of the image are asked for, if each needs so many bytes: few if these are
// many, which would take the place of those that are needed first.
int64_t rows_ahead(int64_t bytes) {
  constexpr int64_t kMostRows = 8, kMostBytes = 32 * 1024;
  return bytes > 0 ? std::min(kMostBytes / bytes, kMostRows) : 0;
}

Passes::Columns across_of(const Passes& passes, const TapsKey& key) {
  if (key.is_nearest()) return passes.take_columns;
  return key.is_lerp() ? passes.lerp_columns : passes.sum_columns;
}

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
      is_flip_(columns.taps->key.in == columns.taps->key.out && columns.taps->key.reversed && columns.size > 0),
      from_(columns.size > 0 ? columns.from() * image.channels : 0),
      end_(columns.size > 0 ? columns.to() * image.channels : 0),
      passes_(passes()),
      across_(across_of(passes_, columns.taps->key)),
      float_passes_(float_passes()),
      scratch_(scratch),
      ring_rows_(rows.taps->key.is_lerp() ? 1 : most_rows(rows)),
      ahead_(rows_ahead(static_cast<int64_t>(item_size(image.dtype)) * (end_ - from_) * most_rows(rows))),
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

// The rows of a part of a stored image are no steady stream, which the processor would foresee.
void ResizeRows::fetch_ahead() {
  const size_t item = item_size(image_.dtype);
  for (const int64_t end = std::min(y_ + ahead_, rows_.size); asked_ < end; ++asked_) {
    const int64_t first = rows_.first(asked_), after = first + rows_.count(asked_);
    for (fetched_ = std::max(fetched_, first); fetched_ < after; ++fetched_) {
      const std::byte* const row = image_.data + fetched_ * image_.row_bytes;
      prefetch_to_read(row + static_cast<size_t>(from_) * item, static_cast<size_t>(end_ - from_) * item);
    }
  }
}

void ResizeRows::across(const uint8_t* from, uint8_t* to) const {
  if (is_flip_) return passes_.reverse(from + from_, to, columns_.size, image_.channels);
  across_(from, end_, to, columns_, image_.channels, scratch_.plan);
}

void ResizeRows::across(const float* from, float* to) const {
  if (is_flip_) return float_passes_.reverse(from + from_, to, columns_.size, image_.channels);
  if (columns_.taps->key.is_nearest()) return take_columns(from, to, columns_, image_.channels);
  float_passes_.sum_columns(from, end_, to, columns_, image_.channels, scratch_.float_plan);
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
  const int32_t weight = *rows_.fixed(y_);
  if (!has_horizontal_) return passes_.lerp_rows(first + from_, second + from_, weight, to, end_ - from_);
  auto* const mixed = reinterpret_cast<uint8_t*>(scratch_.ring.data());
  passes_.lerp_rows(first + from_, second + from_, weight, mixed + from_, end_ - from_);
  across(mixed, to);
}

void ResizeRows::next(std::byte* to) {
  fetch_ahead();
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
