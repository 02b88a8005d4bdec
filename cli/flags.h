// SPDX-License-Identifier: Apache-2.0
// Flags and verbs of the command line. A verb binds flags to variables of its own; only flags.cc knows the parser.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "headpond/base/json.h"
#include "headpond/base/status.h"

namespace CLI {
class App;
}

namespace headpond::cli {

class Session;

/// What every verb understands.
struct CommonFlags {
  std::string json = {};  ///< Empty: no JSON; "-": on stdout, and people's text on stderr; else a file.
  uint64_t seed = 7;
  bool seed_given = false;   ///< On the line or in the environment.
  bool quiet = false;        ///< No text for people; errors and JSON only.
  bool no_progress = false;  ///< No bar.
  std::string logdir = {};   ///< Empty: a fresh folder.
};

/// Each flag may also be given as HEADPOND_<FLAG> in the environment (dashes are underscores), but --data:
/// HEADPOND_DATA is the folder of the tests' data sets. What is on the line wins.
class Flags {
 public:
  explicit Flags(CLI::App& app) : app_(app) {}

  /// `--name VALUE`; `to` keeps its value when the flag is absent. T: int, int64_t, uint64_t, double, std::string, or
  /// std::optional of these.
  template <class T>
  void option(const std::string& name, T& to, const std::string& what);
  /// `--name WORD`, one of `words`.
  void choice(const std::string& name, std::string& to, const std::vector<std::string>& words, const std::string& what);
  void flag(const std::string& name, bool& to, const std::string& what);
  /// Any number of words without a dash.
  void words(const std::string& name, std::vector<std::string>& to, const std::string& what);

  /// Takes any other words and flags too, and forgets them.
  void anything();

 private:
  CLI::App& app_;
};

/// What a verb leaves behind. A verb that could not do its work returns an Error instead.
struct Report {
  int exit_code = 0;
  std::function<void(JsonWriter&)> members = {};  ///< Writes the members beyond the common ones.
};

struct Verb {
  std::string path;                     ///< "train blstm"
  std::string what;                     ///< One line.
  std::function<void(Flags&)> declare;  ///< Called before run, once.
  std::function<Result<Report>(Session&)> run;
  bool takes_files = false;  ///< Its words are files of any name, which a lone --json must not write over.
};

/// Of the exit codes.
inline constexpr int kOk = 0, kFailed = 1, kUsage = 2, kTargetMissed = 3, kInterrupted = 130;

struct Line {
  const Verb* verb = nullptr;  ///< Null: the line is answered (help) or wrong.
  int exit_code = kOk;
  std::string text = {};  ///< For stdout if the code is 0, else for stderr.
  CommonFlags common = {};
};

/// Reads a command line. A lone `--json` is the same as `--json -`; one of `names` or a pipeline file after it is a
/// word, not its file; of a verb that takes files, whatever does not end with .json.
Line parse(const std::vector<std::string>& arguments, const std::vector<Verb>& verbs,
           const std::vector<std::string>& names = {});

}  // namespace headpond::cli
