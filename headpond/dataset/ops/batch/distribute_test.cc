// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <map>

#include "headpond/dataset/testing/dataset_test_internal.h"

namespace headpond::internal {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::vector<int64_t> numbers_of(const Dataset& dataset, SequenceOptions options = {.seed = 3}) {
  std::vector<int64_t> all;
  for (Sequence sequence(dataset, options);;) {
    const auto next = sequence.next();
    if (!next) break;
    const auto values = (*next)[size_t{0}].as<int64_t>();
    all.insert(all.end(), values.begin(), values.end());
  }
  return all;
}

// A text of x bytes, which costs x.
Dataset texts(std::vector<int64_t> lengths) {
  const auto text = [](int64_t x) { return std::tuple(x, std::string(static_cast<size_t>(x), 'x')); };
  return from_tensor_slices(Tensor::from(lengths, {static_cast<int64_t>(lengths.size())})) |
         map(text, {.output = {{"length", i64, {}}, {"text", bytes, {}}}, .name = "text"});
}

TEST(Distribute, GivesEachRankItsRows) {
  const Dataset batches = range(12) | batch(6);
  EXPECT_THAT(elements(batches | distribute(3, 0)), ElementsAre("[0 1]", "[6 7]"));
  EXPECT_THAT(elements(batches | distribute(3, 2)), ElementsAre("[4 5]", "[10 11]"));
  EXPECT_THAT(elements(batches | distribute(1, 0)), elements(batches));
  const auto named = [](int64_t x) { return std::tuple(x, std::to_string(x)); };
  const Dataset pairs = range(4) | map(named, {.output = {{"n", DType::i64, {}}, {"t", DType::bytes, {}}}}) | batch(4);
  EXPECT_THAT(elements(pairs | distribute(2, 1)), ElementsAre("[2 3], ['2' '3']"));
}

TEST(Distribute, SharesUnevenBatchesByPolicy) {
  const Dataset batches = range(5) | batch(4);
  EXPECT_THAT(elements(batches | distribute(2, 0)), ElementsAre("[0 1]", "[4]"));
  EXPECT_THAT(elements(batches | distribute(2, 1)), ElementsAre("[2 3]", "[4]")) << "the first row once more";
  EXPECT_THAT(elements(batches | distribute(2, 1, UnevenBatch::pad)), ElementsAre("[2 3]", "[4]"));
  EXPECT_THAT(elements(batches | distribute(2, 1, UnevenBatch::drop)), ElementsAre("[2 3]"));
  const Dataset five = range(5) | batch(5);
  EXPECT_THAT(elements(five | distribute(3, 2)), ElementsAre("[4 0]"));
  EXPECT_THAT(elements(five | distribute(3, 2, UnevenBatch::pad)), ElementsAre("[4 4]"));
  EXPECT_THAT(elements(five | distribute(3, 2, UnevenBatch::drop)), ElementsAre("[2]"));
}

TEST(Distribute, MarksTheRowsThatItAdds) {
  const Dataset five = range(5) | batch(5);
  const auto marked = [&](int64_t rank, UnevenBatch uneven) {
    return elements(five | distribute(4, rank, {.uneven = uneven, .mask_key = "valid"}));
  };
  EXPECT_THAT(marked(1, UnevenBatch::pad), ElementsAre("[2 3], [true true]"));
  EXPECT_THAT(marked(2, UnevenBatch::pad), ElementsAre("[4 4], [true false]"));
  EXPECT_THAT(marked(3, UnevenBatch::pad), ElementsAre("[4 4], [false false]"));
  EXPECT_THAT(marked(2, UnevenBatch::wrap), ElementsAre("[4 0], [true false]"));
  EXPECT_THAT(marked(3, UnevenBatch::drop), ElementsAre("[3], [true]"));
  const Dataset known = range(8) | batch(4, {.drop_remainder = true}) | distribute(2, 0, {.mask_key = "valid"});
  EXPECT_EQ(known.spec()[1].shape.to_string(), "[2]");
  EXPECT_EQ(known.spec()[1].name, "valid");
  EXPECT_THAT([&] { known | distribute(1, 0, {.mask_key = "valid"}); },
              testing::ThrowsMessage<Exception>(HasSubstr("valid")));
}

TEST(Distribute, MarksTheRowsThatItAddsByCostToo) {
  for (const UnevenBatch uneven : {UnevenBatch::pad, UnevenBatch::wrap}) {
    std::map<std::string, int> real;
    for (const int64_t rank : {0, 1, 2}) {
      for (Sequence sequence(texts({3, 9, 2, 8, 5}) | batch(5) |
                             distribute(3, rank, {.uneven = uneven, .cost_field = "length", .mask_key = "valid"}));
           ;) {
        const auto next = sequence.next();
        if (!next) break;
        const auto lengths = (*next)["length"].as<int64_t>();
        const auto valid = (*next)["valid"].as<bool>();
        ASSERT_EQ(valid.size(), lengths.size());
        for (size_t i = 0; i < valid.size(); ++i) real[std::to_string(lengths[i])] += valid[i] ? 1 : 0;
      }
    }
    EXPECT_THAT(real, ElementsAre(testing::Pair("2", 1), testing::Pair("3", 1), testing::Pair("5", 1),
                                  testing::Pair("8", 1), testing::Pair("9", 1)));
  }
}

TEST(Distribute, WithoutAMaskIsAsBefore) {
  const Dataset batches = range(5) | batch(4);
  EXPECT_EQ((batches | distribute(2, 1)).node()->identity(), "distribute(uneven=wrap)");
  EXPECT_EQ((batches | distribute(2, 1, {.mask_key = "valid"})).node()->identity(),
            "distribute(uneven=wrap, mask_key=valid)");
}

TEST(Distribute, AllRanksTogetherHaveEachElementOnce) {
  for (const int64_t world : {2, 3, 8, 64}) {
    const auto batches = [world](int64_t rank) {
      return range(64 * 3 * 5) | shuffle() | filter([](int64_t x) { return x % 5 != 0; }, {.name = "fifths"}) |
             batch(64 * 3) | distribute(world, rank);
    };
    std::vector<int64_t> all;
    for (int64_t rank = 0; rank < world; ++rank) {
      const auto own = numbers_of(batches(rank));
      EXPECT_EQ(own.size(), numbers_of(batches(0)).size());
      all.insert(all.end(), own.begin(), own.end());
    }
    std::sort(all.begin(), all.end());
    std::vector<int64_t> expected;
    for (int64_t x = 0; x < 64 * 3 * 5; ++x) {
      if (x % 5 != 0) expected.push_back(x);
    }
    EXPECT_EQ(all, expected) << world;
  }
}

TEST(Distribute, AStateOfFourRanksGoesOnWithThree) {
  const auto batches = [](int64_t world, int64_t rank) {
    return range(120) | shuffle() | batch(12) | distribute(world, rank);
  };
  Sequence four(batches(4, 1), {.seed = 3});
  for (int i = 0; i < 4; ++i) ASSERT_TRUE(four.next());
  std::vector<int64_t> rest;
  for (int64_t rank = 0; rank < 3; ++rank) {
    auto three = Sequence::restored(batches(3, rank), {.seed = 3}, four.state());
    ASSERT_TRUE(three) << three.error();
    for (auto next = three->next(); next; next = three->next()) {
      const auto values = (*next)[size_t{0}].as<int64_t>();
      rest.insert(rest.end(), values.begin(), values.end());
    }
  }
  const auto all = numbers_of(range(120) | shuffle() | batch(12));
  std::vector<int64_t> expected(all.begin() + 4 * 12, all.end());
  std::sort(rest.begin(), rest.end());
  std::sort(expected.begin(), expected.end());
  EXPECT_EQ(rest, expected);
  EXPECT_FALSE(Sequence::restored(range(120) | shuffle() | batch(12) | distribute(3, 0, UnevenBatch::drop), {.seed = 3},
                                  four.state()))
      << "control: another policy is another plan";
  EXPECT_FALSE(Sequence::restored(range(120) | shuffle() | batch(12) | distribute(3, 0, {.cost_field = "0"}),
                                  {.seed = 3}, four.state()));
}

TEST(Distribute, SharesRowsByCost) {
  const auto by_cost = [](int64_t rank, UnevenBatch uneven) {
    return texts({1, 9, 2, 8, 3, 7, 4}) | batch(4) | distribute(2, rank, {.uneven = uneven, .cost_field = "length"});
  };
  EXPECT_THAT(elements(by_cost(0, UnevenBatch::wrap)),
              ElementsAre("[1 9], ['x' 'xxxxxxxxx']", "[7 3], ['xxxxxxx' 'xxx']"));
  EXPECT_THAT(elements(by_cost(1, UnevenBatch::wrap)), ElementsAre("[2 8], ['xx' 'xxxxxxxx']", "[3 4], ['xxx' 'xxxx']"))
      << "the first row once more";
  EXPECT_THAT(elements(by_cost(1, UnevenBatch::drop)), ElementsAre("[2 8], ['xx' 'xxxxxxxx']", "[3], ['xxx']"));
  const Dataset numbers = range(4) | map([](int64_t x) { return 1.5F * static_cast<float>(x); }) | batch(4);
  EXPECT_THAT(elements(numbers | distribute(2, 0, {.cost_field = "0"})), ElementsAre("[0 4.5]"));
  EXPECT_THAT(
      elements(range(-2, 2) | batch(4) | distribute(2, 0, {.cost_field = "0"})),
      ElementsAre(HasSubstr("distribute(world_size=2, rank=0, uneven=wrap, cost_field=0), batch, record 0: row 0 costs "
                            "-2")));
}

TEST(Distribute, SharesRowsByAFunctionOfARow) {
  const auto length = [](int64_t, std::string_view text) { return text.size(); };
  for (const int64_t rank : {0, 1}) {
    const Dataset batches = texts({1, 9, 2, 8, 3, 7, 4}) | batch(4);
    EXPECT_THAT(elements(batches | distribute(2, rank, length)),
                elements(batches | distribute(2, rank, {.cost_field = "length"})));
  }
  const auto padded = [](std::span<const int64_t> row) { return std::count(row.begin(), row.end(), 1); };
  const Dataset rows = range(4) | batch(2) | map([](int64_t x) { return x % 3 == 0 ? 1 : 0; }) | batch(2);
  EXPECT_THAT(elements(rows | distribute(2, 1, [](std::span<const int> row) { return row[1]; })),
              ElementsAre("[1,2][1 0]"));
  EXPECT_THROW(rows | distribute(2, 1, padded), Exception) << "int64 for int32";
}

TEST(Distribute, FailsWhereACostIsNotKnown) {
  const auto cost = [](int64_t x) -> Result<float> {
    if (x == 1) return fail(ErrorKind::DataLoss, "no length");
    return 1.F;
  };
  const Dataset dataset = range(6) | batch(2) | distribute(2, 0, cost, {.name = "length", .version = 3});
  EXPECT_THAT(elements(dataset),
              ElementsAre(HasSubstr("!DataLoss: distribute(world_size=2, rank=0, uneven=wrap, cost=length, version=3), "
                                    "batch, record 0: row 1: no length"),
                          "[2]", "[4]"));
}

TEST(Distribute, BelongsToItsFunction) {
  const auto dataset = [](int version, int64_t rank) {
    return range(12) | batch(4) |
           distribute(2, rank, [version](int64_t x) { return x % version; }, {.name = "part", .version = version});
  };
  EXPECT_FALSE(dataset(2, 0).node()->facts().opaque);
  EXPECT_TRUE((range(4) | batch(2) | distribute(2, 0, [](int64_t x) { return x; })).node()->facts().opaque);
  Sequence sequence(dataset(2, 0));
  (void)sequence.next();
  EXPECT_TRUE(Sequence::restored(dataset(2, 1), {}, sequence.state()));
  EXPECT_FALSE(Sequence::restored(dataset(3, 0), {}, sequence.state())) << "control: another function";
}

TEST(Distribute, ByCostAllRanksTogetherHaveEachElementOnce) {
  const auto squared = [](int64_t x) { return x * x; };
  for (const int64_t world : {2, 3, 8, 64}) {
    std::vector<int64_t> all;
    for (int64_t rank = 0; rank < world; ++rank) {
      const auto own = numbers_of(range(64 * 3 * 5) | shuffle() | batch(64 * 3) | distribute(world, rank, squared));
      EXPECT_EQ(own.size(), static_cast<size_t>(64 * 3 * 5 / world));
      all.insert(all.end(), own.begin(), own.end());
    }
    std::sort(all.begin(), all.end());
    for (size_t i = 0; i < all.size(); ++i) ASSERT_EQ(all[i], static_cast<int64_t>(i)) << world;
  }
}

TEST(Distribute, KeepsTheContract) {
  check_contract(range(23) | batch(4) | distribute(3, 1, {.uneven = UnevenBatch::pad, .cost_field = "0"}));
  check_contract(range(23) | batch(4) | distribute(3, 2, {.uneven = UnevenBatch::pad, .mask_key = "valid"}));
  const auto cost = [](int64_t x) { return x % 5; };
  check_contract(range(23) | batch(4) | distribute(3, 1, cost, {.uneven = UnevenBatch::drop, .name = "fifth"}));

  for (const UnevenBatch policy : {UnevenBatch::drop, UnevenBatch::pad, UnevenBatch::wrap}) {
    check_contract(range(23) | batch(4) | distribute(3, 1, policy));
    check_contract(range(23) | as_stream() | batch(4) | distribute(3, 2, policy));
    check_contract(range(0) | batch(4) | distribute(3, 0, policy));
  }
}

TEST(Distribute, RefusesWhatItCannotShare) {
  for (const auto& [world, rank] : std::vector<std::pair<int64_t, int64_t>>{{0, 0}, {2, 2}, {2, -1}}) {
    EXPECT_THROW((void)distribute(world, rank), Exception);
  }
  EXPECT_THROW((void)distribute(2, 0, static_cast<UnevenBatch>(3)), Exception);
  EXPECT_THROW((void)(range(3) | distribute(2, 0)), Exception);
  for (const std::string name : {"none", "text"}) {
    EXPECT_THROW((void)(texts({1}) | batch(2) | distribute(2, 0, {.cost_field = name})), Exception) << name;
  }
  const auto cost = [](int64_t x) { return x; };
  EXPECT_THROW((void)distribute(2, 0, cost, {.cost_field = "0"}), Exception) << "two costs";
  EXPECT_THROW((void)(range(3) | distribute(2, 0, cost)), Exception);
  EXPECT_THROW((void)(range(3) | batch(2) | distribute(2, 0, [](int64_t) { return std::string("x"); })), Exception);
  const auto ragged = [](int64_t) {
    const std::vector<int64_t> three = {1, 2, 3};
    return std::tuple(Tensor::from(std::span(three).first(2), {2}), Tensor::from(std::span(three), {3}));
  };
  const Spec two = {{"a", DType::i64, {kUnknown}}, {"b", DType::i64, {kUnknown}}};
  EXPECT_THAT(elements(range(1) | map(ragged, {.output = two}) | distribute(2, 0)),
              ElementsAre(HasSubstr("field 1 has 3 rows, the first field has 2")));
}

}  // namespace
}  // namespace headpond::internal
