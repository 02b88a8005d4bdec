// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "headpond/codec/image/baseline/entropy_steps_internal.h"

namespace headpond::jpeg_internal {
namespace {

enum class Went : uint8_t { on, to_end, wrong };

// `Keeps`, here and below: the reader has memory for the values.

// Any symbol of a block.
template <bool Keeps>
[[gnu::always_inline]] inline Went take_one(EntropyReader& reader) {
  reader.bits.fill();
  const HuffmanTable& table = *reader.table;
  const uint32_t entry = table.look[reader.bits.peek(HuffmanTable::kLookBits)];
  int32_t value = static_cast<int32_t>(entry) >> 16;
  if (value != 0) {
    reader.bits.skip(static_cast<int>(entry & 255));
    reader.k += entry >> 8 & 255;
  } else {
    const uint32_t symbol = take_symbol(reader.bits, table, entry);
    if (symbol == kNoSymbol) return Went::wrong;
    reader.k += symbol >> 4;
    // Zeros may reach beyond the block, as in libjpeg.
    if ((symbol & 15) == 0) return symbol == 0xf0 && ++reader.k < 64 ? Went::on : Went::to_end;
    value = take_value(reader.bits, static_cast<int>(symbol & 15));
  }
  if (reader.k > 63) return Went::wrong;
  if constexpr (Keeps) reader.to[kPlaces[reader.k]] = static_cast<int16_t>(value);
  return ++reader.k < 64 ? Went::on : Went::to_end;
}

// What step() left: the last values of a block, or a symbol that its table doesn't have whole. What it found is not
// looked up again, as each block waits for it.
template <bool Keeps>
[[gnu::always_inline]] inline Went take_last(EntropyReader& reader, const Looked& looked) {
  static_assert(ValuePair::kEnd == 64 && SkippedSymbols::kEnd == 64);
  // The block ends if these values fill its last place, or if its end symbol comes after them; below 64 the difference
  // wraps around.
  const uint32_t next = reader.k + looked.advance;
  const bool is_end = next - 64 <= (looked.advance >= 64 ? 63U : 0U);
  if (!is_end) {
    Went went = take_one<Keeps>(reader);
    while (went == Went::on && !reader.table->has_pairs) went = take_one<Keeps>(reader);
    return went;
  }
  if constexpr (Keeps) put(*looked.pair, reader.k, looked.advance & 63, reader.to);
  reader.bits.skip(looked.bits);
  return Went::to_end;
}

bool meets(uint64_t position, const std::array<int32_t, 3>& dc, const ScanPoint& point) {
  return position == point.bit && dc == point.dc;
}

// At the begin of an interval of restarts.
[[gnu::always_inline]] inline bool take_restart(EntropyReader& reader) {
  reader.mcus = 1;
  reader.dc = {};
  return reader.bits.take_marker(static_cast<uint8_t>(0xd0 + (reader.restarts++ & 7)));
}

[[gnu::always_inline]] inline bool begin_mcu(EntropyReader& reader) {
  const RowBlock& block = *reader.block;
  if (block.meets_point && !meets(reader.bits.position(), std::array(reader.dc), *reader.next_point++)) return false;
  const int64_t interval = reader.frame->restart_interval;
  return interval == 0 || reader.mcus++ < interval || take_restart(reader);
}

template <bool Keeps>
[[gnu::always_inline]] inline bool begin_block(EntropyReader& reader) {
  const RowBlock& block = *reader.block;
  if (block.begins_mcu && !begin_mcu(reader)) return false;
  const EntropyReader::Tables& tables = reader.tables[block.component];
  int32_t dc = reader.dc[block.component];
  reader.bits.fill_all();  // Not fill(): whether it has to do anything would be guessed wrong too often.
  if (!take_difference(reader.bits, *tables.dc, dc) || dc > INT16_MAX || dc < -INT16_MAX) return false;
  reader.dc[block.component] = dc;
  reader.table = tables.ac;
  reader.pairs = tables.pairs;
  if constexpr (Keeps) {
    reader.to = reader.memory + block.to;
    reader.to[0] = static_cast<int16_t>(dc);
  }
  reader.k = 1;
  return true;
}

// Where step() doesn't lead on. True iff it does then.
template <bool Keeps>
[[gnu::always_inline]] inline bool mend(EntropyReader& reader, const Looked& looked) {
  Went went = take_last<Keeps>(reader, looked);
  if (went == Went::to_end && ++reader.block == reader.end) {
    reader.state = reader.bits.is_past_end() ? RowState::wrong : RowState::whole;
    return false;
  }
  if (went == Went::to_end) went = begin_block<Keeps>(reader) ? Went::on : Went::wrong;
  if (went == Went::on) return true;
  reader.state = RowState::wrong;
  return false;
}

// The loops work on copies: a reader whose address is known elsewhere isn't kept in registers.
template <bool Keeps>
void read_one(EntropyReader& reader) {
  EntropyReader one = reader;
  bool is_open = true;
  while (is_open) {
    one.bits.fill_all();
    Looked looked;
    int steps = 0;
    while (steps < kSteps && step<Keeps>(one, looked)) ++steps;
    if (steps < kSteps) [[unlikely]] {
      is_open = mend<Keeps>(one, looked);
    }
  }
  reader = one;
}

template <bool FirstKeeps, bool SecondKeeps>
void read_both(EntropyReader& first, EntropyReader& second) {
  EntropyReader one = first, other = second;
  bool are_open = true;
  while (are_open) {
    one.bits.fill_all();
    other.bits.fill_all();
    enum { neither, of_one, of_other } stop = neither;
    Looked looked;
#pragma GCC unroll 4
    for (int i = 0; i < kSteps && stop == neither; ++i) {
      if (!step<FirstKeeps>(one, looked)) {
        stop = of_one;
      } else if (!step<SecondKeeps>(other, looked)) {
        stop = of_other;
      }
    }
    // Without the attributes the compiler keeps in registers what mend() needs, not what step() does.
    if (stop == of_one) [[unlikely]] {
      are_open = mend<FirstKeeps>(one, looked);
    }
    if (stop == of_other) [[unlikely]] {
      are_open = mend<SecondKeeps>(other, looked);
    }
  }
  first = one;
  second = other;
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

ScanBits::Filled ScanBits::filled_slowly(const uint8_t* const from, const uint8_t* const end, uint64_t bits,
                                         int count) {
  const uint8_t* at = from;
  int missing = 0;
  for (; count < 56; count += 8) {
    uint64_t byte = 0;
    const bool is_escape = at != end && *at == 0xff;
    if (at == end || (is_escape && (at + 1 == end || at[1] != 0))) {
      missing += 8;
    } else {
      byte = *at;
      at += is_escape ? 2 : 1;
    }
    bits |= byte << (56 - count);
  }
  return {bits, static_cast<uint16_t>(at - from), static_cast<uint16_t>(count), missing};
}

uint64_t ScanBits::position_of(const uint8_t* begin, const uint8_t* at, int ahead) {
  // Back over what was read ahead: the two bytes ff 00 are one.
  for (; ahead > 0; ahead -= 8) at -= at - begin >= 2 && at[-1] == 0 && at[-2] == 0xff ? 2 : 1;
  return 8 * static_cast<uint64_t>(at - begin) + static_cast<uint64_t>(-ahead);
}

void ScanBits::go_to(uint64_t bit) {
  at_ = begin_ + bit / 8;
  bits_ = 0;
  count_ = missing_ = 0;
  if (bit % 8 == 0) return;
  fill();
  skip(static_cast<int>(bit % 8));
}

bool EntropyReader::go_to(const ScanPoint& point, int64_t mcu) {
  if (point.bit > data_bits) return false;
  bits.go_to(point.bit);
  dc = point.dc;
  // At the end of an interval its marker is still to come.
  const int64_t interval = frame->restart_interval;
  const int64_t before = interval == 0 || mcu == 0 ? 0 : (mcu - 1) / interval;
  mcus = mcu - before * interval;
  restarts = static_cast<uint8_t>(before);
  return true;
}

void EntropyReader::begin_row(std::span<const RowBlock> row, int16_t* values, const ScanPoint* points) {
  block = row.data();
  end = row.data() + row.size();
  memory = values;
  next_point = points;
  for (size_t i = 0; i < static_cast<size_t>(frame->count); ++i) {
    const FrameComponent& component = frame->components[i];
    tables[i] = {component.dc, component.ac, component.pairs};
    if (memory == nullptr) component.ac->need_skips();
  }
  const bool has_begun = memory != nullptr ? begin_block<true>(*this) : begin_block<false>(*this);
  state = has_begun ? RowState::open : RowState::wrong;
}

void read_row(EntropyReader& reader) {
  if (reader.memory == nullptr) return read_one<false>(reader);
  read_one<true>(reader);
}

void read_two(EntropyReader& first, EntropyReader& second) {
  if (first.memory == nullptr) {
    if (second.memory == nullptr) return read_both<false, false>(first, second);
    return read_both<true, false>(second, first);
  }
  if (second.memory == nullptr) return read_both<true, false>(first, second);
  read_both<true, true>(first, second);
}

}  // namespace headpond::jpeg_internal
