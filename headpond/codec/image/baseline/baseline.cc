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

bool BaselineDecoder::open(std::span<const std::byte> file) {
  if (!read_frame(file, frame_) || frame_.width > kMostWidth) return false;
  data_ = file.subspan(frame_.data);
  reader_ = EntropyReader(frame_, data_);
  return true;
}

bool BaselineDecoder::decode(std::span<const std::byte> file, const BaselineOptions& options, const TakeRow& take) {
  begin(file, options, take);
  decode_rows();
  return is_done_;
}

std::array<bool, 2> BaselineDecoder::decode_two(const Work& first, const Work& second) {
  BaselineDecoder &one = first.decoder, &other = second.decoder;
  one.begin(first.file, first.options, first.take);
  other.begin(second.file, second.options, second.take, &one);
  while (one.is_open_ && other.is_open_) {
    read_two(one.reader_, other.reader_);
    if (one.reader_.state != RowState::open) one.end_part();
    if (other.reader_.state != RowState::open) other.end_part();
  }
  one.decode_rows();
  other.decode_rows();
  return {one.is_done_, other.is_done_};
}

// The tables of `other` are used where they are the same, so that they lie in the processor's cache once.
void BaselineDecoder::begin(std::span<const std::byte> file, const BaselineOptions& options, const TakeRow& take,
                            const BaselineDecoder* other) {
  is_open_ = is_done_ = false;
  options_ = options;
  if (options_.code == nullptr) options_.code = &sample_code();
  take_ = &take;
  if (!open(file) || !fits_index()) return;
  if (other != nullptr && other->is_open_) frame_.share_tables(other->frame_);
  prepare();
  next_row_ = options.part.y;
  if (options.index != nullptr) {
    is_done_ = decode_indexed();
    return;
  }
  list_blocks(0, frame_.mcus_across());
  const int64_t together = frame_.rows_together, end = options.part.y + options.part.height;
  const int64_t last_row = (end - 1 + 2 * context()) / frame_.mcu_height();
  options_.to_end = options.to_end || end == frame_.height;
  end_row_ = frame_.mcu_rows();
  if (!options_.to_end) end_row_ = std::min(end_row_, (last_row / together + 1) * together);
  row_ = mcu_ = 0;
  begin_part();
}

// Begins the next part of the row: the MCUs before the needed ones, the needed ones, or those after them.
void BaselineDecoder::begin_part() {
  const bool is_kept = is_needed(row_) && mcu_ >= mcu_begin_ && mcu_ < mcu_end_;
  if (is_kept) std::fill_n(coefficients_.data(), row_coefficients_, int16_t{0});
  int64_t end = frame_.mcus_across();
  if (is_kept) {
    end = mcu_end_;
  } else if (is_needed(row_) && mcu_ < mcu_begin_) {
    end = mcu_begin_;
  }
  const size_t first = static_cast<size_t>(mcu_) * blocks_of_mcu(),
               count = static_cast<size_t>(end - mcu_) * blocks_of_mcu();
  reader_.begin_row(std::span(blocks_).subspan(first, count), is_kept ? coefficients_.data() : nullptr, nullptr);
  is_open_ = reader_.state == RowState::open;
  mcu_ = end;
}

// REQUIRES: the part isn't open.
void BaselineDecoder::end_part() {
  is_open_ = false;
  if (reader_.state != RowState::whole) return;
  if (mcu_ < frame_.mcus_across()) return begin_part();
  mcu_ = 0;
  if (is_needed(row_) && !finish_row(row_, coefficients_.data())) return;
  if (++row_ < end_row_) return begin_part();
  is_done_ = !options_.to_end || reader_.take_end();
}

void BaselineDecoder::decode_rows() {
  while (is_open_) {
    read_row(reader_);
    end_part();
  }
}

// Only the rows that are needed, two at once.
bool BaselineDecoder::decode_indexed() {
  const int64_t interval = options_.index->interval;
  list_blocks(mcu_begin_ / interval * interval, mcu_end_);
  for (int64_t row = 0; row < frame_.mcu_rows(); ++row) {
    if (!is_needed(row)) continue;
    const bool is_pair = row + 1 < frame_.mcu_rows() && is_needed(row + 1);
    if (!read_indexed(row, is_pair) || !finish_row(row, coefficients_.data())) return false;
    if (is_pair && !finish_row(++row, &coefficients_[row_coefficients_])) return false;
  }
  return true;
}

// By the index, from the last point that isn't after the first MCU that is needed.
bool BaselineDecoder::enter_row(EntropyReader& reader, int64_t row, int16_t* coefficients) {
  const int64_t mcu = mcu_begin_ / options_.index->interval * options_.index->interval;
  const ScanPoint& point = options_.index->at(row, mcu);
  if (!reader.go_to(point, row * frame_.mcus_across() + mcu)) return false;
  reader.begin_row(blocks_, coefficients, &point);
  return reader.state == RowState::open;
}

bool BaselineDecoder::read_indexed(int64_t row, bool is_pair) {
  std::ranges::fill(coefficients_, int16_t{0});
  if (!enter_row(reader_, row, coefficients_.data())) return false;
  if (is_pair) {
    next_reader_ = EntropyReader(frame_, data_);
    if (!enter_row(next_reader_, row + 1, &coefficients_[row_coefficients_])) return false;
    read_two(reader_, next_reader_);
    if (next_reader_.state == RowState::open) read_row(next_reader_);
    if (next_reader_.state != RowState::whole) return false;
  }
  if (reader_.state == RowState::open) read_row(reader_);
  return reader_.state == RowState::whole;
}

bool BaselineDecoder::is_needed(int64_t row) const {
  const int64_t height = frame_.mcu_height(), first = options_.part.y, end = first + options_.part.height;
  return (row + 1) * height >= first - context() && row * height < end + context();
}

bool BaselineDecoder::finish_row(int64_t row, const int16_t* coefficients) {
  if (!invert_row(row, coefficients)) return false;
  const int64_t end = options_.part.y + options_.part.height;
  const bool is_last = row + 1 == frame_.mcu_rows();
  give_rows(std::min(end, is_last ? frame_.height : (row + 1) * frame_.mcu_height() - context()));
  return true;
}

bool BaselineDecoder::make_index(std::span<const std::byte> file, int64_t interval, ScanIndex& index) {
  if (!open(file)) return false;
  const int64_t across = frame_.mcus_across();
  options_ = {.part = {0, 0, frame_.height, frame_.width}, .code = &sample_code()};
  prepare();
  list_blocks(0, across);
  index = {.components = frame_.count, .interval = interval, .rows = frame_.mcu_rows()};
  if (interval == 0 || interval > across) index.interval = across;
  index.points_a_row = (across - 1) / index.interval + 1;
  mark_file(file, index);
  for (int64_t row = 0; row < index.rows; ++row) {
    std::fill_n(coefficients_.data(), row_coefficients_, int16_t{0});
    for (int64_t mcu = 0; mcu < across; mcu += index.interval) {
      const auto first = static_cast<size_t>(mcu) * blocks_of_mcu();
      const auto count = static_cast<size_t>(std::min(index.interval, across - mcu)) * blocks_of_mcu();
      index.points.push_back(reader_.point());
      reader_.begin_row(std::span(blocks_).subspan(first, count), coefficients_.data(), nullptr);
      if (reader_.state == RowState::open) read_row(reader_);
      if (reader_.state != RowState::whole) return false;
    }
    if (!invert_row(row, coefficients_.data())) return false;
  }
  return reader_.take_end();
}

bool BaselineDecoder::fits_index() const {
  const ScanIndex* const index = options_.index;
  return index == nullptr || (index->components == frame_.count && index->rows == frame_.mcu_rows() &&
                              index->points_a_row == (frame_.mcus_across() - 1) / index->interval + 1);
}

// Chroma's samples are read up to one column to each side, so two of pixels.
void BaselineDecoder::prepare() {
  const int64_t mcu_width = frame_.mcu_width(), across = frame_.mcus_across();
  mcu_begin_ = std::max<int64_t>(options_.part.x - 2, 0) / mcu_width;
  mcu_end_ = std::min(across, (options_.part.x + options_.part.width + 1) / mcu_width + 1);
  for (size_t i = 0; i < static_cast<size_t>(frame_.count); ++i) {
    FrameComponent& component = frame_.components[i];
    const FrameComponent& last = frame_.components[i == 0 ? 0 : i - 1];
    component.pairs = i > 0 && component.ac == last.ac ? last.pairs : component.ac->pairs_for(data_.size());
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
  row_coefficients_ = 64 * (blocks + 1);  // One more for all that are not needed.
  coefficients_.resize(2 * row_coefficients_);
  for (auto& row : chroma_) row.resize(static_cast<size_t>(across * mcu_width) + kSlack);
  pixels_.resize(static_cast<size_t>(options_.part.width * options_.channels) + kSlack);
}

size_t BaselineDecoder::blocks_of_mcu() const {
  size_t blocks = 0;
  for (size_t i = 0; i < static_cast<size_t>(frame_.count); ++i) {
    blocks += static_cast<size_t>(frame_.components[i].across * frame_.components[i].down);
  }
  return blocks;
}

// Of the MCUs in [first, end).
void BaselineDecoder::list_blocks(int64_t first, int64_t end) {
  blocks_.clear();
  const size_t count = is_color() ? 3 : 1, nowhere = row_coefficients_ - 64;
  for (int64_t mcu = first; mcu < end; ++mcu) {
    const bool is_kept = mcu >= mcu_begin_ && mcu < mcu_end_;
    const bool meets_point = options_.index != nullptr && mcu % options_.index->interval == 0;
    for (size_t i = 0; i < static_cast<size_t>(frame_.count); ++i) {
      const FrameComponent& component = frame_.components[i];
      for (int64_t k = 0; k < int64_t{component.across} * component.down; ++k) {
        const int64_t row = k / component.across, column = (mcu - mcu_begin_) * component.across + k % component.across;
        const auto at = static_cast<size_t>((row * (mcu_end_ - mcu_begin_) * component.across + column) * 64);
        const size_t to = is_kept && i < count ? planes_[i].coefficients + at : nowhere;
        const bool begins_mcu = i == 0 && k == 0;
        blocks_.push_back({static_cast<uint32_t>(to), static_cast<uint16_t>(i), begins_mcu, begins_mcu && meets_point});
      }
    }
  }
}

// False iff a coefficient is too large.
bool BaselineDecoder::invert_row(int64_t row, const int16_t* coefficients) {
  bool are_plain = true;
  for (size_t i = 0; i < (is_color() ? 3U : 1U); ++i) {
    const FrameComponent& component = frame_.components[i];
    Plane& plane = planes_[i];
    const auto blocks = static_cast<size_t>((mcu_end_ - mcu_begin_) * component.across);
    for (int y = 0; y < component.down; ++y) {
      uint8_t* const to = plane.row(row * plane.rows + 8 * y) + mcu_begin_ * 8 * component.across;
      const int16_t* const from = coefficients + plane.coefficients + static_cast<size_t>(y) * blocks * 64;
      are_plain &= options_.code->invert(from, component.quantizer, blocks, to, plane.stride);
    }
    if (i == 0) continue;
    for (int64_t y = 0; y < plane.rows; ++y) {
      uint8_t* const samples = plane.row(row * plane.rows + y);
      samples[-1] = samples[0];
      samples[plane.width] = samples[plane.width - 1];
    }
  }
  return are_plain;
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

void BaselineDecoder::give_rows(int64_t end) {
  for (; next_row_ < end; ++next_row_) (*take_)(next_row_ - options_.part.y, pixels_of(next_row_));
}

}  // namespace headpond::jpeg_internal
