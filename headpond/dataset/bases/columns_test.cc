// SPDX-License-Identifier: Apache-2.0
#include "headpond/dataset/bases/columns.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>

namespace headpond::internal {
namespace {

using testing::ElementsAre;

TEST(GatherRows, OfAnySizeLieOneBelowTheOther) {
  std::vector<std::byte> rows(100 * 6000);
  for (size_t i = 0; i < rows.size(); ++i) rows[i] = static_cast<std::byte>(mix(i, 1));
  std::vector<int64_t> positions;
  for (uint64_t r = 0; r < 70; ++r) positions.push_back(static_cast<int64_t>(mix(r, 2) % 100));
  for (const size_t size : {0, 1, 2, 3, 4, 8, 16, 24, 64, 65, 784, 6000}) {
    std::vector<std::byte> to(70 * size + 1, std::byte{0xA5}), expected;
    gather_rows(rows.data(), size, positions, to.data());
    for (const int64_t i : positions) {
      const std::byte* const row = rows.data() + static_cast<size_t>(i) * size;
      expected.insert(expected.end(), row, row + size);
    }
    expected.push_back(std::byte{0xA5});
    EXPECT_TRUE(to == expected) << size;
  }
}

TEST(RowBytes, CountAllValues) {
  EXPECT_EQ(row_bytes({"", DType::f32, {3, 2}}), 24U);
  EXPECT_EQ(row_bytes({"", DType::i64, {}}), 8U);
  EXPECT_EQ(row_bytes({"", DType::i64, {5, 0}}), 0U);
}

TEST(TakeFirst, OfNoneIsNone) {
  const std::array<OutputSlot, 3> three{};
  OutputSlots left(three), none;
  EXPECT_EQ(take_first(left, 2).data(), three.data());
  EXPECT_EQ(left.data(), three.data() + 2);
  EXPECT_TRUE(take_first(none, 2).empty());
}

TEST(ColumnsLeft, PassesRowsOfEachColumn) {
  const FieldSpec wide{"", DType::f32, {3}}, narrow{"", DType::u8, {}};
  std::array<std::byte, 100> a{}, b{};
  std::array<uint64_t, 10> keys{};
  const std::array<OutputSlot, 2> columns = {OutputSlot{a.data(), &wide}, OutputSlot{b.data(), &narrow}};
  ColumnsLeft left(columns, keys.data()), without_keys(columns, nullptr);
  EXPECT_EQ(left.columns().data(), columns.data());
  left.pass(2);
  left.pass(1);
  without_keys.pass(1);
  EXPECT_EQ(left.columns()[0].data, a.data() + 36);
  EXPECT_EQ(left.columns()[1].data, b.data() + 3);
  EXPECT_EQ(left.keys(), keys.data() + 3);
  EXPECT_EQ(without_keys.keys(), nullptr);
}

// Remembers how it is asked.
class Asked final : public View {
 public:
  explicit Asked(std::vector<std::vector<int64_t>>& asked) : asked_(asked) {}
  Got at(int64_t, Context&, OutputSlots, Element&) const override { return Got::hole; }
  bool fill(std::span<const int64_t> positions, Context&, OutputSlots, uint64_t* keys) const override {
    asked_.emplace_back(positions.begin(), positions.end());
    if (keys != nullptr) std::copy(positions.begin(), positions.end(), keys);
    return true;
  }

 private:
  std::vector<std::vector<int64_t>>& asked_;
};

TEST(FillFrom, AsksInBlocksAndRefusesWhatHasNoPosition) {
  std::vector<std::vector<int64_t>> asked;
  const Asked view(asked);
  Context context;
  const auto twice = [](std::span<const int64_t> some, int64_t* to) {
    for (const int64_t i : some) *to++ = i < 0 ? -1 : 2 * i;
  };
  std::vector<int64_t> positions(600);
  std::iota(positions.begin(), positions.end(), 0);
  EXPECT_TRUE(fill_from(view, twice, positions, context, {}, nullptr));
  ASSERT_EQ(asked.size(), 3U);
  EXPECT_EQ(asked[1].size(), 256U);
  EXPECT_EQ(asked[2].back(), 1198);
  positions.back() = -1;
  EXPECT_FALSE(fill_from(view, twice, positions, context, {}, nullptr));
  asked.clear();
  EXPECT_TRUE(fill_from(view, twice, {}, context, {}, nullptr));
  EXPECT_THAT(asked, ElementsAre(ElementsAre()));
}

TEST(FillWithKeys, HasThemAlsoIfNobodyAsked) {
  std::vector<std::vector<int64_t>> asked;
  const Asked view(asked);
  Context context;
  std::vector<int64_t> positions(300, 4);
  positions[299] = 5;
  std::vector<std::pair<size_t, uint64_t>> seen;
  const auto look = [&](size_t first, std::span<const uint64_t> keys) { seen.emplace_back(first, keys.back()); };
  std::vector<uint64_t> keys(300);
  for (uint64_t* const to : {keys.data(), static_cast<uint64_t*>(nullptr)}) {
    seen.clear();
    EXPECT_TRUE(fill_with_keys(view, positions, context, {}, to, look));
    EXPECT_THAT(seen, ElementsAre(std::pair(0, 4), std::pair(256, 5)));
  }
  EXPECT_EQ(keys[299], 5U);
}

}  // namespace
}  // namespace headpond::internal
