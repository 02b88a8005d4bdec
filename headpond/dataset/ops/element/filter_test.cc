// SPDX-License-Identifier: Apache-2.0
#include "headpond/dataset/testing/dataset_test_internal.h"

namespace headpond::internal {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::ThrowsMessage;

bool is_even(int64_t x) { return x % 2 == 0; }

TEST(Filter, KeepsElementsAndKeys) {
  EXPECT_THAT(elements(range(1, 6) | filter(&is_even), {}, true), ElementsAre("2 #1", "4 #3"));
  EXPECT_THAT(elements(range(1, 6) | as_stream() | filter(&is_even), {}, true), ElementsAre("2 #1", "4 #3"));
  EXPECT_THAT(elements(range(0) | filter(&is_even)), IsEmpty());
  EXPECT_THAT(elements(range(1, 2) | filter(&is_even)), IsEmpty());
}

TEST(Filter, LeavesHolesInThePositions) {
  const Dataset dataset = range(5) | filter(&is_even);
  EXPECT_EQ(dataset.kind(), Kind::sparse);
  EXPECT_EQ(dataset.node()->slots(), 5);
  EXPECT_EQ(dataset.cardinality(), std::nullopt);
  EXPECT_EQ((range(0) | filter(&is_even)).cardinality(), 0);
  EXPECT_EQ((range(5) | as_stream() | filter(&is_even)).kind(), Kind::stream);
  Context context;
  Element out;
  EXPECT_EQ(dataset.node()->bind({})->at(1, context, {}, out), Got::hole);
}

TEST(Filter, PutsAnErrorInTheElementsPlace) {
  const auto predicate = [](int64_t x) -> Result<bool> {
    if (x == 1) return fail(ErrorKind::DataLoss, "bad");
    if (x == 2) throw std::runtime_error("thrown");
    return true;
  };
  for (const Dataset& input : {range(4), range(4) | as_stream()}) {
    EXPECT_THAT(elements(input | filter(predicate, {.name = "p"})),
                ElementsAre("0", HasSubstr("!DataLoss: filter(p, version=0), range, record 1: bad"),
                            HasSubstr("!Unknown: filter(p, version=0), range, record 2: thrown"), "3"));
  }
}

TEST(Filter, RefusesWhatIsNoPredicateOfTheElement) {
  EXPECT_THAT([] { filter([](int64_t x) { return x; }); },
              ThrowsMessage<Exception>(HasSubstr("filter: the predicate must give one bool")));
  EXPECT_THAT([] { filter([](int64_t) { return std::tuple(true, true); }); },
              ThrowsMessage<Exception>(HasSubstr("must give one bool")));
  EXPECT_THAT([] { range(3) | filter([](float) { return true; }); },
              ThrowsMessage<Exception>(HasSubstr("filter: argument 0 of the function takes float32")));
}

TEST(Filter, KeepsTheContract) {
  check_contract(range(6) | filter(&is_even));
  check_contract(range(1) | filter([](int64_t) { return false; }));
  check_contract(range(6) | as_stream() | filter(&is_even));
  check_contract(range(12) | filter(&is_even) | filter([](int64_t x) { return x % 3 != 0; }));
}

}  // namespace
}  // namespace headpond::internal
