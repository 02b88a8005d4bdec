// SPDX-License-Identifier: Apache-2.0
#include <atomic>

#include "headpond/dataset/ops/nested/children_internal.h"
#include "headpond/dataset/testing/structure_test_internal.h"

namespace headpond::internal {
namespace {

using testing::HasSubstr;

const Spec kNumber = {{"", i64, {}}};

Children children_of(const Dataset& input, std::function<Dataset(int64_t)> f, Kind kind = Kind::indexed) {
  return Children(input.node(), make_nested_function([f](int64_t x) { return f(x); }),
                  {.title = "op", .spec = kNumber, .kind = kind, .cycle = 2, .block = 1});
}
Element number(int64_t x, uint64_t key = 0) {
  Element element{Tensor::scalar(x)};
  element.key = key;
  return element;
}

TEST(Children, AreMadeOnceForEqualElements) {
  std::atomic<int> calls = 0;
  const Children children = children_of(range(4) | shuffle(), [&](int64_t x) {
    ++calls;
    return range(x);
  });
  EXPECT_EQ(children.make(number(3, 7)).outer.key, 7U);
  EXPECT_EQ(children.make(number(3, 8)).dataset->node(), children.make(number(3, 9)).dataset->node());
  EXPECT_EQ(calls, 1);
  EXPECT_EQ(children.table({.seed = 1, .epoch = 0}, one_by_one)->order.size(), 6);
  EXPECT_EQ(children.table({.seed = 1, .epoch = 1}, one_by_one)->order.size(), 6);
  EXPECT_EQ(calls, 4);
}

TEST(Children, ATableIsKeptForAFewEpochs) {
  const Children children = children_of(range(4) | shuffle(), [](int64_t x) { return range(x); });
  const auto first = children.table({.seed = 1, .epoch = 0}, one_by_one);
  EXPECT_EQ(children.table({.seed = 1, .epoch = 0}, one_by_one), first);
  for (uint64_t epoch = 1; epoch < 5; ++epoch) (void)children.table({.seed = 1, .epoch = epoch}, one_by_one);
  EXPECT_NE(children.table({.seed = 1, .epoch = 0}, one_by_one), first);
}

TEST(Children, MustFit) {
  EXPECT_THAT(children_of(range(1), [](int64_t) { return range(1) | enumerate(); }).make(number(5)).error.message(),
              HasSubstr("op, element 0: the datasets have {0: int64[]}, this one has {'index': int64[], 1: int64[]}"));
  const auto batches = [](int64_t) { return range(1) | batch(1) | map([](const Tensor&) { return int64_t{1}; }); };
  EXPECT_THAT(children_of(range(1), batches).make(number(5)).error.message(), HasSubstr("does not have positions"));
  EXPECT_FALSE(children_of(range(1), batches, Kind::stream).make(number(5)).error);
  const auto huge = [](int64_t) { return range(2); };
  EXPECT_THROW((void)children_of(counter(), huge).table({}, one_by_one), Exception);
}

TEST(Children, RandomOperatorsHaveASeedOfTheirOwn) {
  const Binding one = Children::binding_of({.outer = {.key = 1}}, {.seed = 5, .epoch = 3});
  const Binding two = Children::binding_of({.outer = {.key = 2}}, {.seed = 5, .epoch = 3});
  EXPECT_NE(one.seed, two.seed);
  EXPECT_EQ(one.epoch, 3U);
}

}  // namespace
}  // namespace headpond::internal
