// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <bit>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <utility>

#include "headpond/codec/image/baseline/frame_internal.h"

namespace headpond::jpeg_internal {
namespace {

using FileBytes = std::span<const std::byte>;

uint32_t byte_at(FileBytes bytes, size_t at) { return static_cast<uint8_t>(bytes[at]); }
uint32_t word_at(FileBytes bytes, size_t at) { return byte_at(bytes, at) << 8 | byte_at(bytes, at + 1); }

// The value whose `size` bits follow a symbol.
int32_t value_of(uint32_t bits, uint32_t size) {
  const auto value = static_cast<int32_t>(bits);
  return value < 1 << (size - 1) ? value - (1 << size) + 1 : value;
}

// The entries of all bits that begin with the code of `length` bits: 2^`free` of them.
void fill_entries(uint32_t* to, uint32_t free, uint32_t symbol, bool is_dc) {
  const uint32_t length = HuffmanTable::kLookBits - free;
  const uint32_t size = is_dc ? symbol : symbol & 15, zeros = is_dc ? 0 : symbol >> 4;
  if (size == 0 || size > free) {
    std::fill_n(to, size_t{1} << free, symbol << 8 | length);
    return;
  }
  const uint32_t same = zeros << 8 | (length + size);
  const size_t run = size_t{1} << (free - size);
  for (uint32_t bits = 0; bits < 1U << size; ++bits, to += run) {
    std::fill_n(to, run, static_cast<uint32_t>(value_of(bits, size)) << 16 | same);
  }
}

// The first value of those that an entry of HuffmanTable::look begins with, or the block's end. No bits: there is none
// that is whole.
struct Piece {
  uint32_t bits = 0, places = 0;
  int32_t value = 0;
  bool is_end = false;

  bool has_at_most(uint32_t size) const { return std::abs(value) < 1 << size; }
};

// `room`: the bits that count.
Piece piece_of(uint32_t entry, uint32_t room) {
  const uint32_t bits = entry & 255, zeros = entry >> 8 & 255;
  const int32_t value = static_cast<int32_t>(entry) >> 16;
  if (bits == 0 || bits > room) return {};
  if (value != 0) return {bits, zeros + 1, value};
  // Without a value, that byte is a symbol: sixteen zeros, one whose value doesn't fit, or the end.
  if (zeros == 0xf0) return {bits, 16, 0};
  return (zeros & 15) == 0 ? Piece{bits, 0, 0, true} : Piece();
}

// A pair and the bits that it takes.
struct TakenPair {
  uint8_t bits = 0;
  ValuePair pair;
};

TakenPair taken_pair(uint32_t bits, uint32_t advance, uint32_t first, int32_t first_value, int32_t second_value) {
  return {static_cast<uint8_t>(bits),
          {static_cast<uint8_t>(advance), static_cast<uint8_t>(first), static_cast<int8_t>(first_value),
           static_cast<int8_t>(second_value)}};
}

// What may be second in a pair, with the block's end after it, if that is whole too. `bits`: kLookBits of them.
TakenPair last_of(const HuffmanTable& table, uint32_t bits, uint32_t room) {
  const Piece piece = piece_of(table.look[bits], room);
  if (piece.is_end) return taken_pair(piece.bits, ValuePair::kEnd, 0, 0, 0);
  if (piece.bits == 0 || !piece.has_at_most(ValuePair::kMostSize)) return {};
  const Piece end = piece_of(table.look[(bits << piece.bits) & (table.look.size() - 1)], room - piece.bits);
  if (!end.is_end) return taken_pair(piece.bits, piece.places, 0, 0, piece.value);
  return taken_pair(piece.bits + end.bits, piece.places + ValuePair::kEnd, 0, 0, piece.value);
}

// What may be second in a pair, by the number of bits that the first one leaves.
class SecondPieces {
 public:
  explicit SecondPieces(const HuffmanTable& table) : table_(table) {}

  // One for each value of `room` bits.
  std::span<const TakenPair> of(uint32_t room) {
    const size_t count = size_t{1} << room;
    const std::span<TakenPair> pieces(&pieces_[count], count);
    if (!std::exchange(has_[room], true)) {
      for (uint32_t bits = 0; bits < count; ++bits) {
        pieces[bits] = last_of(table_, bits << (HuffmanTable::kLookBits - room), room);
      }
    }
    return pieces;
  }

 private:
  const HuffmanTable& table_;
  // Not on the stack, which may be small.
  const std::unique_ptr<TakenPair[]> pieces_ =
      std::make_unique_for_overwrite<TakenPair[]>(size_t{1} << HuffmanTable::kLookBits);
  std::array<bool, HuffmanTable::kLookBits> has_ = {};
};

// The symbol that an entry of HuffmanTable::look begins with.
struct Symbol {
  uint32_t code_bits = 0, bits = 0;  // Of the code; of the value too. 0: the code is longer than the table looks.
  uint32_t places = 0;
  bool is_end = false;
};

Symbol symbol_of(uint32_t entry) {
  const uint32_t bits = entry & 255, byte = entry >> 8 & 255;
  const int32_t value = static_cast<int32_t>(entry) >> 16;
  if (bits == 0) return {};
  if (value != 0)
    return {bits - static_cast<uint32_t>(std::bit_width(static_cast<uint32_t>(std::abs(value)))), bits, byte + 1};
  const uint32_t size = byte & 15;
  if (size == 0 && byte != 0xf0) return {bits, bits, 0, true};
  return {bits, bits + size, (byte >> 4) + 1};
}

// `bits`: kLookBits of them, the first kSkipBits of which count.
SkippedSymbols skipped_of(const HuffmanTable& table, uint32_t bits) {
  uint32_t taken = 0, places = 0;
  while (taken < HuffmanTable::kSkipBits) {
    const Symbol symbol = symbol_of(table.look[(bits << taken) & (table.look.size() - 1)]);
    const bool is_whole = symbol.bits > 0 && taken + symbol.code_bits <= HuffmanTable::kSkipBits;
    if (!is_whole || taken + symbol.bits > HuffmanTable::kMostSkipped) break;
    if (places + symbol.places > SkippedSymbols::kMostPlaces) break;
    taken += symbol.bits;
    places += symbol.places;
    if (symbol.is_end) {
      places += SkippedSymbols::kEnd;
      break;
    }
  }
  if (taken == 0) return {};
  return {static_cast<uint8_t>(taken), static_cast<uint8_t>(places)};
}

constexpr ValuePair kNothing = {.advance = ValuePair::kNone};
constexpr auto kNoPairs = [] {
  HuffmanTable::Pairs none = {};
  none.values.fill(kNothing);
  return none;
}();

void set_quantizer(const std::array<int16_t, 64>& zigzag, Quantizer& quantizer) {
  // libjpeg's transforms make samples of larger products in more than one way; no image has them.
  constexpr int kMost = 8191;
  for (size_t i = 0; i < 64; ++i) {
    const int16_t factor = zigzag[i];
    quantizer.factors[kPlaces[i]] = factor;
    quantizer.most[kPlaces[i]] = static_cast<int16_t>(factor == 0 ? INT16_MAX : kMost / factor);
  }
}

class FrameReader {
 public:
  FrameReader(FileBytes file, Frame& frame) : file_(file), frame_(frame) {}

  bool read() {
    frame_.restart_interval = 0;
    frame_.count = 0;
    for (HuffmanTable& table : frame_.dc_tables) table.is_set = false;
    for (HuffmanTable& table : frame_.ac_tables) table.is_set = false;
    size_t at = 2;
    while (at + 4 <= file_.size() && byte_at(file_, at) == 0xff) {
      const uint32_t marker = byte_at(file_, at + 1), size = word_at(file_, at + 2);
      if (size < 2 || at + 2 + size > file_.size()) return false;
      const FileBytes body = file_.subspan(at + 4, size - 2);
      at += 2 + size;
      frame_.data = at;
      if (marker == 0xda) return take_scan(body);
      if (!take(marker, body)) return false;
    }
    return false;
  }

 private:
  bool take(uint32_t marker, FileBytes body) {
    switch (marker) {
      case 0xc0:
      case 0xc1:
        return take_frame(body);
      case 0xc4:
        return take_huffman(body);
      case 0xdb:
        return take_quantizers(body);
      case 0xdd:
        frame_.restart_interval = body.size() == 2 ? word_at(body, 0) : 0;
        return body.size() == 2;
      case 0xe0:
        return body.size() < 14 || std::memcmp(body.data(), "JFIF", 5) != 0 || byte_at(body, 5) == 1;
      case 0xee:
        if (body.size() >= 12 && std::memcmp(body.data(), "Adobe", 5) == 0) is_other_ = byte_at(body, 11) != 1;
        return true;
      default:
        return marker == 0xfe || (marker > 0xe0 && marker < 0xee) || marker == 0xef;
    }
  }

  bool take_frame(FileBytes body) {
    if (frame_.count != 0 || body.size() < 6 || byte_at(body, 0) != 8) return false;
    frame_.height = word_at(body, 1);
    frame_.width = word_at(body, 3);
    const uint32_t count = byte_at(body, 5);
    if ((count != 1 && count != 3) || body.size() != 6 + 3 * size_t{count}) return false;
    if (frame_.height == 0 || frame_.width == 0) return false;
    frame_.count = static_cast<int>(count);
    for (uint32_t i = 0; i < count; ++i) {
      const uint32_t both = byte_at(body, 7 + 3 * i);
      FrameComponent& component = frame_.components[i];
      ids_[i] = byte_at(body, 6 + 3 * i);
      quantizer_of_[i] = byte_at(body, 8 + 3 * i);
      component.across = static_cast<int>(both >> 4);
      component.down = static_cast<int>(both & 15);
      const bool is_plain = i == 0 ? (component.across - 1U) < 2 && (component.down - 1U) < 2 : both == 0x11;
      if (!is_plain || quantizer_of_[i] > 3 || (count == 3 && ids_[i] != i + 1)) return false;
    }
    // The only component of a scan is in no order but its own.
    frame_.rows_together = count == 1 ? frame_.components[0].down : 1;
    if (count == 1) frame_.components[0].across = frame_.components[0].down = 1;
    return true;
  }

  bool take_huffman(FileBytes body) {
    while (!body.empty()) {
      if (body.size() < 17) return false;
      const uint32_t which = byte_at(body, 0);
      size_t count = 0;
      for (size_t i = 1; i <= 16; ++i) count += byte_at(body, i);
      if ((which & 0xef) > 3 || count > 256 || body.size() < 17 + count) return false;
      auto& tables = which < 16 ? frame_.dc_tables : frame_.ac_tables;
      if (!tables[which & 3].make(body.subspan(1, 16), body.subspan(17, count), which < 16)) return false;
      body = body.subspan(17 + count);
    }
    return true;
  }

  bool take_quantizers(FileBytes body) {
    while (!body.empty()) {
      if (body.size() < 65 || byte_at(body, 0) > 3) return false;
      const uint32_t which = byte_at(body, 0);
      for (size_t i = 0; i < 64; ++i) quantizers_[which][i] = static_cast<int16_t>(byte_at(body, i + 1));
      has_quantizer_[which] = true;
      body = body.subspan(65);
    }
    return true;
  }

  bool take_scan(FileBytes body) {
    const auto count = static_cast<size_t>(frame_.count);
    if (count == 0 || (count == 3 && is_other_) || body.size() != 4 + 2 * count || byte_at(body, 0) != count) {
      return false;
    }
    for (size_t i = 0; i < count; ++i) {
      const uint32_t both = byte_at(body, 2 + 2 * i);
      if (byte_at(body, 1 + 2 * i) != ids_[i] || (both >> 4) > 3 || (both & 15) > 3) return false;
      FrameComponent& component = frame_.components[i];
      component.dc = &frame_.dc_tables[both >> 4];
      component.ac = &frame_.ac_tables[both & 15];
      if (!component.dc->is_set || !component.ac->is_set || !has_quantizer_[quantizer_of_[i]]) return false;
      set_quantizer(quantizers_[quantizer_of_[i]], component.quantizer);
      if (component.quantizer.factors[0] == 0) return false;
    }
    const size_t last = 1 + 2 * count;
    return byte_at(body, last) == 0 && byte_at(body, last + 1) == 63 && byte_at(body, last + 2) == 0;
  }

  const FileBytes file_;
  Frame& frame_;
  std::array<uint32_t, 3> ids_ = {}, quantizer_of_ = {};
  std::array<std::array<int16_t, 64>, 4> quantizers_ = {};
  std::array<bool, 4> has_quantizer_ = {};
  bool is_other_ = false;  // Colours that are not YCbCr.
};

}  // namespace

bool HuffmanTable::make(FileBytes new_counts, FileBytes values, bool new_is_dc) {
  const auto same = [](std::byte byte, uint8_t value) { return static_cast<uint8_t>(byte) == value; };
  if (is_made && is_dc == new_is_dc && std::ranges::equal(counts, new_counts) &&
      std::equal(values.begin(), values.end(), symbols.begin(), same)) {
    return is_set = true;
  }
  is_made = has_pairs = has_skips = false;
  used_bytes = 0;
  std::ranges::copy(new_counts, counts.begin());
  is_dc = new_is_dc;
  uint32_t* to = look.data();
  int32_t code = 0, index = 0;
  for (uint32_t length = 1; length <= 16; ++length, code <<= 1) {
    const auto count = static_cast<int32_t>(byte_at(counts, length - 1));
    offset[length] = index - code;
    for (int32_t i = 0; i < count; ++i, ++code, ++index) {
      if (code + 1 >= 1 << length) return false;  // A code of ones alone does not exist.
      const uint32_t symbol = byte_at(values, static_cast<size_t>(index));
      if (is_dc && symbol > 15) return false;
      symbols[static_cast<size_t>(index)] = static_cast<uint8_t>(symbol);
      if (length > kLookBits) continue;
      const uint32_t free = kLookBits - length;
      fill_entries(to, free, symbol, is_dc);
      to += size_t{1} << free;
    }
    end[length] = count == 0 ? 0 : code;
  }
  std::fill(to, look.data() + look.size(), 0U);
  if (is_dc) make_differences();
  return is_made = is_set = true;
}

void HuffmanTable::make_differences() {
  for (size_t i = 0; i < differences.size(); ++i) {
    const uint32_t entry = look[i << (kLookBits - kDifferenceBits)], bits = entry & 255;
    const int32_t value = static_cast<int32_t>(entry) >> 16;
    const bool is_whole = bits <= kDifferenceBits && (value != 0 || entry >> 8 == 0);
    differences[i] = is_whole ? static_cast<int16_t>(value * 16 + static_cast<int32_t>(bits)) : int16_t{0};
  }
}

const HuffmanTable::Pairs* HuffmanTable::pairs_for(size_t bytes) {
  constexpr size_t kWorthPairs = 8'192;
  used_bytes += bytes;
  if (!has_pairs && used_bytes < kWorthPairs) return &kNoPairs;
  if (!std::exchange(has_pairs, true)) make_pairs();
  return &pairs;
}

void HuffmanTable::make_pairs() {
  SecondPieces second(*this);
  for (size_t i = 0; i < look.size();) {
    const Piece piece = piece_of(look[i], kLookBits);
    if (piece.is_end || piece.bits == 0 || !piece.has_at_most(ValuePair::kMostSize)) {
      pairs.bits[i] = static_cast<uint8_t>(piece.is_end ? piece.bits : 0);
      pairs.values[i++] = piece.is_end ? ValuePair{.advance = ValuePair::kEnd + 1} : kNothing;
      continue;
    }
    for (const auto& [bits, other] : second.of(kLookBits - piece.bits)) {
      pairs.bits[i] = static_cast<uint8_t>(piece.bits + bits);
      pairs.values[i++] = {static_cast<uint8_t>(piece.places + other.advance), static_cast<uint8_t>(piece.places - 1),
                           static_cast<int8_t>(piece.value), other.second_value};
    }
  }
}

void HuffmanTable::make_skips() {
  has_skips = true;
  for (uint32_t i = 0; i < pairs.skips.size(); ++i) pairs.skips[i] = skipped_of(*this, i << (kLookBits - kSkipBits));
}

bool HuffmanTable::is_same(const HuffmanTable& other) const {
  if (!is_made || !other.is_made || is_dc != other.is_dc || counts != other.counts) return false;
  size_t codes = 0;
  for (const std::byte count : counts) codes += static_cast<size_t>(count);
  return std::equal(symbols.begin(), symbols.begin() + static_cast<ptrdiff_t>(codes), other.symbols.begin());
}

void Frame::share_tables(const Frame& other) {
  for (size_t i = 0; i < static_cast<size_t>(count); ++i) {
    for (size_t k = 0; k < static_cast<size_t>(other.count); ++k) {
      if (components[i].dc->is_same(*other.components[k].dc)) components[i].dc = other.components[k].dc;
      if (components[i].ac->is_same(*other.components[k].ac)) components[i].ac = other.components[k].ac;
    }
  }
}

bool read_frame(FileBytes file, Frame& frame) { return FrameReader(file, frame).read(); }

}  // namespace headpond::jpeg_internal
