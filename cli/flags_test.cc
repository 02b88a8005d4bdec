// SPDX-License-Identifier: Apache-2.0
#include "cli/flags.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <optional>

namespace headpond::cli {
namespace {

using testing::ElementsAre;

// What `set` of the only declared flag expects instead of `text`; "" if it took it.
std::string expected(const Flags& flags, const std::string& text) { return flags.all().back().set(text); }

TEST(Flags, TakeTheirNameAndPlaceholderFromTheSpec) {
  Flags flags;
  int64_t count = 0;
  double rate = 0;
  std::string folder;
  bool quiet = false;
  flags.option("count", count, "");
  flags.option("rate", rate, "");
  flags.option("logdir DIR", folder, "");
  flags.flag("quiet", quiet, "");
  std::vector<std::string> shown;
  for (const Flag& flag : flags.all()) shown.push_back(flag.name + " " + flag.placeholder);
  EXPECT_THAT(shown, ElementsAre("count N", "rate X", "logdir DIR", "quiet "));
}

TEST(Flags, ReadWholeNumbersOfTheirType) {
  Flags flags;
  int count = 5;
  flags.option("count", count, "");
  EXPECT_EQ(expected(flags, "-3"), "");
  EXPECT_EQ(count, -3);
  for (const char* text : {"", "3x", "1.5", " 3", "99999999999", "many"}) {
    EXPECT_EQ(expected(flags, text), "an integer") << text;
  }
  EXPECT_EQ(count, -3) << "a refused text changes nothing";
  uint64_t seed = 0;
  flags.option("seed", seed, "");
  EXPECT_EQ(expected(flags, "-1"), "an integer of at least 0");
  EXPECT_EQ(expected(flags, "18446744073709551615"), "");
  EXPECT_EQ(seed, std::numeric_limits<uint64_t>::max());
}

TEST(Flags, HaveALeastValue) {
  Flags flags;
  std::optional<int64_t> limit;
  flags.option_from(0, "limit", limit, "");
  EXPECT_EQ(expected(flags, "-1"), "an integer of at least 0");
  EXPECT_FALSE(limit);
  EXPECT_EQ(expected(flags, "0"), "");
  EXPECT_EQ(limit, 0);
  double seconds = 2;
  flags.option_from(0, "seconds", seconds, "");
  EXPECT_EQ(expected(flags, "-0.5"), "a number of at least 0");
  EXPECT_EQ(expected(flags, "0.5"), "");
  EXPECT_EQ(seconds, 0.5);
  for (const char* const none : {"nan", "-nan", "inf", "infinity", "1e999"})
    EXPECT_EQ(expected(flags, none), "a number of at least 0") << none;
  EXPECT_EQ(seconds, 0.5);
}

TEST(Flags, ReadAmountsOfMemory) {
  Flags flags;
  std::optional<int64_t> memory;
  flags.bytes("memory", memory, "");
  EXPECT_EQ(flags.all().back().placeholder, "BYTES");
  for (const char* text : {"1T", "0", "-1"}) {
    EXPECT_EQ(expected(flags, text), "a number of bytes of at least 1 (1000000, 512K, 64M or 2G)") << text;
  }
  EXPECT_FALSE(memory);
  EXPECT_EQ(expected(flags, "2K"), "");
  EXPECT_EQ(memory, 2048);
}

TEST(Flags, ReadListsOfCpus) {
  Flags flags;
  std::vector<int> cpus;
  flags.cpus("cpu", cpus, "");
  EXPECT_EQ(flags.all().back().placeholder, "LIST");
  EXPECT_EQ(expected(flags, "0,2-"), "a list like 0,2-3");
  EXPECT_THAT(cpus, ElementsAre());
  EXPECT_EQ(expected(flags, "0,2-3"), "");
  EXPECT_THAT(cpus, ElementsAre(0, 2, 3));
}

TEST(Flags, ChoicesNameTheirWords) {
  Flags flags;
  std::string feed = "queue";
  flags.choice("feed", feed, {"queue", "ready"}, "how");
  EXPECT_EQ(flags.all().back().placeholder, "queue|ready");
  EXPECT_EQ(flags.all().back().what, "how (default: queue)");
  EXPECT_EQ(expected(flags, "fly"), "one of queue, ready");
  EXPECT_EQ(expected(flags, "ready"), "");
  EXPECT_EQ(feed, "ready");
}

TEST(Flags, SwitchesTakeTheUsualWords) {
  Flags flags;
  bool quiet = false;
  flags.flag("quiet", quiet, "");
  for (const char* yes : {"1", "true", "ON", "yes"}) {
    quiet = false;
    EXPECT_EQ(expected(flags, yes), "");
    EXPECT_TRUE(quiet) << yes;
  }
  EXPECT_EQ(expected(flags, "off"), "");
  EXPECT_FALSE(quiet);
  EXPECT_EQ(expected(flags, "maybe"), "true or false");
}

TEST(Flags, HaveAVariableOfTheEnvironment) {
  EXPECT_EQ(environment_variable("sleep-ms"), "HEADPOND_SLEEP_MS");
  EXPECT_EQ(environment_variable("data"), "") << "HEADPOND_DATA is the tests' folder";
}

}  // namespace
}  // namespace headpond::cli
