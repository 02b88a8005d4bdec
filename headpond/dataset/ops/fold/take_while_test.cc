// SPDX-License-Identifier: Apache-2.0
#include "headpond/dataset/testing/structure_test_internal.h"

namespace headpond::internal {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::ThrowsMessage;

Step below(int64_t limit) {
  return take_while([limit](int64_t x) { return x < limit; }, {.name = "below", .version = static_cast<int>(limit)});
}

TEST(TakeWhile, EndsBeforeTheFirstElementThatDoesNotFit) {
  EXPECT_THAT(elements(range(5) | below(3), {}, true), ElementsAre("0 #0", "1 #1", "2 #2"));
  EXPECT_THAT(elements(range(5) | below(9)), ElementsAre("0", "1", "2", "3", "4"));
  EXPECT_THAT(elements(range(5) | below(0)), IsEmpty());
  EXPECT_THAT(elements(counter() | below(2)), ElementsAre("0", "1"));
  EXPECT_THAT(answers(script({"1", "9", "2"}) | below(3)), ElementsAre("1", "end")) << "what follows is not asked for";
  EXPECT_EQ((range(5) | below(3)).kind(), Kind::stream);
}

TEST(TakeWhile, PassesOnWaitingAndErrors) {
  const Step doubting = take_while([](int64_t x) -> Result<bool> {
    if (x == 2) return fail(ErrorKind::DataLoss, "no two");
    if (x == 3) throw std::runtime_error("three");
    return x < 5;
  });
  EXPECT_THAT(answers(script({"1", "pending", "bad", "2", "3", "4", "5", "1"}) | doubting),
              ElementsAre("1", "pending", "!bad", "!take_while(opaque), element 2: no two",
                          "!take_while(opaque), element 3: three", "4", "end"));
}

TEST(TakeWhile, RefusesWhatDoesNotFit) {
  EXPECT_THAT([] { take_while([](int64_t x) { return x; }); },
              ThrowsMessage<Exception>(HasSubstr("must give one bool")));
  EXPECT_THROW(range(5) | take_while([](std::string_view) { return true; }), Exception);
  Sequence sequence(range(5) | below(3));
  ASSERT_TRUE(sequence.next());
  EXPECT_FALSE(Sequence::restored(range(5) | below(4), {}, sequence.state()));
}

TEST(TakeWhile, KeepsTheContract) {
  check_contract(range(7) | below(4));
  check_contract(range(7) | evens() | below(4));
  check_contract(range(7) | as_stream() | below(9));
  check_contract(range(0) | below(9) | repeat(2));
}

}  // namespace
}  // namespace headpond::internal
