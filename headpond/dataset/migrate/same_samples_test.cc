// SPDX-License-Identifier: Apache-2.0
#include "headpond/dataset/migrate/same_samples_internal.h"
#include "headpond/dataset/testing/dataset_test_internal.h"

namespace headpond::internal {
namespace {

using testing::HasSubstr;

std::string differ(const Dataset& then, const Dataset& now) { return samples_differ(*then.node(), *now.node()); }

Step map_named(const std::string& name) {
  return map([](int64_t x) { return x; }, {.name = name});
}
Step filter_named(const std::string& name) {
  return filter([](int64_t x) { return x > 1; }, {.name = name});
}

TEST(SameSamples, StayUnderOneToOneOperators) {
  const Dataset source = range(9);
  const Step order = shuffle();
  EXPECT_EQ(differ(source | order, source | map_named("a") | order | map_named("b")), "");
  EXPECT_EQ(differ(source | filter_named("a") | order, source | filter_named("b") | order | prefetch()), "");
  EXPECT_EQ(differ(source | order | repeat(2), source | map_named("a") | order | repeat(2)), "");
  EXPECT_EQ(differ(mix({source, source}) | take(3), mix({source | map_named("a"), source}) | take(3)), "");
  EXPECT_EQ(differ(source, source | cache() | enumerate()), "");
}

TEST(SameSamples, DifferWithOrderDrawsAndSources) {
  const Dataset source = range(9);
  EXPECT_THAT(differ(source | shuffle(), source | shuffle({.name = "b"})), HasSubstr("name=b"));
  EXPECT_THAT(differ(source | shuffle(), range(8) | shuffle()), HasSubstr("shuffle(window=all) has another input"));
  EXPECT_THAT(differ(source | shuffle() | map_named("a"), source | shuffle() | cache() | map_named("a")),
              HasSubstr("cache"))
      << "below a cache each epoch is the first";
  EXPECT_THAT(differ(source | shuffle(), source | random_u32({.name = "shuffle"}) | shuffle()),
              HasSubstr("shuffle(window=all) draws other numbers"));
  const auto twice = [](int64_t x) { return range(x, x + 2); };
  EXPECT_THAT(differ(source | flat_map(twice, {.name = "n"}), source | map_named("a") | flat_map(twice, {.name = "n"})),
              HasSubstr("may depend on its input"));
}

TEST(SameSamples, NoticeOtherDataUnderTheSameName) {
  class Files final : public Node {
   public:
    Files(const std::string& location, const std::string& data)
        : Node({.op = "files", .location = location, .data = data}) {}
  };
  const auto files = [](const std::string& location, const std::string& data) {
    return Dataset(std::make_shared<Files>(location, data)) | take(3);
  };
  const Dataset three = files("'a-*'", "files=3"), four = files("'a-*'", "files=4"), moved = files("'b-*'", "files=3");
  EXPECT_EQ(changed_source(*three.node(), *four.node()),
            "files('a-*', files=4) was files('a-*', files=3) when the state was saved");
  EXPECT_EQ(changed_source(*three.node(), *moved.node()), "");
  EXPECT_EQ(differ(three, moved), "") << "data may move";
  EXPECT_THAT(differ(three | shuffle(), four | shuffle()), HasSubstr("files=3"));
}

// Where each use was looked at this would not end.
TEST(SameSamples, LooksAtEachNodeOnceHoweverOftenItIsUsed) {
  const auto stacked = [](int64_t count, const std::string& name) {
    Dataset high = range(count) | shuffle();
    for (int i = 0; i < 40; ++i) {
      high = zip({high, high}) | map([](int64_t first, int64_t) { return first; }, {.name = name});
    }
    return high;
  };
  const Dataset one = stacked(9, "a"), same = stacked(9, "a"), renamed = stacked(9, "b"), other = stacked(8, "a");
  EXPECT_TRUE(are_same(*one.node(), *same.node()));
  EXPECT_FALSE(are_same(*one.node(), *renamed.node())) << "control";
  EXPECT_EQ(differ(one, renamed), "");
  EXPECT_THAT(differ(one, other), HasSubstr("shuffle(window=all) has another input")) << "control";
  EXPECT_TRUE(gives_samples(*one.node()));
  EXPECT_FALSE(gives_samples(*zip({one | batch(2), one | batch(2)}).node())) << "control";
  EXPECT_FALSE(keeps_positions(*(one | cache()).node())) << "it draws";
  EXPECT_EQ(changed_source(*one.node(), *other.node()), "");
}

TEST(SameSamples, AreThoseOfEqualTrees) {
  const auto tree = [](int64_t count) { return concatenate({range(3), range(5) | take(count)}) | batch(2); };
  EXPECT_TRUE(are_same(*tree(2).node(), *tree(2).node()));
  EXPECT_FALSE(are_same(*tree(2).node(), *tree(3).node()));
  EXPECT_EQ(sources_of(*tree(2).node()), sources_of(*tree(3).node()));
  EXPECT_EQ(chain_of(*(tree(2) | take(1)).node()),
            "concatenate(inputs=2) | batch(batch_size=2, drop_remainder=false) | take(count=1)");
}

}  // namespace
}  // namespace headpond::internal
