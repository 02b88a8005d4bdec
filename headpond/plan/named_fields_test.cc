// SPDX-License-Identifier: Apache-2.0
#include "headpond/plan/named_fields.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "headpond/dataset/migrate/migrate.h"
#include "headpond/dataset/ops.h"
#include "headpond/dataset/sequence.h"

namespace headpond::plan {
namespace {

std::vector<int64_t> values(const Dataset& dataset, const std::string& field) {
  Sequence sequence(dataset);
  std::vector<int64_t> all;
  for (auto next = sequence.next(); next; next = sequence.next()) all.push_back((*next)[field].as<int64_t>()[0]);
  return all;
}

TEST(NamedFields, RenamedIsTheSameUnderOtherNames) {
  const Dataset one = renamed(range(3), {"a"});
  EXPECT_EQ(to_string(one.spec()), "{'a': int64[]}");
  EXPECT_THAT(values(one, "a"), testing::ElementsAre(0, 1, 2));
  EXPECT_EQ(one.plan(), "range(start=0, stop=3, step=1)\nrename(a)\n");
  const Dataset sparse = renamed(range(5) | filter([](int64_t x) { return x % 2 == 1; }), {"a"});
  EXPECT_EQ(sparse.kind(), Kind::sparse);
  EXPECT_THAT(values(sparse, "a"), testing::ElementsAre(1, 3));
  const Dataset stream = renamed(sparse | take(1), {"b"});
  EXPECT_EQ(stream.kind(), Kind::stream);
  EXPECT_THAT(values(stream, "b"), testing::ElementsAre(1));
  EXPECT_THROW(renamed(range(3) | enumerate(), {"a", "a"}), Exception);
}

TEST(NamedFields, ARestoredRunGoesOn) {
  const Dataset dataset =
      renamed(range(9) | filter([](int64_t x) { return x % 2 == 1; }) | take(4), {"a"}) | shuffle(2);
  Sequence whole(dataset), part(dataset);
  for (int i = 0; i < 2; ++i) EXPECT_TRUE(whole.next() && part.next());
  auto rest = Sequence::restored(dataset, {}, part.state());
  ASSERT_TRUE(rest);
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ((*whole.next())["a"].as<int64_t>()[0], (*rest->next())["a"].as<int64_t>()[0]);
  }
}

// A plan that names the field of its source, or another number of its fields, reads the same samples.
TEST(NamedFields, APlanMayBeginOrEndToNameItsFields) {
  const Dataset bare = range(8) | batch(2), drawn = named(range(8)) | random_u32({.field = "u"}) | batch(2),
                numbered = named(range(8)) | enumerate() | batch(2);
  const auto first_left = [](const Dataset& then, const Dataset& now) -> std::string {
    Sequence old(then);
    (void)old.next();
    const auto migrated = migrate(old.state(), then, now);
    if (!migrated) return migrated.error().to_string();
    const auto next = Sequence::restored(now, {}, migrated->state)->next();
    return std::to_string(
        (*next)[size_t{now.spec().size() == 1 || now.spec()[0].name == "x" ? 0U : 1U}].as<int64_t>()[0]);
  };
  for (const auto& [then, now] : {std::pair(bare, drawn), std::pair(drawn, bare), std::pair(bare, numbered),
                                  std::pair(numbered, bare), std::pair(drawn, numbered)}) {
    EXPECT_EQ(first_left(then, now), "2") << now.plan();
  }
  EXPECT_EQ(first_left(range(8) | filter([](int64_t x) { return x > 0; }) | take(6) | batch(2),
                       named(range(8) | filter([](int64_t x) { return x > 0; }) | take(6)) | batch(2)),
            "3")
      << "also of a stream";
}

TEST(NamedFields, InputsStayUnnamedIfNoneHasNames) {
  const Dataset one = range(3), pair = zip({range(3), range(3)});
  const std::vector<std::pair<std::string, Dataset>> bare = {{"a", one}, {"b", one}}, pairs = {{"a", pair}},
                                                     mixed = {{"a", one}, {"b", renamed(one, {"x"})}};
  EXPECT_EQ(alike(bare)[1].node(), one.node());
  EXPECT_EQ(alike(pairs)[0].node(), pair.node());
  EXPECT_EQ(to_string(alike(mixed)[0].spec()), "{'x': int64[]}");
  EXPECT_EQ(alike(mixed)[1].node(), mixed[1].second.node());
}

TEST(NamedFields, NamesAreGivenOnlyWhereTheyAreMissing) {
  const Dataset has = renamed(range(3), {"a"});
  EXPECT_EQ(named(has).node(), has.node());
  EXPECT_EQ(to_string(named(range(3)).spec()), "{'x': int64[]}");
  EXPECT_THAT(shown_names({{"", i64, {}}}), testing::ElementsAre("x"));
  EXPECT_THAT(shown_names({{"a", i64, {}}, {"", i64, {}}}), testing::ElementsAre("a", "x"));
  EXPECT_EQ(library_name(range(3).spec(), "x"), "");
  EXPECT_EQ(library_name(range(3).spec(), "y"), "y");
  EXPECT_EQ(library_name(has.spec(), "x"), "x");
}

TEST(NamedFields, SeveralWithoutNamesAreCalledByTheirPositions) {
  EXPECT_THAT(shown_names({{"", i64, {}}, {"", i64, {}}}), testing::ElementsAre("0", "1"));
  EXPECT_THAT(shown_names({{"x", i64, {}}, {"", i64, {}}}), testing::ElementsAre("x", "1"));
  EXPECT_THAT(shown_names({{"", i64, {}}, {"a", i64, {}}, {"", i64, {}}}), testing::ElementsAre("0", "a", "2"));
  const Dataset pair = zip({range(2), range(5, 7)});
  EXPECT_EQ(to_string(named(pair).spec()), "{'0': int64[], '1': int64[]}");
  EXPECT_EQ(renamed(pair, {"", ""}).plan(), pair.plan() + "rename()\n");
  EXPECT_THROW(named(zip({renamed(range(2), {"1"}), range(2), renamed(range(2), {"x"})})), Exception);
  EXPECT_FALSE(has_names(pair.spec()));
  EXPECT_TRUE(has_names(zip({range(2), renamed(range(2), {"x"})}).spec()));
}

}  // namespace
}  // namespace headpond::plan
