// SPDX-License-Identifier: Apache-2.0
#include "headpond/dataset/ops/fold/evaluate.h"

#include "headpond/dataset/testing/structure_test_internal.h"

namespace headpond::internal {
namespace {

using testing::HasSubstr;

Result<Element> sum(const Element& state, const Element& in) {
  const int64_t value = in[size_t{0}].item<int64_t>();
  if (value == 7) return fail(ErrorKind::OutOfRange, "seven");
  if (value == 8) throw std::runtime_error("eight");
  if (value == 9) return Element{Tensor::scalar(1.5F)};
  return Element{Tensor::scalar(state[size_t{0}].item<int64_t>() + value)};
}
const auto kBad = [](int64_t x) -> Result<int64_t> {
  if (x == 2) return fail(ErrorKind::DataLoss, "no two");
  return x;
};
template <class T>
std::string shown(const Result<T>& result) {
  return result ? text_of(*result) : "!" + result.error().to_string();
}

TEST(Reduce, GivesTheLastState) {
  const Element zero{Tensor::scalar(int64_t{0})};
  EXPECT_EQ(shown(reduce(range(5), zero, sum)), "10");
  EXPECT_EQ(shown(reduce(range(5), zero, sum, {.epochs = 2})), "20");
  EXPECT_EQ(shown(reduce(range(0), zero, sum)), "0");
}

TEST(Reduce, FailsWithTheFirstError) {
  const Element zero{Tensor::scalar(int64_t{0})};
  EXPECT_THAT(shown(reduce(range(5) | map(kBad), zero, sum)), HasSubstr("no two"));
  const auto ended = reduce(range(9), zero, sum);
  EXPECT_THAT(shown(ended), HasSubstr("seven"));
  EXPECT_FALSE(at_end(ended)) << "an error that looks like an end is none";
  EXPECT_THAT(shown(reduce(range(8, 9), zero, sum)), HasSubstr("eight"));
  EXPECT_THAT(shown(reduce(range(9, 10), zero, sum)), HasSubstr("the state does not fit: expected {0: int64[]}"));
  EXPECT_THAT(shown(reduce(counter(), zero, sum)), HasSubstr("no end"));
  EXPECT_THAT(shown(reduce(range(3), zero, sum, {.epochs = -1})), HasSubstr("without an end"));
}

TEST(Reduce, RefusesAnEmptyFunction) {
  const auto refused = reduce(range(3), Element{Tensor::scalar(int64_t{0})}, ReduceFunction());
  EXPECT_EQ(refused.error().kind(), ErrorKind::InvalidArgument);
}

TEST(GetSingleElement, GivesTheOnlyOne) {
  EXPECT_EQ(shown(get_single_element(range(3) | batch(3))), "[0 1 2]");
  EXPECT_THAT(shown(get_single_element(range(0))),
              HasSubstr("InvalidArgument: get_single_element: the dataset has no"));
  EXPECT_THAT(shown(get_single_element(range(2))), HasSubstr("more than one element"));
  EXPECT_THAT(shown(get_single_element(range(2, 3) | map(kBad))), HasSubstr("no two"));
}

TEST(At, GivesTheElementOfAPosition) {
  EXPECT_EQ(shown(at(range(5) | enumerate(), 3)), "3, 3");
  EXPECT_EQ((*at(range(5) | enumerate(), 3))["index"].item<int64_t>(), 3);
  EXPECT_EQ(shown(at(range(5) | batch(2), 2)), "[4]");
  const Dataset shuffled = range(9) | shuffle();
  const auto all = elements(shuffled, {.seed = 4, .epochs = 2});
  EXPECT_EQ(shown(at(shuffled, 2, 4)), all[2]);
  EXPECT_EQ(shown(at(shuffled, 2, 4, 1)), all[11]);
}

TEST(At, RefusesWhatIsNotThere) {
  EXPECT_THAT(shown(at(range(5), 5)), HasSubstr("InvalidArgument: at: no position 5, there are 5"));
  EXPECT_THAT(shown(at(range(5), -1)), HasSubstr("no position -1"));
  EXPECT_THAT(shown(at(range(5) | evens(), 1)), HasSubstr("NotFound: at: a filter left position 1 empty"));
  EXPECT_THAT(shown(at(range(5) | as_stream(), 1)), HasSubstr("has no positions"));
  EXPECT_THAT(shown(at(range(5) | map(kBad), 2)), HasSubstr("no two"));
}

}  // namespace
}  // namespace headpond::internal
