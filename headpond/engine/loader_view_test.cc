// SPDX-License-Identifier: Apache-2.0
#include "headpond/engine/loader_view.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <thread>

#include "headpond/dataset/ops.h"
#include "headpond/engine/loader.h"

namespace headpond {
namespace {

TEST(LoaderView, SaysWhatTheLoaderSays) {
  Loader loader(range(40) | batch(4), {.threads = 1});
  const LoaderView view = loader.view();
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(loader.next());
  EXPECT_EQ(view.stats().batches, 3);
  EXPECT_EQ(view.stats().stages.at(0).name, "range|batch");
  EXPECT_EQ(view.diagnose().findings, loader.diagnose().findings);
  EXPECT_EQ(view.plan(), (range(40) | batch(4)).plan());
  EXPECT_FALSE(view.is_gone());
}

TEST(LoaderView, KeepsTheFiguresOfALoaderThatIsGone) {
  std::optional<LoaderView> view;
  {
    Loader loader(range(40) | batch(4), {.threads = 1});
    view = loader.view();
    for (int i = 0; i < 5; ++i) ASSERT_TRUE(loader.next());
  }
  EXPECT_TRUE(view->is_gone());
  const LoaderStats stats = view->stats();
  EXPECT_EQ(stats.batches, 5);
  ASSERT_EQ(stats.stages.size(), 1U);
  EXPECT_GE(stats.stages[0].units, 5);
  EXPECT_FALSE(view->diagnose().findings.empty());
}

TEST(LoaderView, FollowsALoaderThatIsMoved) {
  Loader loader(range(40) | batch(4), {.threads = 1});
  const LoaderView view = loader.view();
  Loader other = std::move(loader);
  ASSERT_TRUE(other.next());
  EXPECT_EQ(view.stats().batches, 1);
  other = Loader(range(4) | batch(4), {.threads = 1});
  EXPECT_TRUE(view.is_gone());
}

// A dataset that is read at two places of a plan has a buffer at each, which count together.
TEST(LoaderView, HasEachStageOnce) {
  const Dataset numbers = range(400) | filter([](int64_t x) { return x > 0; }) | shuffle({.window = 5});
  Loader loader(zip({numbers, numbers}), {.threads = 2});
  const LoaderView view = loader.view();
  int64_t buffers = 0;
  for (int i = 0; i < 200; ++i) {
    ASSERT_TRUE(loader.next());
    std::map<std::string, int64_t> times;
    for (const StageStats& stage : view.stats().stages) buffers = std::max(buffers, ++times[stage.name]);
  }
  EXPECT_EQ(buffers, 1);
}

TEST(LoaderView, HasTheLastSteps) {
  Loader loader(range(4000) | batch(4), {.threads = 1});
  const LoaderView view = loader.view();
  for (int i = 0; i < 900; ++i) ASSERT_TRUE(loader.next());
  const RecentSteps recent = view.recent_steps();
  EXPECT_EQ(recent.steps.size(), 512U);
  EXPECT_GT(recent.counted, 512);
  EXPECT_LT(recent.counted, 900) << "the start, and the step that has not ended, are left out";
}

TEST(LoaderView, AfterCloseTheFiguresStay) {
  Loader loader(range(40) | batch(4), {.threads = 1});
  const LoaderView view = loader.view();
  ASSERT_TRUE(loader.next());
  loader.close();
  EXPECT_FALSE(view.is_gone());
  EXPECT_EQ(view.stats().batches, 1);
}

TEST(LoaderView, ManyThreadsMayAskWhileTheLoaderEnds) {
  for (int round = 0; round < 8; ++round) {
    std::optional<Loader> loader(std::in_place, range(400) | batch(4), LoaderOptions{.threads = 1});
    std::jthread asks([view = loader->view()](const std::stop_token& stop) {
      while (!stop.stop_requested()) {
        const bool was_gone = view.is_gone();
        EXPECT_TRUE(!was_gone || view.stats().batches == 2);
        (void)view.diagnose();
      }
    });
    for (int i = 0; i < 2; ++i) ASSERT_TRUE(loader->next());
    loader.reset();
  }
}

}  // namespace
}  // namespace headpond
