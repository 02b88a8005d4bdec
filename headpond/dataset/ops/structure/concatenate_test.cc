// SPDX-License-Identifier: Apache-2.0
#include "headpond/dataset/testing/structure_test_internal.h"

namespace headpond::internal {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::ThrowsMessage;

Dataset rows(const std::string& name, DType dtype, const Shape& shape) {
  return from_tensor_slices({{name, Tensor::empty(dtype, shape)}});
}

Dataset big_rows(int64_t first) {
  std::vector<int64_t> values(2 * 5);
  for (size_t i = 0; i < values.size(); ++i) values[i] = first * 100 + static_cast<int64_t>(i);
  return from_tensor_slices({{"x", Tensor::from(std::span<const int64_t>(values), {2, 5})}});
}

TEST(Concatenate, GivesOneAfterTheOther) {
  EXPECT_THAT(elements(range(2) | concatenate(range(5, 7)), {}, true),
              ElementsAre("0 #0", "1 #1", keyed(5, 0, 1), keyed(6, 1, 1)));
  EXPECT_THAT(elements(concatenate({range(1), range(0), range(5, 7), range(0), range(9, 10)}), {}, true),
              ElementsAre("0 #0", keyed(5, 0, 2), keyed(6, 1, 2), keyed(9, 0, 4)));
  EXPECT_THAT(elements(concatenate(std::vector{range(2)}), {}, true), ElementsAre("0 #0", "1 #1"));
  EXPECT_THAT(elements(concatenate({range(0), range(0)})), IsEmpty());
}

TEST(Concatenate, GivesTheSameForEachKind) {
  const Dataset plain = concatenate({range(3), range(0), range(5)});
  for (const Step& step : {evens(), as_stream()}) {
    const auto expected = elements(plain | step, {}, true);
    EXPECT_EQ(elements(concatenate({range(3) | step, range(0), range(5) | step}), {}, true), expected);
  }
}

TEST(Concatenate, IsWhatAllInputsAre) {
  const Dataset indexed = range(3), sparse = range(3) | evens(), stream = range(3) | as_stream();
  EXPECT_EQ((indexed | concatenate(indexed)).kind(), Kind::indexed);
  EXPECT_EQ((indexed | concatenate(sparse)).kind(), Kind::sparse);
  EXPECT_EQ((sparse | concatenate(indexed)).kind(), Kind::sparse);
  EXPECT_EQ((sparse | concatenate(stream)).kind(), Kind::stream);
  EXPECT_EQ((stream | concatenate(indexed)).kind(), Kind::stream);
  EXPECT_EQ((indexed | concatenate(indexed)).cardinality(), 6);
  EXPECT_EQ((indexed | concatenate(sparse)).cardinality(), std::nullopt);
}

TEST(Concatenate, NeverGetsPastAnEndlessOne) {
  const Dataset dataset = concatenate({range(2), range(3) | repeat(), range(9)});
  EXPECT_EQ(dataset.cardinality(), kEndless);
  EXPECT_THAT(elements(dataset | take(6)), ElementsAre("0", "1", "0", "1", "2", "0"));
  EXPECT_EQ((range(1) | repeat() | concatenate(range(1) | repeat())).cardinality(), kEndless);
  EXPECT_EQ((range(kEndless - 1) | concatenate(range(3) | repeat())).cardinality(), kEndless);
}

TEST(Concatenate, CountsUpToTheLastPosition) {
  EXPECT_EQ((range(kHuge) | concatenate(range(kHuge - 2))).cardinality(), kEndless - 1);
  EXPECT_EQ((range(kEndless - 1) | concatenate(range(0))).cardinality(), kEndless - 1);
  EXPECT_THAT([] { range(kHuge) | concatenate(range(kHuge - 1)); },
              ThrowsMessage<Exception>(HasSubstr("concatenate: more than 2^63 - 2")));
  EXPECT_THROW(concatenate({range(kHuge), range(kHuge), range(kHuge)}), Exception);
  EXPECT_THAT(elements(range(kHuge) | as_stream() | concatenate(range(kHuge)) | take(1)), ElementsAre("0"));
  EXPECT_THAT(elements(range(kHuge) | concatenate(range(5)) | skip(kHuge + 3)), ElementsAre("3", "4"));
}

TEST(Concatenate, DoesNotKnowDimensionsThatDiffer) {
  const Dataset dataset = rows("x", DType::u8, {2, 4, 3}) | concatenate(rows("x", DType::u8, {1, 5, 3}));
  EXPECT_EQ(to_string(dataset.spec()), "{'x': uint8[?,3]}");
  EXPECT_EQ(to_string(concatenate({dataset, dataset}).spec()), "{'x': uint8[?,3]}");
}

TEST(Concatenate, RefusesWhatDoesNotFit) {
  const Dataset first = rows("x", DType::u8, {2, 4});
  for (const Dataset& second :
       {rows("y", DType::u8, {2, 4}), rows("x", DType::i8, {2, 4}), rows("x", DType::u8, {2}),
        from_tensor_slices({{"x", Tensor::empty(DType::u8, {2, 4})}, {"z", Tensor::empty(DType::u8, {2, 4})}})}) {
    const std::string text = to_string(second.spec()) + " cannot follow {'x': uint8[4]}";
    EXPECT_THAT([&] { first | concatenate(second); }, ThrowsMessage<Exception>(HasSubstr("concatenate: " + text)));
  }
  EXPECT_THAT([] { concatenate(std::vector<Dataset>{}); }, ThrowsMessage<Exception>(HasSubstr("no inputs")));
}

TEST(Concatenate, KeepsTheContract) {
  check_contract(concatenate({range(3), range(0), range(2)}));
  check_contract(concatenate({range(3) | evens(), range(2), range(1, 8) | evens()}));
  check_contract(concatenate({range(3) | as_stream(), range(0) | as_stream(), range(4) | evens()}));
  check_contract(range(2) | concatenate(range(3) | repeat(2)) | concatenate(epoch_of(2)) | repeat(2));
  check_contract(range(2) | concatenate(range(3) | as_stream() | repeat()) | take(9));
  check_contract(big_rows(1) | concatenate(big_rows(2)));
}

TEST(Concatenate, PassesOnWaitingAndErrors) {
  EXPECT_THAT(answers(script({"1", "pending", "bad"}) | concatenate(script({"pending", "2"}))),
              ElementsAre("1", "pending", "!bad", "pending", "2", "end"));
}

TEST(Concatenate, RefusesTheStateOfAnotherNumberOfInputs) {
  Sequence sequence(concatenate({range(5), range(5)}));
  ASSERT_TRUE(sequence.next());
  EXPECT_FALSE(Sequence::restored(concatenate({range(5), range(5), range(5)}), {}, sequence.state()));
}

}  // namespace
}  // namespace headpond::internal
