// SPDX-License-Identifier: Apache-2.0
#include "headpond/dataset/testing/structure_test_internal.h"

namespace headpond::internal {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::ThrowsMessage;

Step drawing(const std::string& name = "draw") {
  return random_map([](int64_t x, Random& random) { return x * 1000 + static_cast<int64_t>(random.below(1000)); },
                    {.name = name});
}

TEST(RandomMap, DrawsFromSeedOperatorEpochAndElement) {
  const auto all = elements(range(9) | drawing(), {.seed = 3, .epochs = 2}, true);
  EXPECT_EQ(elements(range(9) | drawing(), {.seed = 3, .epochs = 2}, true), all);
  EXPECT_NE(elements(range(9) | drawing(), {.seed = 4, .epochs = 2}, true), all);
  EXPECT_NE(elements(range(9) | drawing("other"), {.seed = 3, .epochs = 2}, true), all);
  EXPECT_FALSE(std::equal(all.begin(), all.begin() + 9, all.begin() + 9)) << "another epoch draws other numbers";
  EXPECT_EQ(elements(range(9) | as_stream() | drawing(), {.seed = 3, .epochs = 2}, true), all);
  EXPECT_EQ(elements(range(9) | skip(2) | drawing() | take(1), {.seed = 3}, true)[0], all[2]);
}

TEST(RandomMap, DrawsWhatARandomOfTheSameKeyDraws) {
  const auto word = random_map([](int64_t, Random& random) { return random.u32(); });
  const RandomKey key = random_key(5, "random_map", 0, 0);
  EXPECT_THAT(elements(range(2) | word, {.seed = 5}),
              ElementsAre(fmt::format("{}", Random(key, 0).u32()), fmt::format("{}", Random(key, 1).u32())));
}

TEST(RandomMap, TakesWhatMapTakes) {
  const auto pair = random_map([](int64_t i, int64_t x, Random&) { return std::tuple(i + x, std::string("a")); },
                               {.output = {{"sum", i64, {}}, {"text", bytes, {}}}});
  EXPECT_THAT(elements(range(2) | enumerate(5) | pair), ElementsAre("5, 'a'", "7, 'a'"));
  const auto whole = random_map(
      [](const Element& in, Random&) {
        return Element{in[size_t{0}], in[size_t{0}]};
      },
      {.output = {{"a", i64, {}}, {"b", i64, {}}}});
  EXPECT_THAT(elements(range(2) | whole), ElementsAre("0, 0", "1, 1"));
  const auto failing = random_map([](int64_t, Random&) -> Result<int64_t> { return fail(ErrorKind::DataLoss, "no"); });
  EXPECT_THAT(elements(range(1) | failing), ElementsAre(HasSubstr("random_map(opaque), range, record 0: no")));
}

TEST(RandomMap, RefusesWhatDoesNotFit) {
  EXPECT_THROW(range(2) | enumerate() | drawing(), Exception);
  EXPECT_THROW(range(2) | random_map([](std::string_view, Random&) { return 1; }), Exception);
  const auto tensor = random_map([](const Tensor& in, Random&) { return in; });
  EXPECT_THAT([&] { range(2) | tensor; }, ThrowsMessage<Exception>(HasSubstr("set MapOptions::output")));
  const auto wrong = random_map([](const Tensor& in, Random&) { return in; }, {.output = {{"", f32, {}}}});
  EXPECT_THAT(elements(range(1) | wrong), ElementsAre(HasSubstr("expected {0: float32[]}")));
}

TEST(RandomMap, KeepsTheContract) {
  check_contract(range(7) | drawing());
  check_contract(range(7) | drawing() | evens() | drawing());
  check_contract(range(7) | as_stream() | drawing() | shuffle(3));
  check_contract(range(7) | drawing() | repeat(2) | batch(3));
}

}  // namespace
}  // namespace headpond::internal
