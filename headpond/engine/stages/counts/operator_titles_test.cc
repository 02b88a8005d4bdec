// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include "headpond/dataset/ops.h"
#include "headpond/engine/stages/counts/operator_titles_internal.h"

namespace headpond::internal {
namespace {

std::vector<std::string> titles(const Dataset& dataset) {
  std::vector<const Node*> nodes;
  for (const Node* node = dataset.node().get();; node = &node->input()) {
    nodes.insert(nodes.begin(), node);
    if (node->facts().inputs.empty()) break;
  }
  std::vector<OperatorCost> operators(nodes.size());
  set_titles(nodes, operators);
  std::vector<std::string> all;
  all.reserve(operators.size());
  for (const OperatorCost& one : operators) all.push_back(one.title);
  return all;
}

Step same(const std::string& name = "", int version = 0) {
  return map([](int64_t x) { return x; }, {.name = name, .version = version});
}

TEST(OperatorTitles, HaveTheFunctionsNameAndTheArguments) {
  EXPECT_THAT(titles(range(9) | same("decode") | same("augment", 2) | same() | shuffle() | cache()),
              testing::ElementsAre("range(start=0, stop=9, step=1)", "map(decode)", "map(augment, version=2)", "map",
                                   "shuffle(window=all)", "cache"));
}

TEST(OperatorTitles, NumberThoseThatAreAlike) {
  const Step s = same();
  EXPECT_THAT(titles(range(9) | s | same("decode") | s | s),
              testing::ElementsAre("range(start=0, stop=9, step=1)", "map, the 1st of 3", "map(decode)",
                                   "map, the 2nd of 3", "map, the 3rd of 3"));
  EXPECT_THAT(titles(range(9) | s | same("decode")),
              testing::ElementsAre("range(start=0, stop=9, step=1)", "map", "map(decode)"))
      << "control: nothing is alike";
  Dataset many = range(9);
  for (int i = 0; i < 23; ++i) many = many | s;
  const std::vector<std::string> all = titles(many);
  EXPECT_EQ(all.at(11), "map, the 11th of 23");
  EXPECT_EQ(all.at(21), "map, the 21st of 23");
  EXPECT_EQ(all.at(22), "map, the 22nd of 23");
}

TEST(OperatorTitles, OfOperatorsWithoutANodeStayEmpty) {
  std::vector<OperatorCost> operators(2);
  const Dataset dataset = range(9);
  set_titles({dataset.node().get()}, operators);
  EXPECT_EQ(operators[0].title, "range(start=0, stop=9, step=1)");
  EXPECT_EQ(operators[1].title, "");
}

}  // namespace
}  // namespace headpond::internal
