// SPDX-License-Identifier: Apache-2.0
#include "cli/help.h"

#include <gtest/gtest.h>

namespace headpond::cli {
namespace {

TEST(Help, OfAVerbListsItsWordsItsOptionsAndTheCommonOnes) {
  Flags own, common;
  std::vector<std::string> files;
  std::string state, format = "text";
  bool print = false;
  uint64_t seed = 7;
  own.words("FILE...", files, "files to read");
  own.option("state-in FILE", state, "resume from this state");
  own.choice("format", format, {"text", "json", "dot", "mermaid"}, "of the plan");
  own.flag("print", print, "print each element");
  common.option("seed", seed, "not listed").is_listed = false;
  common.option("json FILE", state, "write one JSON object").is_value_optional = true;
  const Verb verb = {.path = "run", .what = "deliver elements", .declare = {}, .run = {}};
  EXPECT_EQ(verb_help(verb, own, common),
            "Usage: headpond run [OPTIONS] FILE...\n"
            "\n"
            "Deliver elements.\n"
            "\n"
            "  FILE...  files to read\n"
            "\n"
            "Options:\n"
            "  --state-in FILE  resume from this state\n"
            "  --format text|json|dot|mermaid\n"
            "                   of the plan (default: text)\n"
            "  --print          print each element\n"
            "\n"
            "Common options:\n"
            "  --json [FILE]  write one JSON object\n"
            "  -h, --help     print this help\n"
            "\n"
            "Every option can also be set by an environment variable (HEADPOND_STATE_IN for\n"
            "--state-in). The command line takes precedence.\n");
}

TEST(Help, OfTheProgramOrAGroupListsVerbs) {
  const std::vector<Verb> verbs = {{.path = "run", .what = "deliver", .declare = {}, .run = {}},
                                   {.path = "train mnist", .what = "train", .declare = {}, .run = {}}};
  EXPECT_EQ(program_help(verbs),
            "Usage: headpond VERB [OPTIONS] [FILE...]\n"
            "\n"
            "Prepares training data ahead of the training step, and measures how long the\n"
            "step waits for it.\n"
            "\n"
            "Verbs:\n"
            "  run          deliver\n"
            "  train mnist  train\n"
            "\n"
            "`headpond VERB --help` lists the options of a verb.\n");
  EXPECT_EQ(program_help(verbs, "train"),
            "Usage: headpond train VERB [OPTIONS] [FILE...]\n"
            "\n"
            "Verbs:\n"
            "  train mnist  train\n"
            "\n"
            "`headpond train VERB --help` lists the options of a verb.\n");
}

}  // namespace
}  // namespace headpond::cli
