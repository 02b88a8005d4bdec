// SPDX-License-Identifier: Apache-2.0
// HEADPOND_PLANS sets another number of pipelines; each is named by its number, from which it follows.
#include <cstdlib>
#include <map>

#include "headpond/dataset/dataset_test_internal.h"
#include "headpond/dataset/random_plan_test_internal.h"

namespace headpond::internal {
namespace {

TEST(RandomPlans, KeepTheContract) {
  const char* const given = std::getenv("HEADPOND_PLANS");
  const uint64_t plans = given == nullptr ? 500 : static_cast<uint64_t>(std::atoll(given));
  std::map<std::string, int> met;
  for (uint64_t number = 0; number < plans; ++number) {
    Random random(number);
    const Dataset plan = random_plan(random, 1 + static_cast<int>(random.below(8)));
    std::string text = plan.plan();
    SCOPED_TRACE(fmt::format("plan {}:\n{}", number, text));
    check_contract(plan, {.seed = number, .epochs = 2});
    if (HasFailure()) return;
    for (size_t at = 0; at < text.size(); at = text.find('\n', at) + 1) {
      at = text.find_first_not_of(' ', at);
      ++met[text.substr(at, text.find('(', at) - at)];
    }
  }
  for (const auto& [op, count] : met) std::cout << op << " " << count << "\n";
  EXPECT_GE(met.size(), 17U) << "some operators were never met";
}

}  // namespace
}  // namespace headpond::internal
