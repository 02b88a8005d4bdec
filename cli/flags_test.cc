// SPDX-License-Identifier: Apache-2.0
#include "cli/flags.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>

namespace headpond::cli {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

// A program with the verbs "train mnist", "bench" and "look".
struct Program {
  Line parse(const std::vector<std::string>& arguments) {
    verbs = {{.path = "train mnist",
              .what = "trains",
              .declare =
                  [this](Flags& flags) {
                    flags.option("steps", steps, "");
                    flags.option("lr", lr, "");
                    flags.option("data", data, "");
                    flags.option("sleep-ms", sleep_ms, "");
                    flags.choice("feed", feed, {"queue", "ready"}, "");
                  },
              .run = {}},
             {.path = "bench",
              .what = "measures",
              .declare = [this](Flags& flags) { flags.words("names", names, ""); },
              .run = {}},
             {.path = "look",
              .what = "looks",
              .declare = [this](Flags& flags) { flags.words("names", names, ""); },
              .run = {},
              .takes_files = true}};
    return cli::parse(arguments, verbs, {"rng.normal"});
  }

  std::vector<Verb> verbs;
  int64_t steps = 400, sleep_ms = 50;
  std::optional<double> lr;
  std::string feed = "queue", data;
  std::vector<std::string> names;
};

// A variable of the environment until the end of the scope.
class Variable {
 public:
  Variable(const char* name, const char* value) : name_(name) { setenv(name, value, 1); }
  ~Variable() { unsetenv(name_); }
  Variable(const Variable&) = delete;
  Variable& operator=(const Variable&) = delete;

 private:
  const char* name_;
};

TEST(CommandLine, GivesAVerbItsFlagsAndTheCommonOnes) {
  Program program;
  const Line line = program.parse({"train", "mnist", "--steps", "20", "--feed=ready", "--seed", "9", "--quiet"});
  ASSERT_NE(line.verb, nullptr);
  EXPECT_EQ(line.verb->path, "train mnist");
  EXPECT_EQ(program.steps, 20);
  EXPECT_EQ(program.feed, "ready");
  EXPECT_EQ(line.common.seed, 9U);
  EXPECT_TRUE(line.common.quiet);
  EXPECT_FALSE(line.common.no_progress);
}

TEST(CommandLine, LeavesWhatIsNotGivenAsItWas) {
  Program program;
  const Line line = program.parse({"train", "mnist"});
  EXPECT_EQ(program.steps, 400);
  EXPECT_FALSE(program.lr.has_value());
  EXPECT_EQ(line.common.seed, 7U);
  EXPECT_EQ(line.common.json, "");
}

TEST(CommandLine, TakesALoneJsonAsStdout) {
  Program program;
  EXPECT_EQ(program.parse({"train", "mnist", "--json"}).common.json, "-");
  EXPECT_EQ(program.parse({"train", "mnist", "--json", "--steps", "3"}).common.json, "-");
  EXPECT_EQ(program.parse({"train", "mnist", "--json", "out.json"}).common.json, "out.json");
  EXPECT_EQ(program.parse({"train", "mnist", "--json=out.json"}).common.json, "out.json");
}

TEST(CommandLine, DoesNotTakeABenchForTheJsonFile) {
  Program program;
  EXPECT_EQ(program.parse({"bench", "--json", "rng.normal"}).common.json, "-");
  EXPECT_THAT(program.names, ElementsAre("rng.normal"));
}

TEST(CommandLine, DoesNotOverwriteAPipelineFileWithJson) {
  Program program;
  EXPECT_EQ(program.parse({"bench", "--json", "plan.toml"}).common.json, "-");
  EXPECT_THAT(program.names, ElementsAre("plan.toml"));
}

TEST(CommandLine, DoesNotOverwriteAFileThatIsToBeLookedAt) {
  Program program;
  EXPECT_EQ(program.parse({"look", "--json", "a.tfrecord", "b"}).common.json, "-");
  EXPECT_THAT(program.names, ElementsAre("a.tfrecord", "b"));
  EXPECT_EQ(program.parse({"look", "a.tfrecord", "--json", "out.json"}).common.json, "out.json");
  EXPECT_EQ(program.parse({"look", "a.tfrecord", "--json=out"}).common.json, "out");
}

TEST(CommandLine, TellsAGivenSeedFromItsDefault) {
  Program program;
  EXPECT_FALSE(program.parse({"bench"}).common.seed_given);
  EXPECT_TRUE(program.parse({"bench", "--seed", "7"}).common.seed_given);
  const Variable seed("HEADPOND_SEED", "7");
  EXPECT_TRUE(program.parse({"train", "mnist"}).common.seed_given);
}

TEST(CommandLine, ReadsFlagsFromTheEnvironmentUnlessTheyAreGiven) {
  const Variable steps("HEADPOND_STEPS", "31"), sleep("HEADPOND_SLEEP_MS", "2"), seed("HEADPOND_SEED", "5");
  Program program;
  const Line line = program.parse({"train", "mnist", "--sleep-ms", "8"});
  EXPECT_EQ(program.steps, 31);
  EXPECT_EQ(program.sleep_ms, 8);
  EXPECT_EQ(line.common.seed, 5U);
}

TEST(CommandLine, DoesNotTakeTheTestsDataFolderForTheUsersData) {
  const Variable data("HEADPOND_DATA", "/data");
  Program program;
  ASSERT_NE(program.parse({"train", "mnist"}).verb, nullptr);
  EXPECT_EQ(program.data, "");
}

class WrongLine : public testing::TestWithParam<std::vector<std::string>> {};

TEST_P(WrongLine, IsAUsageErrorWithAHint) {
  Program program;
  const Line line = program.parse(GetParam());
  EXPECT_EQ(line.verb, nullptr);
  EXPECT_EQ(line.exit_code, kUsage);
  EXPECT_THAT(line.text, HasSubstr("--help"));
}

INSTANTIATE_TEST_SUITE_P(Lines, WrongLine,
                         testing::Values(std::vector<std::string>{}, std::vector<std::string>{"fly"},
                                         std::vector<std::string>{"train"}, std::vector<std::string>{"train", "fly"},
                                         std::vector<std::string>{"train", "mnist", "--fly"},
                                         std::vector<std::string>{"train", "mnist", "--steps"},
                                         std::vector<std::string>{"train", "mnist", "--steps", "many"},
                                         std::vector<std::string>{"train", "mnist", "--seed", "-1"},
                                         std::vector<std::string>{"train", "mnist", "--feed", "fly"},
                                         std::vector<std::string>{"train", "mnist", "stray"}));

TEST(CommandLine, NamesTheUnknownVerb) { EXPECT_THAT(Program().parse({"fly"}).text, HasSubstr("fly")); }

TEST(CommandLine, HelpIsAnAnswerAndNamesTheVerbsFlags) {
  const Line line = Program().parse({"train", "mnist", "--help"});
  EXPECT_EQ(line.verb, nullptr);
  EXPECT_EQ(line.exit_code, kOk);
  EXPECT_THAT(line.text, HasSubstr("headpond train mnist"));
  EXPECT_THAT(line.text, HasSubstr("--sleep-ms"));
  EXPECT_THAT(line.text, HasSubstr("HEADPOND_SLEEP_MS"));
}

}  // namespace
}  // namespace headpond::cli
