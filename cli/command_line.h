// SPDX-License-Identifier: Apache-2.0
// Reads a command line: which verb, with which options; or the answer to a wrong one.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "cli/flags.h"
#include "headpond/base/json.h"
#include "headpond/base/status.h"

namespace headpond::cli {

class Session;

/// The result of a verb. A verb that could not do its work returns an Error instead.
struct Report {
  int exit_code = 0;
  std::function<void(JsonWriter&)> members = {};  ///< Writes the members beyond the common ones.
};

struct Verb {
  std::string path;                     ///< "train blstm"
  std::string what;                     ///< One line for the help, a sentence without its subject.
  std::function<void(Flags&)> declare;  ///< Called before run, once.
  std::function<Result<Report>(Session&)> run;
  bool takes_files = false;  ///< Its words are files of any name, which a lone --json must not overwrite.
  bool takes_one = false;    ///< One word, after which another one can only be the FILE of --json.
  // Which common options change something. All are accepted; the help lists these, --json and --quiet.
  std::string default_seed = {};  ///< Empty: nothing random.
  bool has_progress = false;
  std::string default_logdir = {};  ///< kNewFolder or kNoFolder; empty: it writes no files of a run.
  /// Why it writes none with the options that were read, as "without --analyze"; "": it writes some.
  std::function<std::string()> writes_none = {};
};

/// Where a verb writes a run's files without --logdir.
inline constexpr const char *kNewFolder = "a new one in headpond-runs/", *kNoFolder = "none are written";

struct Line {
  const Verb* verb = nullptr;  ///< Null: `text` is the answer (help, or an error).
  int exit_code = kOk;
  std::string text = {};  ///< For stdout if the code is 0, else for stderr.
  CommonFlags common = {};
};

/// `--json` without a value is `--json -`. The next argument is its value unless it is one of `names`, a pipeline file,
/// or, for a verb that takes files, anything that does not end with .json; but if the verb takes one word, and that
/// was given, any name but that of a pipeline file, *.toml.
Line parse(const std::vector<std::string>& arguments, const std::vector<Verb>& verbs,
           const std::vector<std::string>& names = {});

}  // namespace headpond::cli
