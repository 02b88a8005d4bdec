// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstring>
#include <utility>

#include "headpond/codec/image/baseline/baseline_internal.h"

namespace headpond::jpeg_internal {
namespace {

// A row's buffers stay below 2 MiB.
constexpr int64_t kMostWidth = 8192;
// Vector code may write and read that many bytes more.
constexpr size_t kSlack = 64;

}  // namespace

const uint8_t* BaselineDecoder::Plane::row(int64_t y) const {
  return &samples[static_cast<size_t>(y % (2 * rows)) * stride + kSlack];
}
uint8_t* BaselineDecoder::Plane::row(int64_t y) {
  return &samples[static_cast<size_t>(y % (2 * rows)) * stride + kSlack];
}

bool BaselineDecoder::begin(std::span<const std::byte> file) {
  if (!read_frame(file, frame_) || frame_.width > kMostWidth) return false;
  data_ = file.subspan(frame_.data);
  entropy_ = EntropyDecoder(frame_, data_);
  return true;
}

bool BaselineDecoder::decode(std::span<const std::byte> file, const BaselineOptions& options, const TakeRow& take) {
  options_ = options;
  if (options_.code == nullptr) options_.code = &sample_code();
  if (!begin(file) || !fits_index()) return false;
  prepare();
  next_row_ = options.part.y;
  if (options.index != nullptr) return decode_indexed(take);
  const int64_t mcu_rows = frame_.mcu_rows(), end = options.part.y + options.part.height;
  const bool to_end = options.to_end || end == frame_.height;
  const int64_t together = frame_.rows_together, last_row = (end - 1 + 2 * context()) / frame_.mcu_height();
  const int64_t mcu_end = to_end ? mcu_rows : std::min(mcu_rows, (last_row / together + 1) * together);
  for (int64_t row = 0; row < mcu_end; ++row) {
    if (!take_mcus(row, is_needed(row))) return false;
    if (is_needed(row)) finish_row(row, coefficients_.data(), take);
  }
  return !to_end || entropy_.take_end();
}

// Only the rows that are needed, two at once.
bool BaselineDecoder::decode_indexed(const TakeRow& take) {
  list_blocks();
  for (int64_t row = 0; row < frame_.mcu_rows(); ++row) {
    if (!is_needed(row)) continue;
    const bool is_pair = frame_.restart_interval == 0 && row + 1 < frame_.mcu_rows() && is_needed(row + 1);
    if (!(is_pair ? take_pair(row) : take_mcus(row, true))) return false;
    finish_row(row, coefficients_.data(), take);
    if (is_pair) finish_row(++row, &coefficients_[row_coefficients_], take);
  }
  return true;
}

bool BaselineDecoder::is_needed(int64_t row) const {
  const int64_t height = frame_.mcu_height(), first = options_.part.y, end = first + options_.part.height;
  return (row + 1) * height >= first - context() && row * height < end + context();
}

void BaselineDecoder::finish_row(int64_t row, const int16_t* coefficients, const TakeRow& take) {
  const int64_t end = options_.part.y + options_.part.height;
  const bool is_last = row + 1 == frame_.mcu_rows();
  invert_row(row, coefficients);
  give_rows(std::min(end, is_last ? frame_.height : (row + 1) * frame_.mcu_height() - context()), take);
}

bool BaselineDecoder::make_index(std::span<const std::byte> file, int64_t interval, ScanIndex& index) {
  if (!begin(file)) return false;
  options_ = {.part = {0, 0, frame_.height, frame_.width}, .code = &sample_code()};
  prepare();
  index = {.components = frame_.count, .interval = interval, .rows = frame_.mcu_rows()};
  if (interval == 0 || interval > frame_.mcus_across()) index.interval = frame_.mcus_across();
  index.points_a_row = (frame_.mcus_across() - 1) / index.interval + 1;
  mark_file(file, index);
  made_ = &index;
  bool is_whole = true;
  for (int64_t row = 0; row < index.rows && is_whole; ++row) is_whole = take_mcus(row, true);
  made_ = nullptr;
  return is_whole && entropy_.take_end();
}

bool BaselineDecoder::fits_index() const {
  const ScanIndex* const index = options_.index;
  return index == nullptr || (index->components == frame_.count && index->rows == frame_.mcu_rows() &&
                              index->points_a_row == (frame_.mcus_across() - 1) / index->interval + 1);
}

bool BaselineDecoder::passes_blocks() const {
  const bool is_all =
      mcu_begin_ == 0 && mcu_end_ == frame_.mcus_across() && is_needed(0) && is_needed(frame_.mcu_rows() - 1);
  return !is_all || (frame_.count == 3 && !is_color());
}

// Chroma's samples are read up to one column to each side, so two of pixels.
void BaselineDecoder::prepare() {
  const int64_t mcu_width = frame_.mcu_width(), across = frame_.mcus_across();
  mcu_begin_ = std::max<int64_t>(options_.part.x - 2, 0) / mcu_width;
  mcu_end_ = std::min(across, (options_.part.x + options_.part.width + 1) / mcu_width + 1);
  for (HuffmanTable& table : frame_.ac_tables) {
    if (table.is_set && passes_blocks()) table.make_pass();
  }
  const FrameComponent& luma = frame_.components[0];
  size_t blocks = 0;
  for (size_t i = 0; i < (is_color() ? 3U : 1U); ++i) {
    const FrameComponent& component = frame_.components[i];
    Plane& plane = planes_[i];
    plane.coefficients = 64 * blocks;
    blocks += static_cast<size_t>((mcu_end_ - mcu_begin_) * component.across * component.down);
    plane.rows = int64_t{8} * component.down;
    plane.stride = static_cast<size_t>(across * 8 * component.across) + 2 * kSlack;
    plane.samples.resize(plane.stride * static_cast<size_t>(2 * plane.rows));
    plane.width = i == 0 ? frame_.width : (frame_.width - 1) / luma.across + 1;
    plane.height = i == 0 ? frame_.height : (frame_.height - 1) / luma.down + 1;
  }
  row_coefficients_ = 64 * (blocks + 1);  // The transform may read one block more.
  coefficients_.resize(2 * row_coefficients_);
  for (auto& row : chroma_) row.resize(static_cast<size_t>(across * mcu_width) + kSlack);
  pixels_.resize(static_cast<size_t>(options_.part.width * options_.channels) + kSlack);
}

// By the index, to the last point that isn't after the first MCU that is needed. Returns its column; -1: there is none.
int64_t BaselineDecoder::enter_row(int64_t row) {
  const int64_t mcu = mcu_begin_ / options_.index->interval * options_.index->interval;
  return entropy_.go_to(options_.index->at(row, mcu), row * frame_.mcus_across() + mcu) ? mcu : -1;
}

bool BaselineDecoder::take_mcus(int64_t row, bool is_needed) {
  if (is_needed) std::fill_n(coefficients_.data(), row_coefficients_, int16_t{0});
  const ScanIndex* const index = options_.index;
  const int64_t first = index == nullptr ? 0 : enter_row(row), end = index == nullptr ? frame_.mcus_across() : mcu_end_;
  if (first < 0) return false;
  for (int64_t mcu = first; mcu < end; ++mcu) {
    if (made_ != nullptr && mcu % made_->interval == 0) made_->points.push_back(entropy_.point());
    if (index != nullptr && mcu > first && mcu % index->interval == 0 && entropy_.point() != index->at(row, mcu)) {
      return false;
    }
    if (!entropy_.begin_mcu() || !take_mcu(mcu, is_needed && mcu >= mcu_begin_ && mcu < mcu_end_)) return false;
  }
  return entropy_.is_whole();
}

bool BaselineDecoder::take_mcu(int64_t mcu, bool keeps) {
  const size_t count = is_color() ? 3 : 1;
  for (size_t i = 0; i < static_cast<size_t>(frame_.count); ++i) {
    const FrameComponent& component = frame_.components[i];
    const int64_t stride = (mcu_end_ - mcu_begin_) * component.across;
    int64_t at = (mcu - mcu_begin_) * component.across;
    int16_t* const memory = coefficients_.data() + (i < count ? planes_[i].coefficients : 0);
    for (int y = 0; y < component.down; ++y, at += stride) {
      for (int x = 0; x < component.across; ++x) {
        const bool is_whole =
            keeps && i < count ? entropy_.take_block(i, memory + (at + x) * 64) : entropy_.pass_block(i);
        if (!is_whole) return false;
      }
    }
  }
  return true;
}

// What is not needed goes where the transform may read one block more.
void BaselineDecoder::list_blocks() {
  blocks_.clear();
  const size_t count = is_color() ? 3 : 1, nowhere = row_coefficients_ - 64;
  const int64_t interval = options_.index->interval;
  for (int64_t mcu = mcu_begin_ / interval * interval; mcu < mcu_end_; ++mcu) {
    bool meets_point = mcu % interval == 0;
    for (uint32_t i = 0; i < static_cast<uint32_t>(frame_.count); ++i) {
      const FrameComponent& component = frame_.components[i];
      for (int64_t k = 0; k < int64_t{component.across} * component.down; ++k) {
        const int64_t row = k / component.across, column = (mcu - mcu_begin_) * component.across + k % component.across;
        const auto at = static_cast<size_t>((row * (mcu_end_ - mcu_begin_) * component.across + column) * 64);
        const size_t to = mcu >= mcu_begin_ && i < count ? planes_[i].coefficients + at : nowhere;
        blocks_.push_back({static_cast<uint32_t>(to), i, std::exchange(meets_point, false)});
      }
    }
  }
}

// This row and the next one.
bool BaselineDecoder::take_pair(int64_t row) {
  std::ranges::fill(coefficients_, int16_t{0});
  const auto start = [this](int64_t of, int16_t* memory) {
    return RowStart{&options_.index->at(of, mcu_begin_), memory};
  };
  return take_row_pair(frame_, data_, blocks_,
                       {start(row, coefficients_.data()), start(row + 1, &coefficients_[row_coefficients_])});
}

void BaselineDecoder::invert_row(int64_t row, const int16_t* coefficients) {
  for (size_t i = 0; i < (is_color() ? 3U : 1U); ++i) {
    const FrameComponent& component = frame_.components[i];
    Plane& plane = planes_[i];
    const auto blocks = static_cast<size_t>((mcu_end_ - mcu_begin_) * component.across);
    for (int y = 0; y < component.down; ++y) {
      uint8_t* const to = plane.row(row * plane.rows + 8 * y) + mcu_begin_ * 8 * component.across;
      options_.code->invert(coefficients + plane.coefficients + static_cast<size_t>(y) * blocks * 64, blocks, to,
                            plane.stride);
    }
    if (i == 0) continue;
    for (int64_t y = 0; y < plane.rows; ++y) {
      uint8_t* const samples = plane.row(row * plane.rows + y);
      samples[-1] = samples[0];
      samples[plane.width] = samples[plane.width - 1];
    }
  }
}

// A row of a component of chroma, at the columns of pixels.
const uint8_t* BaselineDecoder::upsampled(size_t which, int64_t y) {
  const FrameComponent& luma = frame_.components[0];
  const Plane& plane = planes_[which];
  const int64_t at = luma.down == 2 ? y / 2 : y;
  const int64_t other = std::clamp<int64_t>(y % 2 == 0 ? at - 1 : at + 1, 0, plane.height - 1);
  const uint8_t* const near = plane.row(at);
  if (luma.across == 1 && luma.down == 1) return near;
  uint8_t* const to = chroma_[which - 1].data();
  const SampleCode& code = *options_.code;
  if (luma.across == 1) {
    const int64_t begin = options_.part.x;
    if (!options_.fancy) return near;
    const auto size = static_cast<size_t>(options_.part.width);
    code.blend(near + begin, plane.row(other) + begin, y % 2 == 0 ? 1 : 2, size, to + begin);
    return to;
  }
  const int64_t begin = options_.part.x / 2, end = (options_.part.x + options_.part.width + 1) / 2;
  const auto size = static_cast<size_t>(end - begin);
  // libjpeg repeats samples where there are but one or two.
  if (!options_.fancy || plane.width <= 2) {
    code.repeat(near + begin, size, to + 2 * begin);
  } else if (luma.down == 1) {
    code.widen(near + begin, size, to + 2 * begin);
  } else {
    code.enlarge(near + begin, plane.row(other) + begin, size, to + 2 * begin);
  }
  return to;
}

const uint8_t* BaselineDecoder::pixels_of(int64_t y) {
  const auto [unused_y, x, unused_height, width] = options_.part;
  const uint8_t* const luma = planes_[0].row(y) + x;
  if (options_.channels == 1) return luma;
  if (is_color()) {
    const uint8_t* const blue = upsampled(1, y);
    const uint8_t* const red = upsampled(2, y);
    options_.code->to_rgb(luma, blue + x, red + x, static_cast<size_t>(width), pixels_.data());
  } else {
    for (int64_t i = 0; i < width; ++i) std::memset(&pixels_[static_cast<size_t>(3 * i)], luma[i], 3);
  }
  return pixels_.data();
}

void BaselineDecoder::give_rows(int64_t end, const TakeRow& take) {
  for (; next_row_ < end; ++next_row_) take(next_row_ - options_.part.y, pixels_of(next_row_));
}

}  // namespace headpond::jpeg_internal
