// SPDX-License-Identifier: Apache-2.0
// HEADPOND_PLANS sets another number of pipelines; each is named by its number, from which it follows.
#include <cstdlib>
#include <map>

#include "headpond/dataset/testing/dataset_test_internal.h"
#include "headpond/dataset/testing/random_plan_test_internal.h"
#include "tests/test_files.h"

namespace headpond::internal {
namespace {

// Counts the operators of a plan that fill columns, and holds each of them to what at() gives.
void check_fills(const Node& node, uint64_t seed, std::map<std::string, int>& filled) {
  if (fills(node)) {
    EXPECT_EQ(fill_difference(node, *node.bind({seed, 0}), seed), "") << node.facts().op;
    ++filled[node.facts().op];
  }
  for (const Node::Ref& input : node.facts().inputs) check_fills(*input, seed, filled);
}

TEST(RandomPlans, KeepTheContract) {
  const char* const given = std::getenv("HEADPOND_PLANS");
  const uint64_t plans = given == nullptr ? test::quick_or(150, 300) : static_cast<uint64_t>(std::atoll(given));
  std::map<std::string, int> met, filled;
  size_t costs = 0;
  for (uint64_t number = 0; number < plans; ++number) {
    Random random(number);
    const Dataset plan = random_plan(random, 1 + static_cast<int>(random.below(8)));
    std::string text = plan.plan();
    SCOPED_TRACE(fmt::format("plan {}:\n{}", number, text));
    const bool ignores =
        text.find("ignore_errors(") != std::string::npos || text.find("on_error(") != std::string::npos;
    EXPECT_EQ(sequence_violation(plan, {.seed = number, .may_ignore_errors = ignores}), "");
    check_fills(*plan.node(), number, filled);
    if (HasFailure()) return;
    costs += test::times_in(text, "cost_field=");
    for (size_t at = 0; at < text.size(); at = text.find('\n', at) + 1) {
      at = text.find_first_not_of(' ', at);
      ++met[text.substr(at, text.find('(', at) - at)];
    }
  }
  for (const auto& [op, count] : met) std::cout << op << " " << count << ", filled " << filled[op] << "\n";
  EXPECT_GE(met.size(), 18U) << "some operators were never met";
  EXPECT_GT(costs, 0U) << "distribute never shared by costs";
  for (const char* const op :
       {"add_noise", "concatenate", "enumerate", "from_tensor_slices", "idx", "map", "random_flip", "random_u32",
        "range", "repeat", "shard", "shuffle", "skip", "take", "zip"}) {
    EXPECT_GT(filled[op], 0) << op;
  }
}

}  // namespace
}  // namespace headpond::internal
