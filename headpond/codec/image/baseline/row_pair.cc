// SPDX-License-Identifier: Apache-2.0
#include "headpond/codec/image/baseline/entropy_steps_internal.h"
#include "headpond/codec/image/baseline/row_pair_internal.h"

namespace headpond::jpeg_internal {
namespace {

enum class Went : uint8_t { on, to_end, wrong };

// One of the two rows. All of it is to stay in registers, so its address goes nowhere.
struct Lane {
  ScanBits bits;
  std::array<int32_t, 3> dc = {};
  const ScanPoint* point = nullptr;  // The next one to meet.
  const RowBlock* block = nullptr;
  const RowBlock* end = nullptr;
  int16_t* memory = nullptr;
  // Of the block.
  const FrameComponent* component = nullptr;
  const HuffmanTable* table = nullptr;
  int16_t* to = nullptr;
  uint32_t k = 1, seen = 0;
};

bool meets(ScanBits bits, const std::array<int32_t, 3>& dc, const ScanPoint& point) {
  return bits.position() == point.bit && dc == point.dc;
}

[[gnu::always_inline]] inline bool begin_block(Lane& lane, const Frame& frame) {
  const RowBlock& block = *lane.block;
  if (block.meets_point && !meets(lane.bits, std::array(lane.dc), *lane.point++)) return false;
  lane.component = &frame.components[block.component];
  lane.table = lane.component->ac;
  int32_t dc = lane.dc[block.component];
  const int32_t most = lane.component->most_dc;
  if (!take_difference(lane.bits, *lane.component->dc, dc) || dc > most || dc < -most) return false;
  lane.dc[block.component] = dc;
  lane.to = lane.memory + block.to;
  lane.to[0] = static_cast<int16_t>(dc * lane.component->quantizer[0]);
  lane.k = 1;
  return true;
}

// The next symbol of a block, and its value.
[[gnu::always_inline]] inline Went take_symbol_of(Lane& lane) {
  const uint32_t entry = next_entry(lane.bits, *lane.table);
  int32_t value = static_cast<int32_t>(entry) >> 16;
  if (value != 0) [[likely]] {
    lane.bits.skip(static_cast<int>(entry & 255));
    lane.k += entry >> 8 & 255;
  } else {
    const uint32_t symbol = take_symbol(lane.bits, *lane.table, entry);
    if (symbol == kNoSymbol) return Went::wrong;
    lane.k += symbol >> 4;
    if ((symbol & 15) == 0) return symbol == 0xf0 && ++lane.k < 64 ? Went::on : Went::to_end;
    value = take_value(lane.bits, static_cast<int>(symbol & 15));
  }
  if (lane.k > 63) return Went::wrong;
  const int32_t coefficient = value * lane.component->quantizer[lane.k];
  lane.seen |= static_cast<uint32_t>(coefficient ^ (coefficient >> 31));
  lane.to[kPlaces[lane.k]] = static_cast<int16_t>(coefficient);
  return ++lane.k < 64 ? Went::on : Went::to_end;
}

[[gnu::always_inline]] inline Went advance(Lane& lane, const Frame& frame) {
  const Went went = take_symbol_of(lane);
  if (went != Went::to_end) [[likely]]
    return went;
  if (++lane.block == lane.end) return Went::to_end;
  return begin_block(lane, frame) ? Went::on : Went::wrong;
}

// The rest of a row whose neighbour has ended.
bool finish(Lane lane, Went went, const Frame& frame) {
  while (went == Went::on) went = advance(lane, frame);
  return went == Went::to_end && lane.seen <= kMostCoefficient && !lane.bits.is_past_end();
}

}  // namespace

bool take_row_pair(const Frame& frame, std::span<const std::byte> data, std::span<const RowBlock> blocks,
                   const std::array<RowStart, 2>& rows) {
  const auto lane_of = [&](const RowStart& row) {
    ScanBits bits(data);
    bits.go_to(row.point->bit);
    Lane lane = {.bits = bits, .dc = row.point->dc, .point = row.point};
    lane.block = blocks.data();
    lane.end = blocks.data() + blocks.size();
    lane.memory = row.memory;
    return lane;
  };
  if (rows[0].point->bit > 8 * data.size() || rows[1].point->bit > 8 * data.size()) return false;
  Lane a = lane_of(rows[0]), b = lane_of(rows[1]);
  if (!begin_block(a, frame) || !begin_block(b, frame)) return false;
  Went first = Went::on, second = Went::on;
  while (first == Went::on && second == Went::on) {
    first = advance(a, frame);
    second = advance(b, frame);
  }
  return finish(a, first, frame) && finish(b, second, frame);
}

}  // namespace headpond::jpeg_internal
