// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <string>

#include "headpond/base/random.h"
#include "headpond/codec/image/png/png_filters_internal.h"
#include "headpond/codec/image/png_test_internal.h"

namespace headpond::png_internal {
namespace {

using Row = std::vector<uint8_t>;

constexpr std::array<size_t, 6> kPixels = {1, 2, 3, 4, 6, 8};

// In memory that ends with the row.
Row undone(const UndoFilters& filters, size_t type, const Row& raw, const Row& before) {
  Row row(raw.size());
  filters[type](raw.data(), before.data(), row.data(), row.size());
  return row;
}

Row noise(Random& random, size_t size, uint64_t range) {
  Row row(size);
  for (uint8_t& byte : row) byte = static_cast<uint8_t>(random.below(range));
  return row;
}

TEST(PngFilters, TheTwinUndoesWhatTheStandardDefines) {
  Random random(1);
  for (const size_t pixel : kPixels) {
    for (size_t type = 0; type < 5; ++type) {
      for (size_t pixels = 1; pixels <= 20; ++pixels) {
        const Row row = noise(random, pixels * pixel, 256), before = noise(random, row.size(), 256);
        const auto at = [&](const Row& of, size_t i) { return i < pixel ? 0 : int{of[i - pixel]}; };
        Row raw = row;
        for (size_t i = 0; i < row.size(); ++i) {
          raw[i] = static_cast<uint8_t>(
              row[i] - test::PngImageOf::predicted(static_cast<int>(type), at(row, i), before[i], at(before, i)));
        }
        EXPECT_EQ(undone(scalar_filters(pixel), type, raw, before), row) << type << " " << pixel;
      }
    }
  }
}

// Few values bring equal distances, many bring overflow.
TEST(PngFilters, HaveTheBytesOfTheirTwinOnEachTarget) {
  Random random(2);
  for (const size_t pixel : kPixels) {
    const UndoFilters expected = scalar_filters(pixel);
    for (size_t pixels = 1; pixels <= 300; ++pixels) {
      const uint64_t range = uint64_t{1} << (1 + random.below(8));
      const Row raw = noise(random, pixels * pixel, range), before = noise(random, raw.size(), range);
      for (size_t type = 0; type < 5; ++type) {
        const Row row = undone(expected, type, raw, before);
        for (const auto& [target, code] : filter_code_targets()) {
          ASSERT_EQ(undone(code(pixel), type, raw, before), row) << target << " " << type << " " << pixel;
        }
      }
    }
  }
}

// A pixel that is `left` before one that is to be predicted.
TEST(PngFilters, PaethOfManyValuesIsThatOfTheStandard) {
  const auto filter = filter_code()(4)[4];
  const int step = 3;  // 85 of 256 values, the ends included.
  for (int left = 0; left < 256; left += step) {
    for (int corner = 0; corner < 256; corner += step) {
      for (int up = 0; up < 256; up += step) {
        const Row raw = {static_cast<uint8_t>(left - corner), 0, 0, 0, 0, 0, 0, 0};
        const Row before = {static_cast<uint8_t>(corner), 0, 0, 0, static_cast<uint8_t>(up), 0, 0, 0};
        Row row(8);
        filter(raw.data(), before.data(), row.data(), row.size());
        ASSERT_EQ(row[0], left);
        ASSERT_EQ(row[4], test::PngImageOf::predicted(4, left, up, corner)) << left << " " << up << " " << corner;
      }
    }
  }
}

}  // namespace
}  // namespace headpond::png_internal
