// SPDX-License-Identifier: Apache-2.0
#include "cli/command_line.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <sstream>

namespace headpond::cli {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

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
                    flags.option_from(0, "sleep-ms", sleep_ms, "");
                    flags.choice("feed", feed, {"queue", "ready"}, "");
                  },
              .run = {},
              .default_seed = "7"},
             {.path = "bench",
              .what = "measures",
              .declare = [this](Flags& flags) { flags.words("names", names, ""); },
              .run = {}},
             {.path = "look",
              .what = "looks",
              .declare = [this](Flags& flags) { flags.words("names", names, ""); },
              .run = {},
              .takes_files = true},
             {.path = "open",
              .what = "opens",
              .declare = [this](Flags& flags) { flags.words("names", names, ""); },
              .run = {},
              .takes_files = true,
              .takes_one = true},
             {.path = "go", .what = "goes", .declare = [](Flags&) {}, .run = {}, .default_logdir = kNoFolder},
             {.path = "learn", .what = "learns", .declare = [](Flags&) {}, .run = {}, .default_logdir = kNewFolder},
             {.path = "explore",
              .what = "explores",
              .declare = [this](Flags& flags) { flags.flag("really", really, ""); },
              .run = {},
              .default_logdir = kNoFolder,
              .writes_none = [this] { return std::string(really ? "" : "without --really"); }}};
    return cli::parse(arguments, verbs, {"rng.normal"});
  }

  std::vector<Verb> verbs;
  int64_t steps = 400, sleep_ms = 50;
  std::optional<double> lr;
  std::string feed = "queue", data;
  bool really = false;
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

TEST(CommandLine, TakesAnyWordAfterTheOnlyOneForTheJsonFile) {
  Program program;
  EXPECT_EQ(program.parse({"open", "folder", "--json", "out"}).common.json, "out");
  EXPECT_THAT(program.names, ElementsAre("folder"));
  program.names.clear();
  EXPECT_EQ(program.parse({"open", "--json", "folder"}).common.json, "-");
  EXPECT_THAT(program.names, ElementsAre("folder"));
  EXPECT_EQ(program.parse({"open", "folder", "--json", "--quiet"}).common.json, "-");
  program.names.clear();
  EXPECT_EQ(program.parse({"open", "folder", "--json", "plan.toml"}).common.json, "-") << "a pipeline file stays";
  EXPECT_THAT(program.names, ElementsAre("folder", "plan.toml"));
  EXPECT_THAT(program.parse({"open", "--help"}).text, HasSubstr("the other word a FILE that"));
  EXPECT_THAT(program.parse({"look", "--help"}).text, HasSubstr("--json=FILE"));
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

TEST(CommandLine, RefusesProbesOfATimelineThatIsNotWritten) {
  Program program;
  EXPECT_THAT(program.parse({"go", "--probes", "every"}).text, HasSubstr("it needs --logdir DIR"));
  EXPECT_THAT(program.parse({"bench", "--probes", "every", "--logdir", "x"}).text, HasSubstr("this verb writes none"));
  EXPECT_NE(program.parse({"go", "--probes", "every", "--logdir", "x"}).verb, nullptr);
  EXPECT_NE(program.parse({"go", "--probes", "sampled"}).verb, nullptr);
  EXPECT_NE(program.parse({"learn", "--probes", "every"}).verb, nullptr) << "it makes a folder";
  EXPECT_THAT(program.parse({"explore", "--probes", "every", "--logdir", "x"}).text,
              HasSubstr("none is written without --really"));
  EXPECT_NE(program.parse({"explore", "--probes", "every", "--logdir", "x", "--really"}).verb, nullptr);
  EXPECT_NE(program.parse({"explore", "--logdir", "x"}).verb, nullptr);
  const Variable probes("HEADPOND_PROBES", "every");
  EXPECT_NE(program.parse({"go"}).verb, nullptr) << "it may be meant for other verbs";
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
                         testing::Values(std::vector<std::string>{"fly"}, std::vector<std::string>{"train"},
                                         std::vector<std::string>{"train", "fly"},
                                         std::vector<std::string>{"help", "fly"}, std::vector<std::string>{"--fly"},
                                         std::vector<std::string>{"train", "mnist", "--fly"},
                                         std::vector<std::string>{"train", "mnist", "-f"},
                                         std::vector<std::string>{"train", "mnist", "--steps"},
                                         std::vector<std::string>{"train", "mnist", "--steps", "--lr", "1"},
                                         std::vector<std::string>{"train", "mnist", "--steps", "many"},
                                         std::vector<std::string>{"train", "mnist", "--json="},
                                         std::vector<std::string>{"train", "mnist", "--steps", "1", "--steps", "2"},
                                         std::vector<std::string>{"train", "mnist", "--seed", "-1"},
                                         std::vector<std::string>{"train", "mnist", "--feed", "fly"},
                                         std::vector<std::string>{"train", "mnist", "stray"}));

TEST(CommandLine, SuggestsTheVerbAndTheOptionThatAreLikeAWrongOne) {
  Program program;
  EXPECT_EQ(program.parse({"trian"}).text, "no verb 'trian'; did you mean 'train'? See `headpond --help`\n");
  EXPECT_EQ(program.parse({"train", "mnits"}).text,
            "no verb 'train mnits'; did you mean 'mnist'? See `headpond train --help`\n");
  EXPECT_EQ(program.parse({"fly"}).text, "no verb 'fly'; see `headpond --help`\n");
  EXPECT_EQ(program.parse({"train", "mnist", "--step=3"}).text,
            "no option '--step'; did you mean '--steps'? See `headpond train mnist --help`\n");
  EXPECT_EQ(program.parse({"bench", "--fly"}).text, "no option '--fly'; see `headpond bench --help`\n");
  EXPECT_EQ(program.parse({"train"}).text, "train what: mnist? See `headpond train --help`\n");
}

TEST(CommandLine, SaysWhichValueIsExpected) {
  Program program;
  EXPECT_THAT(program.parse({"train", "mnist", "--steps", "x"}).text, StartsWith("--steps x: an integer is expected;"));
  EXPECT_THAT(program.parse({"train", "mnist", "--sleep-ms", "-3"}).text,
              StartsWith("--sleep-ms -3: an integer of at least 0 is expected;"));
  EXPECT_THAT(program.parse({"train", "mnist", "--lr=x"}).text, StartsWith("--lr x: a number is expected;"));
  EXPECT_THAT(program.parse({"train", "mnist", "--feed", "fly"}).text,
              StartsWith("--feed fly: one of queue, ready is expected;"));
  EXPECT_THAT(program.parse({"train", "mnist", "--steps"}).text, StartsWith("--steps needs a value, N;"));
}

TEST(CommandLine, BlamesAWrongVariableOnTheEnvironment) {
  const Variable steps("HEADPOND_STEPS", "many");
  EXPECT_THAT(Program().parse({"train", "mnist"}).text,
              StartsWith("HEADPOND_STEPS=many in the environment: an integer is expected;"));
  EXPECT_NE(Program().parse({"train", "mnist", "--steps", "3"}).verb, nullptr) << "the command line wins";
  EXPECT_NE(Program().parse({"bench"}).verb, nullptr) << "not an option of bench";
}

TEST(CommandLine, AcceptsValuesThatBeginWithADashAndWordsAfterTwoDashes) {
  Program program;
  ASSERT_NE(program.parse({"train", "mnist", "--steps", "-2"}).verb, nullptr);
  EXPECT_EQ(program.steps, -2);
  ASSERT_NE(program.parse({"look", "-", "--", "--odd", "--help"}).verb, nullptr);
  EXPECT_THAT(program.names, ElementsAre("-", "--odd", "--help"));
}

class Help : public testing::TestWithParam<std::vector<std::string>> {
 protected:
  static std::string text() {
    Program program;
    const Line line = program.parse(GetParam());
    EXPECT_EQ(line.verb, nullptr);
    EXPECT_EQ(line.exit_code, kOk);
    return line.text;
  }
};
class ProgramHelp : public Help {};
class GroupHelp : public Help {};
class VerbHelp : public Help {};

TEST_P(ProgramHelp, ListsTheVerbs) { EXPECT_THAT(text(), HasSubstr("train mnist  trains\n  bench")); }
INSTANTIATE_TEST_SUITE_P(Lines, ProgramHelp,
                         testing::Values(std::vector<std::string>{}, std::vector<std::string>{"help"},
                                         std::vector<std::string>{"help", "help"}, std::vector<std::string>{"--help"},
                                         std::vector<std::string>{"-h"}));

TEST_P(GroupHelp, ListsItsVerbsOnly) {
  EXPECT_THAT(text(), AllOf(HasSubstr("train mnist  trains\n"), Not(HasSubstr("bench"))));
}
INSTANTIATE_TEST_SUITE_P(Lines, GroupHelp,
                         testing::Values(std::vector<std::string>{"help", "train"},
                                         std::vector<std::string>{"train", "--help"}));

TEST_P(VerbHelp, ListsTheOptionsThatChangeSomething) {
  EXPECT_THAT(text(), AllOf(HasSubstr("Usage: headpond train mnist [OPTIONS]\n"), HasSubstr("  --sleep-ms N "),
                            HasSubstr("--feed queue|ready"), HasSubstr("(default: 7)"), HasSubstr("--json [FILE]")));
  EXPECT_THAT(text(), AllOf(Not(HasSubstr("--no-progress")), Not(HasSubstr("--logdir"))));
}
INSTANTIATE_TEST_SUITE_P(Lines, VerbHelp,
                         testing::Values(std::vector<std::string>{"help", "train", "mnist"},
                                         std::vector<std::string>{"--help", "train", "mnist"},
                                         std::vector<std::string>{"train", "mnist", "--help"},
                                         std::vector<std::string>{"train", "mnist", "--steps", "many", "-h"}));

TEST(CommandLine, HelpNamesTheEnvironmentOnce) {
  const std::string text = Program().parse({"help", "train", "mnist"}).text;
  EXPECT_THAT(text, HasSubstr("(HEADPOND_SLEEP_MS for\n--sleep-ms), except --data."));
  EXPECT_EQ(text.find("HEADPOND_"), text.rfind("HEADPOND_"));
}

TEST(CommandLine, HelpFitsATerminalOf80Columns) {
  Program program;
  for (const auto& line : {std::vector<std::string>{}, {"help", "train", "mnist"}, {"help", "look"}}) {
    std::istringstream text(program.parse(line).text);
    for (std::string row; std::getline(text, row);) EXPECT_LE(row.size(), 80U) << row;
  }
}

TEST(CommandLine, TheVersionIsAVerbAndTwoOptions) {
  for (const char* word : {"--version", "-V", "version"}) {
    const std::vector<Verb> verbs = {{.path = "version", .what = "", .declare = [](Flags&) {}, .run = {}}};
    EXPECT_NE(parse({word, "--json"}, verbs).verb, nullptr) << word;
  }
}

}  // namespace
}  // namespace headpond::cli
