// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "headpond/engine/executor/prefetcher_internal.h"
#include "headpond/engine/testing/engine_test_internal.h"

namespace headpond::internal {
namespace {

class Nothing final : public Iterator {
 public:
  Got next(Context&, Element&) override { return Got::end; }
  void visit_state(StateVisitor&) override {}
};

struct Scene {
  EngineLock lock;
  Prefetcher prefetcher;
  const Dataset inner = range(3), outer = range(3) | batch(2);

  Prefetcher::Dropped expect(uint64_t epoch, const Dataset& dataset) HEADPOND_REQUIRES(engine_state) {
    return prefetcher.expect(epoch, *dataset.node(), {.seed = 0, .epoch = epoch});
  }
  bool open_next() HEADPOND_REQUIRES(engine_state) {
    if (!prefetcher.has_next()) return false;
    prefetcher.begin();
    EXPECT_TRUE(prefetcher.finish(std::make_unique<Nothing>()).empty());
    return true;
  }
  bool has(uint64_t epoch, const Dataset& dataset) HEADPOND_REQUIRES(engine_state) {
    return prefetcher.take(*dataset.node(), {.seed = 0, .epoch = epoch}, false, lock).iterator != nullptr;
  }
};

TEST(Prefetcher, GivesWhatWasOpenedOnce) {
  Scene scene;
  const Locked locked(scene.lock);
  EXPECT_FALSE(scene.prefetcher.has_next());
  EXPECT_TRUE(scene.expect(0, scene.inner).empty());
  EXPECT_TRUE(scene.open_next());
  EXPECT_FALSE(scene.open_next());
  EXPECT_FALSE(scene.has(1, scene.inner)) << "another epoch's";
  EXPECT_TRUE(scene.has(0, scene.inner));
  EXPECT_FALSE(scene.has(0, scene.inner));
}

TEST(Prefetcher, OpensWhatIsNestedFirst) {
  Scene scene;
  const Locked locked(scene.lock);
  EXPECT_TRUE(scene.expect(0, scene.outer).empty());
  EXPECT_TRUE(scene.expect(0, scene.inner).empty());
  EXPECT_EQ(scene.prefetcher.begin()->node, scene.inner.node().get());
  EXPECT_TRUE(scene.prefetcher.finish(nullptr).size() == 1U);
  EXPECT_EQ(scene.prefetcher.begin()->node, scene.outer.node().get());
}

TEST(Prefetcher, OpensOneAtATimeAndTwoAtMost) {
  Scene scene;
  const Locked locked(scene.lock);
  const Dataset third = range(4);
  for (const Dataset& dataset : {scene.inner, scene.outer, third}) EXPECT_TRUE(scene.expect(0, dataset).empty());
  scene.prefetcher.begin();
  EXPECT_FALSE(scene.prefetcher.has_next());
  EXPECT_TRUE(scene.prefetcher.finish(std::make_unique<Nothing>()).empty());
  EXPECT_TRUE(scene.open_next());
  EXPECT_FALSE(scene.open_next());
}

TEST(Prefetcher, DropsWhatDidNotCome) {
  Scene scene;
  const Locked locked(scene.lock);
  EXPECT_TRUE(scene.expect(0, scene.inner).empty());
  EXPECT_TRUE(scene.open_next());
  EXPECT_EQ(scene.expect(0, scene.inner).size(), 1U) << "the same node is expected again";
  EXPECT_TRUE(scene.open_next());
  EXPECT_EQ(scene.prefetcher.begin_epoch(1).size(), 1U) << "another epoch began";
  EXPECT_FALSE(scene.has(0, scene.inner));
}

TEST(Prefetcher, DropsWhatIsOpenedTooLate) {
  Scene scene;
  const Locked locked(scene.lock);
  EXPECT_TRUE(scene.expect(0, scene.inner).empty());
  scene.prefetcher.begin();
  EXPECT_TRUE(scene.prefetcher.begin_epoch(1).empty());
  EXPECT_EQ(scene.prefetcher.finish(std::make_unique<Nothing>()).size(), 1U);
}

TEST(Prefetcher, OpensOnceWhatIsExpectedAgainWhileItOpens) {
  Scene scene;
  const Locked locked(scene.lock);
  EXPECT_TRUE(scene.expect(1, scene.inner).empty());
  scene.prefetcher.begin();
  EXPECT_TRUE(scene.prefetcher.begin_epoch(1).empty());
  EXPECT_TRUE(scene.expect(1, scene.inner).empty());
  EXPECT_TRUE(scene.prefetcher.finish(std::make_unique<Nothing>()).empty());
  EXPECT_FALSE(scene.prefetcher.has_next());
  EXPECT_TRUE(scene.has(1, scene.inner));
}

TEST(Prefetcher, DropsWhatOpensForAnEpochThatTheProgramWentBackFrom) {
  for (const bool is_expected_again : {false, true}) {
    Scene scene;
    const Locked locked(scene.lock);
    EXPECT_TRUE(scene.prefetcher.begin_epoch(5).empty());
    EXPECT_TRUE(scene.expect(6, scene.inner).empty());
    scene.prefetcher.begin();
    EXPECT_TRUE(scene.prefetcher.begin_epoch(2).empty());
    if (is_expected_again) {
      EXPECT_TRUE(scene.expect(6, scene.inner).empty());
    }
    EXPECT_EQ(scene.prefetcher.finish(std::make_unique<Nothing>()).size(), 1U);
    EXPECT_EQ(scene.open_next(), is_expected_again);
    EXPECT_EQ(scene.has(6, scene.inner), is_expected_again);
  }
}

TEST(Prefetcher, DropsWhatOpensWhileItsNodeIsExpectedWithAnotherBinding) {
  Scene scene;
  const Locked locked(scene.lock);
  EXPECT_TRUE(scene.expect(0, scene.inner).empty());
  scene.prefetcher.begin();
  EXPECT_TRUE(scene.prefetcher.expect(0, *scene.inner.node(), {.seed = 0, .epoch = 1}).empty());
  EXPECT_EQ(scene.prefetcher.finish(std::make_unique<Nothing>()).size(), 1U);
  EXPECT_TRUE(scene.prefetcher.has_next());
}

TEST(Prefetcher, NobodyWaitsForWhatIsDroppedOnceItIsOpened) {
  Scene scene;
  const Locked locked(scene.lock);
  EXPECT_TRUE(scene.expect(6, scene.inner).empty());
  scene.prefetcher.begin();
  EXPECT_TRUE(scene.prefetcher.begin_epoch(2).empty());
  EXPECT_FALSE(scene.has(6, scene.inner));
}

TEST(Prefetcher, VisitsNoNodeThatIsUsedOftenMoreThanOnce) {
  Scene scene;
  const Locked locked(scene.lock);
  Dataset stacked = range(3);
  for (int i = 0; i < 40; ++i) stacked = stacked | concatenate(stacked);
  EXPECT_TRUE(scene.expect(0, stacked).empty()) << "2^40 uses";
  EXPECT_TRUE(scene.expect(0, scene.inner).empty());
  EXPECT_EQ(scene.prefetcher.begin()->node, scene.inner.node().get());
}

TEST(Prefetcher, WhatIsBeingOpenedIsWaitedForUntilTheEnd) {
  for (const bool stops : {false, true}) {
    Scene scene;
    std::atomic<int> got = -1;
    {
      const Locked locked(scene.lock);
      EXPECT_TRUE(scene.expect(0, scene.inner).empty());
      scene.prefetcher.begin();
    }
    std::thread taking([&] {
      const Locked locked(scene.lock);
      got = scene.has(0, scene.inner) ? 1 : 0;
    });
    pause_ms(20);
    EXPECT_EQ(got, -1);
    {
      const Locked locked(scene.lock);
      stops ? scene.prefetcher.stop() : (void)scene.prefetcher.finish(std::make_unique<Nothing>());
    }
    taking.join();
    EXPECT_EQ(got, stops ? 0 : 1);
  }
}

}  // namespace
}  // namespace headpond::internal
