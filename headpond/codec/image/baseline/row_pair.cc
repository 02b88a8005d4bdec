// SPDX-License-Identifier: Apache-2.0
#include "headpond/codec/image/baseline/entropy_steps_internal.h"
#include "headpond/codec/image/baseline/row_pair_internal.h"

namespace headpond::jpeg_internal {
namespace {

// One of the two rows. All of it is to stay in registers, so its address goes nowhere.
struct Lane {
  ScanBits bits;
  std::array<int32_t, 3> dc = {};
  const ScanPoint* point = nullptr;  // The next one to meet.
  const RowBlock* block = nullptr;
  const RowBlock* end = nullptr;
  int16_t* memory = nullptr;
  const FrameComponent* component = nullptr;  // The block's component.
  BlockState state = {};
};

bool meets(ScanBits bits, const std::array<int32_t, 3>& dc, const ScanPoint& point) {
  return bits.position() == point.bit && dc == point.dc;
}

[[gnu::always_inline]] inline bool begin_block(Lane& lane, const Frame& frame) {
  const RowBlock& block = *lane.block;
  if (block.meets_point && !meets(lane.bits, std::array(lane.dc), *lane.point++)) return false;
  lane.component = &frame.components[block.component];
  int32_t dc = lane.dc[block.component];
  const int32_t most = lane.component->most_dc;
  if (!take_difference(lane.bits, *lane.component->dc, dc) || dc > most || dc < -most) return false;
  lane.dc[block.component] = dc;
  lane.state.to = lane.memory + block.to;
  lane.state.to[0] = static_cast<int16_t>(dc * lane.component->quantizer[0]);
  lane.state.k = 1;
  return true;
}

// After a symbol that didn't go on. Leaves as many bits ready as kShortSymbols need.
[[gnu::always_inline]] inline Went mend(Lane& lane, Went went, const Frame& frame) {
  if (went == Went::elsewhere) went = take_long(lane.bits, *lane.component, lane.state);
  if (went == Went::to_end && ++lane.block != lane.end) went = begin_block(lane, frame) ? Went::on : Went::wrong;
  lane.bits.fill_all();
  return went;
}

[[gnu::always_inline]] inline Went advance(Lane& lane, const Frame& frame) {
  const Went went = take_short(lane.bits, *lane.component, lane.state);
  return went == Went::on ? went : mend(lane, went, frame);
}

// The rest of a row whose neighbour has ended.
bool finish(Lane lane, Went went, const Frame& frame) {
  while (went == Went::on) {
    lane.bits.fill_all();
    went = advance(lane, frame);
  }
  return went == Went::to_end && lane.state.seen <= kMostCoefficient && !lane.bits.is_past_end();
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
    a.bits.fill_all();
    b.bits.fill_all();
#pragma GCC unroll 4
    for (int i = 0; i < kShortSymbols && first == Went::on && second == Went::on; ++i) {
      first = advance(a, frame);
      second = advance(b, frame);
    }
  }
  return finish(a, first, frame) && finish(b, second, frame);
}

}  // namespace headpond::jpeg_internal
