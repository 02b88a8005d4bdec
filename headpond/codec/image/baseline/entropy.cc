// SPDX-License-Identifier: Apache-2.0
#include "headpond/codec/image/baseline/entropy_steps_internal.h"

namespace headpond::jpeg_internal {
namespace {

// The coefficients after the first.
inline bool take_others(ScanBits& bits, const FrameComponent& component, int16_t* to) {
  uint32_t seen = 0;  // The bits of all magnitudes.
  for (uint32_t k = 1; k < 64; ++k) {
    const uint32_t entry = next_entry(bits, *component.ac);
    int32_t value = static_cast<int32_t>(entry) >> 16;
    if (value != 0) {
      bits.skip(static_cast<int>(entry & 255));
      k += entry >> 8 & 255;
    } else {
      const uint32_t symbol = take_symbol(bits, *component.ac, entry);
      if (symbol == kNoSymbol) return false;
      k += symbol >> 4;
      if ((symbol & 15) == 0) {
        if (symbol != 0xf0) break;
        continue;
      }
      value = take_value(bits, static_cast<int>(symbol & 15));
    }
    if (k > 63) return false;
    const int32_t coefficient = value * component.quantizer[k];
    seen |= static_cast<uint32_t>(coefficient ^ (coefficient >> 31));
    to[kPlaces[k]] = static_cast<int16_t>(coefficient);
  }
  return seen <= kMostCoefficient;
}

// As take_others, without the values.
inline bool pass_others(ScanBits& bits, const HuffmanTable& table) {
  uint32_t k = 1;
  for (; k < 64; ++k) {
    bits.fill();
    const uint32_t next = bits.peek(HuffmanTable::kLookBits);
    const uint32_t several = table.pass[next], after = k + (several >> 5), is_end = several >> 4 & 1;
    if ((several & 15) != 0 && after + is_end <= 64) [[likely]] {
      bits.skip(static_cast<int>(several & 15));
      if (is_end != 0) return true;
      k = after - 1;
      continue;
    }
    const uint32_t entry = table.look[next];
    if (entry >> 16 != 0) {
      bits.skip(static_cast<int>(entry & 255));
      k += entry >> 8 & 255;
      continue;
    }
    const uint32_t symbol = take_symbol(bits, table, entry);
    if (symbol == kNoSymbol) return false;
    if ((symbol & 15) == 0 && symbol != 0xf0) return true;
    bits.skip(static_cast<int>(symbol & 15));
    k += symbol >> 4;
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
  while (bits.count_ <= 56) {
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
