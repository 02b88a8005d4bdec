// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <vector>

#include "headpond/base/random.h"
#include "headpond/codec/image/baseline/row_pair_internal.h"

namespace headpond::jpeg_internal {
namespace {

constexpr int64_t kMcus = 5, kInterval = 2;
constexpr size_t kRowValues = size_t{kMcus} * 3 * 64;

std::vector<std::byte> bytes_of(std::initializer_list<int> values) {
  std::vector<std::byte> bytes;
  for (const int value : values) bytes.push_back(static_cast<std::byte>(value));
  return bytes;
}

// Random bits, which these tables take for blocks that are mostly short: three components of a block each.
struct RandomScan {
  explicit RandomScan(uint64_t seed) {
    const auto counts = bytes_of({1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0});
    const auto differences = bytes_of({0, 2, 5, 1}), symbols = bytes_of({0, 0x12, 0xf0, 0x03});
    EXPECT_TRUE(frame.dc_tables[0].make(counts, differences, true));
    EXPECT_TRUE(frame.ac_tables[0].make(counts, symbols, false));
    frame.count = 3;
    for (FrameComponent& component : frame.components) {
      component.dc = frame.dc_tables.data();
      component.ac = frame.ac_tables.data();
      component.quantizer.fill(3);
      component.most_dc = 8191 / 3;
    }
    Random random(seed);
    for (int i = 0; i < 400; ++i) {
      // Of more zeros than ones, as codes of ones alone do not exist.
      data.push_back(static_cast<std::byte>(random.u32() & random.u32()));
      if (data.back() == std::byte{0xff}) data.push_back(std::byte{0});
    }
  }

  // Both rows by the decoder of single blocks, with the points of their MCUs. False iff the bits are no image.
  bool decode_one_by_one() {
    EntropyDecoder decoder(frame, data);
    values.assign(2 * kRowValues, 0);
    for (int64_t i = 0; i < 2 * kMcus; ++i) {
      if (i % kMcus % kInterval == 0) points.push_back(decoder.point());
      for (size_t c = 0; c < 3; ++c) {
        if (!decoder.take_block(c, &values[(static_cast<size_t>(i) * 3 + c) * 64])) return false;
      }
    }
    return decoder.is_whole();
  }

  std::vector<int16_t> decode_in_pairs(const std::vector<ScanPoint>& from, std::span<const std::byte> bytes) {
    std::vector<RowBlock> blocks;
    for (uint32_t i = 0; i < kMcus * 3; ++i) blocks.push_back({i * 64, i % 3, i % (3 * kInterval) == 0});
    std::vector<int16_t> to(2 * kRowValues);
    const std::array<RowStart, 2> rows = {RowStart{from.data(), to.data()},
                                          RowStart{&from[from.size() / 2], &to[kRowValues]}};
    if (!take_row_pair(frame, bytes, blocks, rows)) to.clear();
    return to;
  }

  Frame frame;
  std::vector<std::byte> data;
  std::vector<int16_t> values;
  std::vector<ScanPoint> points;
};

TEST(RowPair, HasTheCoefficientsOfOneRowAfterTheOther) {
  int decoded = 0;
  for (uint64_t seed = 0; seed < 200; ++seed) {
    RandomScan scan(seed);
    if (!scan.decode_one_by_one()) continue;
    ++decoded;
    ASSERT_EQ(scan.decode_in_pairs(scan.points, scan.data), scan.values) << seed;
    for (size_t i = 1; i < scan.points.size(); ++i) {
      if (i == scan.points.size() / 2) continue;  // Where the second row begins.
      std::vector<ScanPoint> other = scan.points;
      other[i].dc[seed % 3] += 1;
      EXPECT_TRUE(scan.decode_in_pairs(other, scan.data).empty());
    }
    const auto half = std::span(scan.data).first(scan.points.back().bit / 8);
    EXPECT_TRUE(scan.decode_in_pairs(scan.points, half).empty());
    std::vector<ScanPoint> outside = scan.points;
    outside[0].bit = 8 * scan.data.size() + 1;
    EXPECT_TRUE(scan.decode_in_pairs(outside, scan.data).empty());
  }
  EXPECT_GT(decoded, 20);
}

}  // namespace
}  // namespace headpond::jpeg_internal
