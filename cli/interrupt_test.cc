// SPDX-License-Identifier: Apache-2.0
#include "cli/interrupt.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <thread>

#include "cli/flags.h"

namespace headpond::cli {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

bool stops_within(const Interrupt& interrupt, seconds limit) {
  const auto end = std::chrono::steady_clock::now() + limit;
  while (!interrupt.requested() && std::chrono::steady_clock::now() < end) std::this_thread::sleep_for(milliseconds(1));
  return interrupt.requested();
}

TEST(Interrupt, ASignalStopsTheToken) {
  for (const int signal : {SIGINT, SIGTERM}) {
    Interrupt interrupt(seconds(60));
    EXPECT_FALSE(interrupt.requested());
    raise(signal);
    EXPECT_TRUE(stops_within(interrupt, seconds(20)));
  }
}

TEST(Interrupt, WithoutASignalItEndsAtOnceAndGivesTheSignalsBack) {
  struct sigaction before {
  }, after{};
  sigaction(SIGINT, nullptr, &before);
  { const Interrupt interrupt; }
  sigaction(SIGINT, nullptr, &after);
  EXPECT_EQ(before.sa_handler, after.sa_handler);
}

using InterruptDeathTest = testing::Test;

TEST(InterruptDeathTest, ASecondSignalEndsTheProgramAtOnce) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(
      {
        Interrupt interrupt(seconds(60));
        raise(SIGINT);
        raise(SIGINT);
        std::this_thread::sleep_for(seconds(60));
      },
      testing::ExitedWithCode(kInterrupted), "");
}

TEST(InterruptDeathTest, AProgramThatIsStuckEndsAfterItsPatienceWithItsLastWords) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(
      {
        Interrupt interrupt(milliseconds(50));
        interrupt.set_last_words([] { std::fputs("files closed\n", stderr); });
        raise(SIGTERM);
        std::this_thread::sleep_for(seconds(60));
      },
      testing::ExitedWithCode(kInterrupted), "files closed");
}

}  // namespace
}  // namespace headpond::cli
