// SPDX-License-Identifier: Apache-2.0
// The options of a verb: bound to the verb's variables, set from the command line or the environment.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace headpond::cli {

/// Exit codes.
inline constexpr int kOk = 0, kFailed = 1, kUsage = 2, kTargetMissed = 3, kInterrupted = 130;

/// The options that every verb accepts.
struct CommonFlags {
  std::string json = {};  ///< Empty: no JSON; "-": to stdout, human-readable text goes to stderr; else a file.
  uint64_t seed = 7;
  bool seed_given = false;         ///< On the command line or in the environment.
  bool quiet = false;              ///< Errors and JSON only.
  bool no_progress = false;        ///< No progress bar.
  std::string logdir = {};         ///< Empty: a fresh folder.
  std::string probes = "sampled";  ///< Or "every": which tasks show their operators in the timeline.
};

/// One option. `set` returns what is expected instead of `text` ("an integer"), or "" if it took `text`.
struct Flag {
  std::string name;         ///< Without the dashes.
  std::string placeholder;  ///< "N"; empty: the option takes no value.
  std::string what;         ///< For the help.
  std::function<std::string(const std::string& text)> set = {};
  bool is_listed = true;           ///< In the help.
  bool is_value_optional = false;  ///< Then a missing value is "-".
};

/// Each option is also set by an environment variable, without code of the verb; the command line wins. Returns the
/// variable's name: HEADPOND_SLEEP_MS for "sleep-ms". Empty for "data", because HEADPOND_DATA is the folder of the
/// tests' data sets.
std::string environment_variable(const std::string& name);

/// What a verb declares. `spec` is "name" or "name PLACEHOLDER"; without a placeholder it follows from the type. A
/// returned reference is valid until the next call.
class Flags {
 public:
  /// `--name VALUE`; `to` keeps its value when the option is absent. T: int, int64_t, uint64_t, double, std::string, or
  /// std::optional of int64_t or double. "inf" and "nan" are no numbers.
  template <class T>
  Flag& option(const std::string& spec, T& to, const std::string& what);
  /// The same for numbers of at least `least`.
  template <class T>
  Flag& option_from(int64_t least, const std::string& spec, T& to, const std::string& what);
  /// `--name BYTES`, at least 1, as 1000000, 512K, 64M or 2G.
  Flag& bytes(const std::string& name, std::optional<int64_t>& to, const std::string& what);
  /// `--name LIST`, numbers of CPUs, as 0,2-3.
  Flag& cpus(const std::string& name, std::vector<int>& to, const std::string& what);
  /// `--name WORD`, one of `words`.
  Flag& choice(const std::string& name, std::string& to, const std::vector<std::string>& words,
               const std::string& what);
  Flag& flag(const std::string& name, bool& to, const std::string& what);
  /// Any number of words without a dash; `name` stands for them in the help.
  void words(const std::string& name, std::vector<std::string>& to, const std::string& what);
  /// Any other words and options are accepted and ignored.
  void anything() { accepts_anything_ = true; }

  const std::vector<Flag>& all() const { return flags_; }
  const Flag& word() const { return word_; }
  bool has_words() const { return words_ != nullptr; }
  bool accepts_anything() const { return accepts_anything_; }
  void take_word(const std::string& word) const { words_->push_back(word); }

 private:
  Flag& add(Flag flag);

  std::vector<Flag> flags_;
  Flag word_;
  std::vector<std::string>* words_ = nullptr;
  bool accepts_anything_ = false;
};

}  // namespace headpond::cli
