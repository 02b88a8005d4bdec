// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <optional>
#include <vector>

#include "headpond/base/random.h"
#include "headpond/codec/image/baseline/entropy_internal.h"

namespace headpond::jpeg_internal {
namespace {

std::vector<std::byte> data_of(std::initializer_list<int> values) {
  std::vector<std::byte> data;
  for (const int value : values) data.push_back(static_cast<std::byte>(value));
  return data;
}

uint32_t take(ScanBits& bits, int count) {
  bits.fill();
  const uint32_t value = bits.peek(count);
  bits.skip(count);
  return value;
}

TEST(ScanBits, AnEscapedByteIsOnesAndAMarkerEndsTheData) {
  const auto data = data_of({0x12, 0xff, 0x00, 0x34, 0xff, 0xd0, 0x56, 0xff, 0xd9});
  ScanBits bits(data);
  EXPECT_EQ(take(bits, 4), 1U);
  EXPECT_EQ(take(bits, 16), 0x2ff3U);
  EXPECT_FALSE(bits.is_past_end());
  EXPECT_TRUE(bits.take_marker(0xd0));
  EXPECT_FALSE(bits.take_marker(0xd9));
  EXPECT_EQ(take(bits, 8), 0x56U);
  EXPECT_FALSE(bits.is_past_end());
  EXPECT_EQ(take(bits, 1), 0U);
  EXPECT_TRUE(bits.is_past_end());
  EXPECT_FALSE(bits.take_marker(0xd9));
}

// With many escaped bytes and a marker: the position is that of the file's bytes, and the same bits follow it.
TEST(ScanBits, GoesOnAtAPositionThatItTold) {
  std::vector<std::byte> data;
  for (int i = 0; i < 120; ++i) {
    data.push_back(static_cast<std::byte>(i % 3 == 0 ? 0xff : i * 37));
    if (data.back() == std::byte{0xff}) data.push_back(std::byte{0});
    if (i == 60) data.insert(data.end(), {std::byte{0xff}, std::byte{0xd0}});
  }
  ScanBits bits(data), other(data);
  uint64_t last = 0;
  for (int taken = 0; taken < 120 * 8; taken += 5) {
    const uint64_t at = bits.position();
    EXPECT_GE(at, last);
    EXPECT_LE(at, 8 * data.size());
    last = at;
    other.go_to(at);
    EXPECT_EQ(other.position(), at);
    if (taken + 5 > 61 * 8) break;
    EXPECT_EQ(take(other, 5), take(bits, 5)) << taken;
  }
  take(bits, 3);
  EXPECT_EQ(bits.position() % 8, 0U);
  other.go_to(bits.position());
  EXPECT_TRUE(bits.take_marker(0xd0));
  EXPECT_TRUE(other.take_marker(0xd0));
  EXPECT_EQ(bits.position(), other.position());
  EXPECT_EQ(take(other, 16), take(bits, 16));
}

TEST(ScanBits, EachWayOfReadingGivesTheSameBits) {
  std::vector<std::byte> data;
  for (int i = 0; i < 200; ++i) {
    data.push_back(static_cast<std::byte>(i * 37));
    if (data.back() == std::byte{0xff}) data.push_back(std::byte{0});
  }
  ScanBits one(data), many(data);
  for (int i = 0; i < 1'600; i += 16) {
    uint32_t single = 0;
    for (int k = 0; k < 16; ++k) single = 2 * single + take(one, 1);
    EXPECT_EQ(take(many, 16), single) << i;
  }
  EXPECT_FALSE(one.is_past_end());
  EXPECT_FALSE(many.is_past_end());
}

// A frame with random tables, and a scan of random blocks, some of which are damaged.
struct RandomScan {
  explicit RandomScan(uint64_t seed) : random(seed) {
    frame.count = random.below(2) == 0 ? 1 : 3;
    frame.restart_interval = random.below(3) == 0 ? 1 + static_cast<int64_t>(random.below(4)) : 0;
    for (HuffmanTable* table : {&frame.dc_tables[0], &frame.ac_tables[0], &frame.ac_tables[1]}) {
      table->is_made = false;
      make_table(*table);
    }
    for (size_t i = 0; i < 3; ++i) {
      frame.components[i].dc = frame.dc_tables.data();
      frame.components[i].ac = &frame.ac_tables[i == 0 ? 0 : 1];
      frame.components[i].pairs = frame.components[i].ac->pairs_for(random.below(3) * 5'000);
    }
    for (uint32_t i = 0; i < kMcus * static_cast<uint32_t>(frame.count); ++i) {
      const auto component = static_cast<uint16_t>(i % static_cast<uint32_t>(frame.count));
      blocks.push_back({i * 64, component, component == 0, false});
    }
    write_rows();
    if (random.below(3) == 0) data[random.below(data.size())] ^= static_cast<std::byte>(1 << random.below(8));
    if (random.below(6) == 0) data.resize(random.below(data.size()));
  }

  void make_table(HuffmanTable& table) {
    const bool is_dc = &table == frame.dc_tables.data();
    std::vector<std::byte> symbols = data_of({0, 1, 2, 3, 4, 5, 11});
    if (!is_dc) symbols.push_back(std::byte{0xf0});
    while (!is_dc && symbols.size() < 40) symbols.push_back(static_cast<std::byte>(random.below(256)));
    for (size_t i = 1; i < symbols.size(); ++i) std::swap(symbols[i], symbols[random.below(i + 1)]);
    std::array<std::byte, 16> counts = {};
    size_t left = symbols.size(), room = 2;
    for (size_t i = 0; i < 16 && left > 0; ++i, room *= 2) {
      size_t count = i == 15 ? left : std::min(left, random.below(room / 2 + 1));
      while (i < 15 && (room - count) << (15 - i) <= left - count) --count;  // The others need longer codes.
      counts[i] = static_cast<std::byte>(count);
      left -= count;
      room -= count;
    }
    ASSERT_TRUE(table.make(counts, symbols, is_dc));
  }

  void write_rows() {
    for (int64_t mcu = 0; mcu < kRows * kMcus; ++mcu) {
      if (frame.restart_interval > 0 && mcu > 0 && mcu % frame.restart_interval == 0) {
        flush();
        data.insert(data.end(), {std::byte{0xff}, std::byte(0xd0 + (mcu / frame.restart_interval - 1) % 8)});
      }
      for (size_t i = 0; i < static_cast<size_t>(frame.count); ++i) write_block(frame.components[i]);
    }
    flush();
  }
  void write_block(const FrameComponent& component) {
    write_symbol(*component.dc, random.below(8) == 0 ? 11 : static_cast<uint32_t>(random.below(6)));
    for (uint32_t k = 1; k < 64;) {
      const std::array<uint32_t, 2> usual = {0, 1 + static_cast<uint32_t>(random.below(5))};
      const uint32_t any = component.ac->symbols[random.below(40)];
      uint32_t symbol = random.below(4) == 0 ? any : usual[random.below(10) == 0 ? 0 : 1];
      if (k + (symbol >> 4) > 63 && symbol != 0xf0 && random.below(100) > 0) symbol = usual[0];
      write_symbol(*component.ac, symbol);
      if ((symbol & 15) == 0 && symbol != 0xf0) return;
      k += (symbol >> 4) + 1;
    }
  }
  // With a random value after it.
  void write_symbol(const HuffmanTable& table, uint32_t symbol) {
    const auto found = std::ranges::find(table.symbols, symbol);
    const auto index = static_cast<int32_t>(found - table.symbols.begin());
    for (size_t length = 1; length <= 16; ++length) {
      const int32_t code = index - table.offset[length];
      if (code < 0 || code >= table.end[length]) continue;
      write(static_cast<uint32_t>(code), length);
      return write(random.u32(), table.is_dc ? symbol : symbol & 15);
    }
    FAIL() << symbol;
  }
  void write(uint32_t bits, size_t count) {
    for (size_t i = count; i-- > 0;) {
      byte = byte << 1 | (bits >> i & 1);
      if (++filled == 8) {
        data.push_back(static_cast<std::byte>(byte));
        if (data.back() == std::byte{0xff}) data.push_back(std::byte{0});
        byte = filled = 0;
      }
    }
  }
  void flush() {
    while (filled > 0) write(1, 1);
  }

  static constexpr int64_t kMcus = 5, kRows = 6;
  Random random;
  Frame frame;
  std::vector<std::byte> data;
  std::vector<RowBlock> blocks;
  uint32_t byte = 0, filled = 0;
};

// What a reader made of a scan's rows.
struct Reading {
  std::vector<int16_t> values;  // Of whole rows.
  RowState state = RowState::open;
  ScanPoint point;

  friend bool operator==(const Reading&, const Reading&) = default;
};

// Reads rows until one is wrong. `seed`: in parts, of which some are passed over.
class RowReading {
 public:
  explicit RowReading(const RandomScan& scan, std::optional<uint64_t> seed = {})
      : scan_(scan), reader(scan.frame, scan.data) {
    if (seed) random_.emplace(*seed);
    begin();
  }

  bool is_open() const { return reader.state == RowState::open; }
  // After a row.
  void end() {
    if (reader.state != RowState::whole) return;
    if (first_ < scan_.blocks.size()) return begin_part();
    made.values.insert(made.values.end(), row_.begin(), row_.end());
    made.point = reader.point();
    if (++rows_ < RandomScan::kRows) begin();
  }
  void finish() {
    while (is_open()) {
      read_row(reader);
      end();
    }
    made.state = reader.state;
  }

 private:
  void begin() {
    row_.assign(scan_.blocks.size() * 64, 0);
    first_ = 0;
    begin_part();
  }
  void begin_part() {
    const size_t left = scan_.blocks.size() - first_, count = random_ ? 1 + random_->below(left) : left;
    const bool is_kept = !random_ || random_->below(2) == 0;
    are_kept.insert(are_kept.end(), count, is_kept);
    reader.begin_row(std::span(scan_.blocks).subspan(first_, count), is_kept ? row_.data() : nullptr, nullptr);
    first_ += count;
  }

  const RandomScan& scan_;
  std::vector<int16_t> row_;
  int64_t rows_ = 0;
  size_t first_ = 0;  // The first block of the row that isn't begun.
  std::optional<Random> random_;

 public:
  EntropyReader reader;
  Reading made;
  std::vector<bool> are_kept;  // By block.
};

// The same by the words of the standard, bit by bit.
class PlainReading {
 public:
  explicit PlainReading(const RandomScan& scan) : scan_(scan), bits_(scan.data) {
    made.state = RowState::whole;
    for (int64_t row = 0; row < RandomScan::kRows && made.state == RowState::whole; ++row) {
      std::vector<int16_t> values(scan.blocks.size() * 64);
      for (const RowBlock& block : scan.blocks) {
        if (made.state == RowState::whole && !take_block(block, &values[block.to])) made.state = RowState::wrong;
      }
      if (bits_.is_past_end()) made.state = RowState::wrong;
      if (made.state == RowState::whole) made.values.insert(made.values.end(), values.begin(), values.end());
    }
  }

  Reading made;

 private:
  uint32_t symbol(const HuffmanTable& table) {
    int32_t code = 0;
    for (size_t length = 1; length <= 16; ++length) {
      code = 2 * code + static_cast<int32_t>(take(bits_, 1));
      if (code < table.end[length])
        return table.symbols[static_cast<size_t>(code) + static_cast<size_t>(table.offset[length])];
    }
    return 256;
  }
  int32_t value(uint32_t size) {
    if (size == 0) return 0;
    const auto value = static_cast<int32_t>(take(bits_, static_cast<int>(size)));
    return value < 1 << (size - 1) ? value - (1 << size) + 1 : value;
  }
  bool take_block(const RowBlock& block, int16_t* to) {
    const FrameComponent& component = scan_.frame.components[block.component];
    if (block.begins_mcu && scan_.frame.restart_interval > 0 && mcus_++ == scan_.frame.restart_interval) {
      mcus_ = 1;
      dc_ = {};
      if (!bits_.take_marker(static_cast<uint8_t>(0xd0 + restarts_++ % 8))) return false;
    }
    const uint32_t size = symbol(*component.dc);
    if (size > 15) return false;
    dc_[block.component] += value(size);
    if (std::abs(dc_[block.component]) > INT16_MAX) return false;
    to[0] = static_cast<int16_t>(dc_[block.component]);
    for (uint32_t k = 1; k < 64; ++k) {
      const uint32_t next = symbol(*component.ac);
      if (next == 256) return false;
      k += next >> 4;
      if (next == 0xf0) continue;
      if ((next & 15) == 0) break;
      if (k > 63) return false;
      to[kPlaces[k]] = static_cast<int16_t>(value(next & 15));
    }
    return true;
  }

  const RandomScan& scan_;
  ScanBits bits_;
  std::array<int32_t, 3> dc_ = {};
  int64_t mcus_ = 0;
  int restarts_ = 0;
};

Reading read_alone(const RandomScan& scan) {
  RowReading reading(scan);
  reading.finish();
  return reading.made;
}

TEST(EntropyReader, HasTheValuesOfTheStandard) {
  int rows = 0;
  for (uint64_t seed = 0; seed < 500; ++seed) {
    const auto scan = std::make_unique<RandomScan>(seed);
    const Reading alone = read_alone(*scan), expected = PlainReading(*scan).made;
    ASSERT_EQ(alone.state, expected.state) << seed;
    ASSERT_EQ(alone.values, expected.values) << seed;
    rows += static_cast<int>(alone.values.size() / (64 * scan->blocks.size()));
  }
  EXPECT_GT(rows, 2'000);
  EXPECT_LT(rows, 500 * RandomScan::kRows - 300);
}

// Rows of both at once while both have some, then the rest of the longer one.
void read_side_by_side(RowReading& one, RowReading& other) {
  while (one.is_open() && other.is_open()) {
    read_two(one.reader, other.reader);
    one.end();
    other.end();
  }
  one.finish();
  other.finish();
}

TEST(EntropyReader, ReadsTheSameBesideAnother) {
  int different = 0;
  for (uint64_t seed = 0; seed < 500; ++seed) {
    const auto first = std::make_unique<RandomScan>(seed), second = std::make_unique<RandomScan>(seed * 7 + 1'000);
    RowReading one(*first), other(*second);
    read_side_by_side(one, other);
    ASSERT_EQ(one.made, read_alone(*first)) << seed;
    ASSERT_EQ(other.made, read_alone(*second)) << seed;
    different += one.made != other.made;
  }
  EXPECT_GT(different, 300) << "the control: two scans differ";
}

// As if the blocks that were passed over had been read into memory that has zeros now.
Reading without_passed(Reading reading, const std::vector<bool>& are_kept) {
  for (size_t i = 0; i < reading.values.size(); ++i) {
    if (!are_kept[i / 64]) reading.values[i] = 0;
  }
  return reading;
}

TEST(EntropyReader, PassesOverBlocksAsItReadsThem) {
  size_t wrong = 0, passed = 0;
  for (uint64_t seed = 0; seed < 500; ++seed) {
    const auto first = std::make_unique<RandomScan>(seed), second = std::make_unique<RandomScan>(seed + 1'000);
    RowReading one(*first, seed), other(*second, seed + 1);
    read_side_by_side(one, other);
    ASSERT_EQ(one.made, without_passed(read_alone(*first), one.are_kept)) << seed;
    ASSERT_EQ(other.made, without_passed(read_alone(*second), other.are_kept)) << seed;
    wrong += one.made.state == RowState::wrong ? 1 : 0;
    passed += static_cast<size_t>(std::ranges::count(one.are_kept, false));
  }
  EXPECT_GT(wrong, 50U);
  EXPECT_GT(passed, 10'000U);
}

}  // namespace
}  // namespace headpond::jpeg_internal
