// SPDX-License-Identifier: Apache-2.0
#include "headpond/dataset/state.h"

#include <gtest/gtest.h>

#include <limits>

namespace headpond {
namespace {

template <class T>
std::string saved(T value) {
  StateVisitor visitor;
  visitor.number(value);
  return visitor.saved();
}

// What is restored over `before`, and whether that was complete.
template <class T>
std::pair<T, bool> restored(std::string_view bytes, T before = T{}) {
  StateVisitor visitor = StateVisitor::restoring(bytes);
  visitor.number(before);
  return {before, visitor.complete()};
}

template <class T>
class StateOf : public testing::Test {};
using Types = testing::Types<int8_t, uint8_t, int16_t, uint16_t, int32_t, uint32_t, int64_t, uint64_t, bool>;
TYPED_TEST_SUITE(StateOf, Types);

TYPED_TEST(StateOf, NumbersComesBackAtItsLimits) {
  using T = TypeParam;
  constexpr T kLow = std::numeric_limits<T>::min(), kHigh = std::numeric_limits<T>::max();
  for (const T value : {T{0}, T{1}, kLow, kHigh, static_cast<T>(kHigh / 2), static_cast<T>(kLow / 2)}) {
    const T before = value == T{0} ? T{1} : T{0};
    EXPECT_EQ(restored<T>(saved(value), before), std::pair(value, true)) << +value;
  }
}

TYPED_TEST(StateOf, NumbersCutAnywhereIsRefused) {
  using T = TypeParam;
  const std::string whole = saved(std::numeric_limits<T>::max());
  for (size_t size = 0; size < whole.size(); ++size) {
    EXPECT_EQ(restored<T>(std::string_view(whole).substr(0, size)), std::pair(T{0}, false)) << size;
  }
  EXPECT_FALSE(restored<T>(whole + '\0').second) << "a byte too many";
}

TEST(State, IsSmallForSmallNumbers) {
  EXPECT_EQ(saved(int64_t{0}), std::string(1, '\0'));
  EXPECT_EQ(saved(int64_t{-1}), "\x01");
  EXPECT_EQ(saved(uint64_t{127}), "\x7F");
  EXPECT_EQ(saved(uint64_t{128}), "\x80\x01");
  EXPECT_EQ(saved(~uint64_t{0}).size(), 10U);
}

TEST(State, OfANumberOutOfTheTypesRangeIsRefused) {
  EXPECT_EQ(restored<uint8_t>(saved(uint64_t{256}), 7), std::pair(uint8_t{7}, false));
  EXPECT_EQ(restored<int8_t>(saved(int64_t{128}), 7), std::pair(int8_t{7}, false));
  EXPECT_EQ(restored<int8_t>(saved(int64_t{-129}), 7), std::pair(int8_t{7}, false));
  EXPECT_EQ(restored<int32_t>(saved(std::numeric_limits<int64_t>::min())), std::pair(0, false));
  EXPECT_EQ(restored<bool>(saved(uint64_t{2})), std::pair(false, false));
}

TEST(State, OfMoreThan64BitsIsRefused) {
  EXPECT_TRUE(restored<uint64_t>(std::string(9, '\xFF') + '\x01').second);
  EXPECT_FALSE(restored<uint64_t>(std::string(9, '\xFF') + '\x02').second);
  EXPECT_FALSE(restored<uint64_t>(std::string(10, '\xFF') + '\x01').second);
}

TEST(State, KeepsNumbersWithinTheirBounds) {
  for (const auto& [value, fits] : {std::pair<int64_t, bool>{-3, true}, {5, true}, {-4, false}, {6, false}}) {
    const std::string bytes = saved(value);
    StateVisitor visitor = StateVisitor::restoring(bytes);
    int64_t number = 1;
    visitor.number_within(number, -3, 5);
    EXPECT_EQ(visitor.complete(), fits) << value;
    EXPECT_EQ(number, fits ? value : 1);
  }
}

TEST(State, KeepsTexts) {
  for (std::string text : {std::string(), std::string("a\0b", 3), std::string(1000, 'x')}) {
    StateVisitor saving;
    saving.text(text);
    for (size_t size = 0; size <= saving.saved().size(); ++size) {
      const std::string bytes = saving.saved().substr(0, size);
      StateVisitor visitor = StateVisitor::restoring(bytes);
      std::string back = "before";
      visitor.text(back);
      const bool is_whole = size == saving.saved().size();
      EXPECT_EQ(visitor.complete(), is_whole);
      EXPECT_EQ(back, is_whole ? text : "before");
    }
  }
}

TEST(State, OfALengthBeyondAllBytesIsRefused) {
  const std::string bytes = saved(~uint64_t{0}) + "text";
  StateVisitor visitor = StateVisitor::restoring(bytes);
  std::string text;
  visitor.text(text);
  EXPECT_FALSE(visitor.ok());
}

TEST(State, LeavesAllFieldsAfterAnError) {
  const std::string bytes = saved(uint64_t{300}) + saved(uint64_t{5}) + saved(uint64_t{6});
  StateVisitor visitor = StateVisitor::restoring(bytes);
  uint8_t narrow = 1;
  uint64_t second = 2;
  int64_t third = 3;
  std::string text = "before";
  visitor.number(narrow);
  visitor.number(second);
  visitor.number_within(third, 0, 100);
  visitor.text(text);
  EXPECT_FALSE(visitor.ok());
  EXPECT_EQ(std::tuple(int{narrow}, second, third, text), std::tuple(1, 2U, 3, "before"));
}

TEST(State, CanBeRefusedByWhoKnowsBetter) {
  StateVisitor visitor = StateVisitor::restoring("");
  EXPECT_TRUE(visitor.complete());
  visitor.refuse();
  EXPECT_FALSE(visitor.complete());
}

}  // namespace
}  // namespace headpond
