// SPDX-License-Identifier: Apache-2.0
#include "cli/command_line.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <set>
#include <sstream>
#include <utility>

#include "cli/help.h"
#include "headpond/plan/suggestion.h"

namespace headpond::cli {
namespace {

using Words = std::vector<std::string>;

struct WrongLine {
  std::string text;
};

// `verb`: whose --help helps; "" for the program's.
[[noreturn]] void refuse_line(const std::string& what, const std::string& verb) {
  const char* const see = what.ends_with('?') ? " See" : "; see";
  throw WrongLine{fmt::format("{}{} `headpond {}{}--help`\n", what, see, verb, verb.empty() ? "" : " ")};
}

bool is_option(const std::string& word) { return word.size() > 1 && word[0] == '-'; }
bool is_help(const std::string& word) { return word == "--help" || word == "-h"; }

Words split(const std::string& path) {
  std::istringstream words(path);
  return {std::istream_iterator<std::string>(words), {}};
}

// "--epochs=3" as ("epochs", "=3"), "--epochs" as ("epochs", "").
std::pair<std::string, std::string> split_option(const std::string& word) {
  const size_t end = std::min(word.find('='), word.size());
  return {word.substr(2, end - 2), word.substr(end)};
}

// The words that may follow `before` in the verbs' paths.
Words next_words(const std::vector<Verb>& verbs, const Words& before) {
  Words found;
  for (const Verb& verb : verbs) {
    const Words path = split(verb.path);
    if (path.size() <= before.size() || !std::equal(before.begin(), before.end(), path.begin())) continue;
    if (std::find(found.begin(), found.end(), path[before.size()]) == found.end()) found.push_back(path[before.size()]);
  }
  return found;
}

const Verb* verb_named(const std::vector<Verb>& verbs, const std::string& path) {
  const auto found = std::find_if(verbs.begin(), verbs.end(), [&](const Verb& verb) { return verb.path == path; });
  return found == verbs.end() ? nullptr : &*found;
}

// Reads the words of one verb.
class Reader {
 public:
  Reader(const Verb& verb, const Words& names) : verb_(verb), names_(names) {
    verb.declare(own_);
    declare_common();
  }

  std::string help() const { return verb_help(verb_, own_, common_); }

  CommonFlags read(const Words& words) {
    for (at_ = 0; at_ < words.size(); ++at_) {
      if (!is_option(words[at_])) {
        take_word(words[at_]);
      } else if (words[at_] == "--") {
        while (++at_ < words.size()) take_word(words[at_]);
      } else {
        read_option(words);
      }
    }
    const bool asks_for_probes = given_.contains("probes") && to_.probes == "every";
    read_environment();
    if (asks_for_probes) must_have_timeline();
    to_.seed_given = given_.contains("seed");
    return to_;
  }

 private:
  void declare_common() {
    common_.option("json FILE", to_.json, "write one JSON object to FILE; without FILE to stdout" + json_rule())
        .is_value_optional = true;
    common_.option("seed", to_.seed, fmt::format("seed of every random choice (default: {})", verb_.default_seed))
        .is_listed = !verb_.default_seed.empty();
    common_.flag("quiet", to_.quiet, "suppress human-readable output");
    common_.flag("no-progress", to_.no_progress, "show no progress bar").is_listed = verb_.has_progress;
    common_
        .option("logdir DIR", to_.logdir,
                fmt::format("folder for the run's TensorBoard files and timeline (default: {})", verb_.default_logdir))
        .is_listed = !verb_.default_logdir.empty();
    common_
        .choice("probes", to_.probes, {"sampled", "every"},
                "which tasks show their operators in the timeline; every: costs time")
        .is_listed = !verb_.default_logdir.empty();
  }

  // Where FILE could be a word of the verb.
  std::string json_rule() const {
    if (!verb_.takes_files) return "";
    return fmt::format("; {}a FILE that does not end in .json is written as --json=FILE",
                       verb_.takes_one ? "before the other word " : "");
  }

  // An environment variable may be meant for other verbs.
  void must_have_timeline() const {
    if (verb_.default_logdir.empty())
      refuse_line("--probes every says what the timeline shows, and this verb writes none", verb_.path);
    if (verb_.default_logdir == kNoFolder && to_.logdir.empty())
      refuse_line("--probes every says what the timeline shows: it needs --logdir DIR", verb_.path);
    const std::string why = verb_.writes_none ? verb_.writes_none() : "";
    if (!why.empty())
      refuse_line(fmt::format("--probes every says what the timeline shows, and none is written {}", why), verb_.path);
  }

  const Flag* find(const std::string& name) const {
    for (const Flags* flags : {&own_, &common_}) {
      const auto& all = flags->all();
      const auto found = std::find_if(all.begin(), all.end(), [&](const Flag& flag) { return flag.name == name; });
      if (found != all.end()) return &*found;
    }
    return nullptr;
  }

  Words options() const {
    Words names;
    for (const Flags* flags : {&own_, &common_}) {
      for (const Flag& flag : flags->all()) {
        if (flag.is_listed) names.push_back("--" + flag.name);
      }
    }
    return names;
  }

  void take_word(const std::string& word) {
    has_word_ = true;
    if (own_.has_words()) return own_.take_word(word);
    if (!own_.accepts_anything()) refuse_line(fmt::format("unexpected word '{}'", word), verb_.path);
  }

  void read_option(const Words& words) {
    const auto [name, value] = split_option(words[at_]);
    const Flag* const flag = words[at_].starts_with("--") ? find(name) : nullptr;
    if (flag == nullptr) {
      if (own_.accepts_anything()) return;
      const std::string word = words[at_].substr(0, words[at_].find('='));
      refuse_line(fmt::format("no option '{}'{}", word, plan::did_you_mean(word, options())), verb_.path);
    }
    if (!given_.insert(name).second) refuse_line(fmt::format("--{} is given twice", name), verb_.path);
    if (value == "=") refuse_line(fmt::format("--{} needs a value after the =", name), verb_.path);
    const std::string text = value.empty() ? following_value(*flag, words) : value.substr(1);
    if (const std::string expected = flag->set(text); !expected.empty())
      refuse_line(fmt::format("--{} {}: {} is expected", name, text, expected), verb_.path);
  }

  // The value of an option without "=VALUE".
  std::string following_value(const Flag& flag, const Words& words) {
    if (flag.placeholder.empty()) return "true";
    const bool has_next = at_ + 1 < words.size();
    if (flag.is_value_optional) return has_next && is_file(words[at_ + 1]) ? words[++at_] : "-";
    if (!has_next || words[at_ + 1].starts_with("--"))
      refuse_line(fmt::format("--{} needs a value, {}", flag.name, flag.placeholder), verb_.path);
    return words[++at_];
  }

  // Whether the word after a lone --json is the file to write.
  bool is_file(const std::string& word) const {
    if (word == "-") return true;
    if (is_option(word) || word.ends_with(".toml")) return false;
    if (verb_.takes_one && has_word_) return true;
    return (!verb_.takes_files || word.ends_with(".json")) &&
           std::find(names_.begin(), names_.end(), word) == names_.end();
  }

  void read_environment() {
    for (const Flags* flags : {&own_, &common_}) {
      for (const Flag& flag : flags->all()) {
        const std::string variable = environment_variable(flag.name);
        const char* const text = variable.empty() ? nullptr : std::getenv(variable.c_str());
        if (text == nullptr || *text == 0 || !given_.insert(flag.name).second) continue;
        if (const std::string expected = flag.set(text); !expected.empty())
          refuse_line(fmt::format("{}={} in the environment: {} is expected", variable, text, expected), verb_.path);
      }
    }
  }

  const Verb& verb_;
  const Words& names_;
  CommonFlags to_;
  Flags own_, common_;
  std::set<std::string> given_;
  size_t at_ = 0;
  bool has_word_ = false;
};

// The verb that `words` begin with, which are removed.
const Verb* take_verb(const std::vector<Verb>& verbs, Words& words) {
  Words path;
  while (!words.empty() && !is_option(words.front())) {
    path.push_back(words.front());
    words.erase(words.begin());
    if (const Verb* const verb = verb_named(verbs, fmt::format("{}", fmt::join(path, " ")))) return verb;
    if (!next_words(verbs, path).empty()) continue;
    const Words before(path.begin(), path.end() - 1);
    refuse_line(
        fmt::format("no verb '{}'{}", fmt::join(path, " "), plan::did_you_mean(path.back(), next_words(verbs, before))),
        fmt::format("{}", fmt::join(before, " ")));
  }
  words.insert(words.begin(), path.begin(), path.end());
  return nullptr;
}

Line answer(std::string text) { return {.text = std::move(text)}; }

Line read_line(Words words, const std::vector<Verb>& verbs, const Words& names) {
  bool wants_help = words.empty();
  while (!words.empty() && (words[0] == "help" || is_help(words[0]))) {
    wants_help = true;
    words.erase(words.begin());
  }
  if (!words.empty() && (words[0] == "-V" || words[0] == "--version")) words[0] = "version";
  const auto end = std::find(words.begin(), words.end(), "--");
  wants_help = wants_help || std::any_of(words.begin(), end, is_help);
  const Verb* const verb = take_verb(verbs, words);
  if (verb == nullptr) {
    const std::string group = words.empty() || is_option(words[0]) ? "" : words[0];
    if (wants_help) return answer(program_help(verbs, group));
    if (group.empty()) refuse_line(fmt::format("the verb comes first: headpond VERB {}", words[0]), "");
    refuse_line(fmt::format("{} what: {}?", group, fmt::join(next_words(verbs, {group}), " or ")), group);
  }
  Reader reader(*verb, names);
  if (wants_help) return answer(reader.help());
  return {.verb = verb, .common = reader.read(words)};
}

}  // namespace

Line parse(const std::vector<std::string>& arguments, const std::vector<Verb>& verbs,
           const std::vector<std::string>& names) {
  try {
    return read_line(arguments, verbs, names);
  } catch (const WrongLine& wrong) {
    return {.exit_code = kUsage, .text = wrong.text};
  }
}

}  // namespace headpond::cli
