// SPDX-License-Identifier: Apache-2.0
#include "headpond/dataset/testing/structure_test_internal.h"

namespace headpond::internal {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::ThrowsMessage;

Step remainder(int64_t n) {
  return map([n](int64_t x) { return x * 7 % n; }, {.name = "remainder", .version = static_cast<int>(n)});
}

TEST(Unique, GivesEachValueOnce) {
  EXPECT_THAT(elements(range(9) | remainder(3) | unique(), {}, true), ElementsAre("0 #0", "1 #1", "2 #2"));
  EXPECT_THAT(elements(range(3) | repeat(3) | unique()), ElementsAre("0", "1", "2"));
  EXPECT_THAT(elements(range(0) | unique()), IsEmpty());
  const auto text = map([](int64_t x) { return std::string(static_cast<size_t>(x % 3), 'a'); });
  EXPECT_THAT(elements(range(9) | text | unique()), ElementsAre("''", "'a'", "'aa'"));
  const auto small = map([](int64_t x) { return static_cast<int32_t>(x / 4); });
  EXPECT_THAT(elements(range(9) | small | unique()), ElementsAre("0", "1", "2"));
  EXPECT_THAT(elements(range(4) | remainder(2) | batch(2) | unique()), ElementsAre("[0 1]"));
  EXPECT_THAT(elements(range(3) | unique(), {.epochs = 2}), ElementsAre("0", "1", "2", "0", "1", "2"));
}

TEST(Unique, PassesOnWaitingAndErrors) {
  EXPECT_THAT(answers(script({"1", "pending", "bad", "1", "2", "pending", "1", "bad", "3"}) | unique()),
              ElementsAre("1", "pending", "!bad", "2", "pending", "!bad", "3", "end"));
}

TEST(Unique, RefusesOtherFields) {
  EXPECT_THAT([] { range(3) | enumerate() | unique(); },
              ThrowsMessage<Exception>(HasSubstr("needs one field of int64")));
  EXPECT_THROW(range(3) | map([](int64_t x) { return static_cast<float>(x); }) | unique(), Exception);
}

TEST(Unique, KeepsTheContract) {
  check_contract(range(12) | remainder(5) | unique());
  check_contract(range(12) | remainder(5) | evens() | unique());
  check_contract(range(12) | remainder(5) | as_stream() | unique() | repeat(2));
  check_contract(range(12) | shuffle() | remainder(5) | unique() | unique());
  check_contract(range(0) | unique());
}

}  // namespace
}  // namespace headpond::internal
