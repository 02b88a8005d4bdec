// SPDX-License-Identifier: Apache-2.0
#include "headpond/dataset/bases/batching.h"
#include "headpond/dataset/ops/regroup/regroup_test_internal.h"
#include "headpond/dataset/ops/regroup/window_runs_internal.h"

namespace headpond::internal {
namespace {

using testing::HasSubstr;

std::vector<Element> numbers(int64_t count) {
  std::vector<Element> all;
  for (int64_t i = 0; i < count; ++i) all.push_back(Element{Tensor::scalar(i)});
  return all;
}

TEST(WindowOf, GivesItsElements) {
  const Dataset window = window_of({{"", DType::i64, {}}}, numbers(3));
  EXPECT_THAT(elements(window), testing::ElementsAre("0", "1", "2"));
  check_contract(window);
  EXPECT_EQ(steps_of(window | batch(2)), "elements() | batch(batch_size=2, drop_remainder=false)");
  EXPECT_EQ(role_of(window | batch(2) | take(1)), Role::batch);
  EXPECT_EQ(role_of(window | take(1)), Role::other);
  EXPECT_FALSE(has_opaque(*(window | batch(2)).node()));
  EXPECT_TRUE(has_opaque(*(window | filter([](int64_t) { return true; }) | batch(2)).node()));
}

TEST(HasOpaque, LooksAtEachNodeOnceHoweverOftenItIsUsed) {
  const auto stacked = [](const std::string& name) {
    Dataset high = window_of({{"", DType::i64, {}}}, numbers(3)) | filter([](int64_t) { return true; }, {.name = name});
    for (int i = 0; i < 40; ++i) {
      high = zip({high, high}) | map([](int64_t first, int64_t) { return first; }, {.name = "first"});
    }
    return high;
  };
  EXPECT_FALSE(has_opaque(*stacked("all").node()));
  EXPECT_TRUE(has_opaque(*stacked("").node())) << "control";
}

TEST(WindowRuns, CloseAfterTheLastElement) {
  const Dataset all = window_of({{"", DType::i64, {}}}, numbers(3));
  const auto make = [&] { return all; };
  Context context;
  WindowRuns runs(*all.node(), {});
  std::string state;
  for (int64_t window = 0; window < 2; ++window) {
    ASSERT_EQ(runs.open(make, context), Got::value);
    for (int64_t i = 0; i < 3; ++i) {
      EXPECT_TRUE(runs.is_open());
      Element out;
      ASSERT_EQ(runs.next(context, out), Got::value);
      EXPECT_EQ(text_of(out), fmt::format("{}", i));
      EXPECT_EQ(out.key, mix(batch_key(window), 0));
      EXPECT_EQ(to_string(out.provenance), fmt::format("elements, record {}", window));
      StateVisitor visitor;
      runs.visit_state(visitor);
      if (window == 1 && i == 1) state = visitor.saved();
    }
    EXPECT_FALSE(runs.is_open());
  }
  WindowRuns restored(*all.node(), {});
  StateVisitor visitor = StateVisitor::restoring(state);
  restored.visit_state(visitor);
  ASSERT_TRUE(visitor.complete());
  ASSERT_EQ(restored.open(make, context), Got::value);
  Element out;
  ASSERT_EQ(restored.next(context, out), Got::value);
  EXPECT_EQ(text_of(out), "2");
  EXPECT_EQ(out.key, mix(batch_key(1), 0));
}

TEST(WindowRuns, NameTheWindowInErrors) {
  const Dataset all = window_of({{"", DType::i64, {}}}, numbers(1));
  Context context;
  WindowRuns runs(*all.node(), {});
  EXPECT_EQ(runs.open([]() -> Dataset { throw std::runtime_error("no"); }, context), Got::error);
  EXPECT_EQ(context.error.message(), "elements(), window 0: no");
  EXPECT_FALSE(runs.is_open());
  ASSERT_EQ(runs.open([&] { return all | batch(1); }, context), Got::value);
  Element out;
  EXPECT_EQ(runs.next(context, out), Got::error);
  EXPECT_THAT(context.error.message(), HasSubstr("elements(), window 1: expected {0: int64[]}, found {0: int64[1]}"));
}

}  // namespace
}  // namespace headpond::internal
