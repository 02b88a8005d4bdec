// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "headpond/codec/image/baseline/entropy_steps_internal.h"

namespace headpond::jpeg_internal {
namespace {

// The coefficients after the first. Whether bits are ready is asked for a few symbols at once: when they are not can't
// be foreseen by the processor.
inline bool take_others(ScanBits& bits, const FrameComponent& component, int16_t* to) {
  BlockState block = {.to = to};
  while (true) {
    bits.fill_all();
    Went went = Went::on;
#pragma GCC unroll 4
    for (int i = 0; i < kShortSymbols && went == Went::on; ++i) went = take_short(bits, component, block);
    if (went == Went::elsewhere) went = take_long(bits, component, block);
    if (went == Went::on) continue;
    return went == Went::to_end && block.seen <= kMostCoefficient;
  }
}

// Over one symbol, of which `pass` knows nothing. Returns the index after it; 0: the block's end; above 64: it is
// wrong.
uint32_t pass_one(ScanBits& bits, const HuffmanTable& table, uint32_t k) {
  const uint32_t entry = next_entry(bits, table);
  if (entry >> 16 != 0) {
    bits.skip(static_cast<int>(entry & 255));
    return k + (entry >> 8 & 255) + 1;
  }
  const uint32_t symbol = take_symbol(bits, table, entry);
  if (symbol == kNoSymbol) return 65;
  // Zeros may reach beyond the block, as in libjpeg.
  if (symbol == 0xf0) return std::min(k + 16, 64U);
  if ((symbol & 15) == 0) return 0;
  bits.skip(static_cast<int>(symbol & 15));
  return k + (symbol >> 4) + 1;
}

// Like take_others, without the values.
inline bool pass_others(ScanBits& bits, const HuffmanTable& table) {
  uint32_t k = 1;
  while (k < 64) {
    bits.fill_all();
    bool is_known = true;
    for (int i = 0; i < kShortSymbols && is_known && k < 64; ++i) {
      const uint32_t several = table.pass[bits.peek(HuffmanTable::kPassBits)];
      const uint32_t after = k + (several >> 5), is_end = several >> 4 & 1;
      is_known = (several & 15) != 0 && after + is_end <= 64;
      if (!is_known) break;
      bits.skip(static_cast<int>(several & 15));
      if (is_end != 0) return true;
      k = after;
    }
    if (is_known) continue;
    ScanBits copy = bits;
    k = pass_one(copy, table, k);
    bits = copy;
    if (k == 0) return true;
  }
  return k == 64;
}

}  // namespace

uint32_t long_entry(const HuffmanTable& table, uint32_t next) {
  for (uint32_t length = HuffmanTable::kLookBits + 1; length <= 16; ++length) {
    const auto code = static_cast<int32_t>(next >> (16 - length));
    if (code >= table.end[length]) continue;
    const int32_t index = code + table.offset[length];
    return uint32_t{table.symbols[static_cast<size_t>(index)]} << 8 | length;
  }
  return kNoSymbol << 8;
}

ScanBits ScanBits::filled_slowly(ScanBits bits) {
  while (bits.count_ < 56) {
    uint64_t byte = 0;
    const uint8_t* const at = bits.at_;
    const bool is_escape = at != bits.end_ && *at == 0xff;
    if (at == bits.end_ || (is_escape && (at + 1 == bits.end_ || at[1] != 0))) {
      bits.missing_ += 8;
    } else {
      byte = *at;
      bits.at_ += is_escape ? 2 : 1;
    }
    bits.bits_ |= byte << (56 - bits.count_);
    bits.count_ += 8;
  }
  return bits;
}

uint64_t ScanBits::position() const {
  // Back over what was read ahead: the two bytes ff 00 are one.
  int ahead = count_ - missing_;
  const uint8_t* at = at_;
  for (; ahead > 0; ahead -= 8) at -= at - begin_ >= 2 && at[-1] == 0 && at[-2] == 0xff ? 2 : 1;
  return 8 * static_cast<uint64_t>(at - begin_) + static_cast<uint64_t>(-ahead);
}

void ScanBits::go_to(uint64_t bit) {
  at_ = begin_ + bit / 8;
  bits_ = 0;
  count_ = missing_ = 0;
  if (bit % 8 == 0) return;
  fill();
  skip(static_cast<int>(bit % 8));
}

bool ScanBits::is_before_marker() {
  if (count_ - missing_ >= 8 || is_past_end()) return false;
  return end_ - at_ >= 2 && *at_ == 0xff;
}

bool EntropyDecoder::begin_mcu() {
  if (frame_->restart_interval == 0) return true;
  if (mcus_++ < frame_->restart_interval) return true;
  mcus_ = 1;
  last_dc_ = {};
  return bits_.take_marker(static_cast<uint8_t>(0xd0 + (restarts_++ & 7)));
}

bool EntropyDecoder::go_to(const ScanPoint& point, int64_t mcu) {
  if (point.bit > data_bits_) return false;
  bits_.go_to(point.bit);
  last_dc_ = point.dc;
  // At the end of an interval its marker is still to come.
  const int64_t interval = frame_->restart_interval;
  const int64_t before = interval == 0 || mcu == 0 ? 0 : (mcu - 1) / interval;
  mcus_ = mcu - before * interval;
  restarts_ = static_cast<uint8_t>(before);
  return true;
}

bool EntropyDecoder::take_block(size_t which, int16_t* to) {
  const FrameComponent& component = frame_->components[which];
  ScanBits bits = bits_;  // In registers.
  int32_t& dc = last_dc_[which];
  if (!take_difference(bits, *component.dc, dc) || dc > component.most_dc || dc < -component.most_dc) return false;
  to[0] = static_cast<int16_t>(dc * component.quantizer[0]);
  if (!take_others(bits, component, to)) return false;
  bits_ = bits;
  return true;
}

bool EntropyDecoder::pass_block(size_t which) {
  const FrameComponent& component = frame_->components[which];
  ScanBits bits = bits_;
  int32_t& dc = last_dc_[which];
  if (!take_difference(bits, *component.dc, dc) || dc > component.most_dc || dc < -component.most_dc) return false;
  if (!pass_others(bits, *component.ac)) return false;
  bits_ = bits;
  return true;
}

}  // namespace headpond::jpeg_internal
