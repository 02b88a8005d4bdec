// SPDX-License-Identifier: Apache-2.0
#include <set>

#include "headpond/dataset/testing/structure_test_internal.h"
#include "tests/test_files.h"

namespace headpond::internal {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::ThrowsMessage;

// Fields x, 10 * x as text, and [x, 1.5].
Dataset samples(int64_t count) {
  const auto sample = [](int64_t x) {
    return std::tuple(x, std::to_string(10 * x), Tensor::from(std::vector<float>{static_cast<float>(x), 1.5F}, {2}));
  };
  return range(1, 1 + count) |
         map(sample, {.output = {{"x", i64, {}}, {"t", bytes, {}}, {"f", f32, {2}}}, .name = "sample"});
}

TEST(PadToCardinality, AddsZerosAndSaysWhichElementsAreReal) {
  const Dataset dataset = samples(2) | pad_to_cardinality(4);
  EXPECT_EQ(to_string(dataset.spec()), "{'x': int64[], 't': bytes[], 'f': float32[2], 'valid': bool[]}");
  EXPECT_EQ(dataset.cardinality(), 4);
  EXPECT_EQ(dataset.kind(), Kind::indexed);
  EXPECT_THAT(elements(dataset), ElementsAre("1, '10', [1 1.5], true", "2, '20', [2 1.5], true", "0, '', [0 0], false",
                                             "0, '', [0 0], false"));
  EXPECT_THAT(elements(range(3) | pad_to_cardinality(3, "real")), ElementsAre("0, true", "1, true", "2, true"));
  EXPECT_THAT(elements(range(0) | pad_to_cardinality(2)), ElementsAre("0, false", "0, false"));
  EXPECT_THAT(elements(range(0) | pad_to_cardinality(0)), IsEmpty());
  EXPECT_THAT((range(3) | pad_to_cardinality(3)).plan(),
              HasSubstr("pad_to_cardinality(cardinality=3, mask_key=valid)"));
}

TEST(PadToCardinality, GivesPaddingKeysOfItsOwn) {
  std::set<uint64_t> keys;
  Sequence sequence(range(5) | pad_to_cardinality(9));
  for (auto next = sequence.next(); next; next = sequence.next()) keys.insert(next->key);
  EXPECT_EQ(keys.size(), 9U);
}

TEST(PadToCardinality, FollowsBatches) {
  const Dataset dataset = range(4) | batch(2, {.drop_remainder = true}) | pad_to_cardinality(3);
  EXPECT_THAT(elements(dataset), ElementsAre("[0 1], true", "[2 3], true", "[0 0], false"));
  check_contract(dataset);
  EXPECT_THAT(elements(range(3) | pad_to_cardinality(4) | batch(4)), ElementsAre("[0 1 2 0], [true true true false]"));
}

TEST(PadToCardinality, RefusesWhatItCannotFill) {
  EXPECT_THAT(
      [] { range(3) | pad_to_cardinality(2); },
      ThrowsMessage<Exception>(HasSubstr("InvalidArgument: pad_to_cardinality: cardinality=2, the input has 3")));
  EXPECT_THAT([] { counter() | pad_to_cardinality(2); }, ThrowsMessage<Exception>(HasSubstr("no end")));
  EXPECT_THAT([] { range(3) | evens() | pad_to_cardinality(9); }, ThrowsMessage<Exception>(HasSubstr("is not known")));
  EXPECT_THROW(range(3) | as_stream() | pad_to_cardinality(9), Exception);
  EXPECT_THROW(range(3) | batch(2) | pad_to_cardinality(9), Exception) << "the number of rows is not known";
  EXPECT_THROW(range(3) | pad_to_cardinality(9) | pad_to_cardinality(9), Exception) << "a second field 'valid'";
  EXPECT_THROW(range(3) | pad_to_cardinality(-1), Exception);
  EXPECT_THROW(range(3) | pad_to_cardinality(3, ""), Exception);
}

TEST(PadToCardinality, CountsFilesWhenARunBegins) {
  const test::TempFolder folder;
  const Dataset dataset = text_lines(folder.file("*.txt")) | pad_to_cardinality(2);
  test::put_file(folder.file("a.txt"), test::to_bytes("a\n"));
  EXPECT_THAT(elements(dataset), ElementsAre("'a', true", "'', false"));
  test::put_file(folder.file("b.txt"), test::to_bytes("b\nc\n"));
  EXPECT_FALSE(check(text_lines(folder.file("*.txt")) | pad_to_cardinality(2)));
}

TEST(PadToCardinality, KeepsTheContract) {
  const Dataset dataset = samples(3) | pad_to_cardinality(7);
  check_contract(dataset);
  EXPECT_TRUE(fills(*(range(3) | pad_to_cardinality(7) | shuffle()).node()));
  check_contract(dataset | shuffle() | batch(3));
  check_contract(range(0) | pad_to_cardinality(2));
  Sequence sequence(dataset);
  (void)sequence.next();
  EXPECT_TRUE(Sequence::restored(samples(3) | pad_to_cardinality(7), {}, sequence.state()));
  EXPECT_FALSE(Sequence::restored(samples(3) | pad_to_cardinality(8), {}, sequence.state()));
}

}  // namespace
}  // namespace headpond::internal
