// SPDX-License-Identifier: Apache-2.0
#include "headpond/dataset/progress/at_element.h"

#include <array>
#include <numeric>

#include "headpond/dataset/testing/dataset_test_internal.h"

namespace headpond::internal {
namespace {

using testing::Each;
using testing::ElementsAre;

// What this thread says while it reads `dataset`, at each call of a function that says it.
class Said {
 public:
  std::vector<std::string> of(const Dataset& dataset) {
    known_.clear();
    for (const Node* node = dataset.node().get();; node = &node->input()) {
      known_.insert(node);
      if (node->facts().inputs.empty()) break;
    }
    said_.clear();
    (void)elements(dataset);
    EXPECT_EQ(here_.op, nullptr) << "it is in no operator any more";
    return said_;
  }
  int64_t note(int64_t x) {
    said_.push_back(now());
    return x;
  }
  std::string now() const { return to_string(here_, known_); }
  const std::vector<std::string>& all() const { return said_; }
  /// As if the operators were those of a dataset that a function made.
  void forget_nodes() { known_.clear(); }

 private:
  ElementHere here_;
  const ShownElement shown_{here_};
  std::set<const Node*> known_;
  std::vector<std::string> said_;
};

TEST(AtElement, NamesTheOperatorAndTheElementThatAFunctionWorksOn) {
  Said said;
  const auto look = [&](const Tensor& x) { return said.note(x.item<int64_t>()); };
  EXPECT_THAT(said.of(range(5, 7) | map(look, {.output = {{"", i64, {}}}, .name = "looks"})),
              ElementsAre("map(looks, version=0), range, record 0", "map(looks, version=0), range, record 1"));
  EXPECT_THAT(said.of(range(1) | as_stream() |
                      filter([&](const Tensor& x) { return said.note(x.item<int64_t>()) == 0; }, {.name = "looks"})),
              ElementsAre(testing::StartsWith("filter(looks, version=0), ")));
  const auto generator = [&](uint64_t) -> Generator {
    return [&, next = int64_t{0}]() mutable -> Result<std::optional<Element>> {
      if (next == 2) return std::nullopt;
      return Element{Tensor::scalar(said.note(next++))};
    };
  };
  EXPECT_THAT(said.of(from_generator(generator, {{"", i64, {}}}, {.name = "wire"})),
              ElementsAre("from_generator(wire, version=0), wire, record 0",
                          "from_generator(wire, version=0), wire, record 1"));
}

TEST(AtElement, NamesThePositionsThatAFunctionOfValuesWorksOn) {
  Said said;
  const Dataset inner = range(40) | map([&](int64_t x) { return said.note(x); }, {.name = "inner"});
  const Dataset outer = inner | map([&](int64_t x) { return said.note(x); }, {.name = "outer"});
  (void)said.of(outer);
  std::vector<std::byte> values(40 * sizeof(int64_t));
  const std::array<int64_t, 3> positions = {7, 8, 9};
  std::vector<std::string> filled;
  const auto fill = [&](std::span<const int64_t> at) {
    const size_t before = said.all().size();
    Context context;
    const OutputSlot slot{values.data(), outer.spec().data()};
    EXPECT_TRUE(outer.node()->bind({})->fill(at, context, {&slot, 1}, nullptr));
    filled = {said.all().at(before), said.all().back()};
  };
  fill(positions);
  EXPECT_THAT(filled,
              ElementsAre("map(inner, version=0), positions 7 to 9", "map(outer, version=0), positions 7 to 9"));
  fill(std::span(positions).first(1));
  EXPECT_THAT(filled, ElementsAre("map(inner, version=0), position 7", "map(outer, version=0), position 7"));
}

TEST(AtElement, SaysHowManyPositionsThereAreIfTheyDoNotFollowEachOther) {
  const Dataset source = range(40);
  ElementHere here;
  const ShownElement shown(here);
  const auto said = [&](const std::vector<int64_t>& positions) {
    const AtElement at(*source.node(), positions);
    return to_string(here, {source.node().get()}).substr(source.node()->title().size());
  };
  EXPECT_EQ(said({9, 3, 38}), ", 3 positions that are not consecutive, the first is 9");
  EXPECT_EQ(said({9, 1}), ", 2 positions that are not consecutive, the first is 9");
  EXPECT_EQ(said({4, 7, 5, 6, 8}), ", 5 positions that are not consecutive, the first is 4");
  EXPECT_EQ(said({0, 2, 4}), ", 3 positions that are not consecutive, the first is 0");
  EXPECT_EQ(said({4, 5, 6, 7, 8}), ", positions 4 to 8");
}

TEST(AtElement, BelowAShuffleNamesNoRangeOfPositions) {
  Said said;
  const Dataset inner = range(40) | map([&](int64_t x) { return said.note(x); }, {.name = "inner"});
  const Dataset shuffled = inner | shuffle();
  (void)said.of(inner);
  std::vector<std::byte> values(40 * sizeof(int64_t));
  std::vector<int64_t> positions(40);
  std::iota(positions.begin(), positions.end(), 0);
  Context context;
  const OutputSlot slot{values.data(), shuffled.spec().data()};
  EXPECT_TRUE(shuffled.node()->bind({})->fill(positions, context, {&slot, 1}, nullptr));
  EXPECT_THAT(said.all().back(),
              testing::StartsWith("map(inner, version=0), 40 positions that are not consecutive, the first is "));
}

TEST(AtElement, GivesNoNameOfAnOperatorThatMayBeGone) {
  Said said;
  const auto look = [&](const Tensor& x) {
    said.forget_nodes();
    return said.note(x.item<int64_t>());
  };
  EXPECT_THAT(said.of(range(3) | map(look, {.output = {{"", i64, {}}}, .name = "looks"})), Each(""));
  EXPECT_EQ(said.now(), "");
}

TEST(AtElement, IsInTheOuterOperatorAgainAfterAnInnerOne) {
  const Dataset outer = range(3), inner = range(4);
  const std::set<const Node*> known = {outer.node().get(), inner.node().get()};
  ElementHere here;
  const ShownElement shown(here);
  {
    const AtElement in_outer(*outer.node(), std::array<int64_t, 4>{5, 6, 7, 8});
    { const AtElement in_inner(*inner.node(), 17, {}); }
    EXPECT_THAT(to_string(here, known), testing::EndsWith(", positions 5 to 8"));
  }
  EXPECT_EQ(to_string(here, known), "");
}

}  // namespace
}  // namespace headpond::internal
