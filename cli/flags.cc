// SPDX-License-Identifier: Apache-2.0
#include "cli/flags.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <sstream>
#include <type_traits>

namespace headpond::cli {
namespace {

constexpr const char* kHint = "; `headpond --help` and `headpond VERB --help` tell what there is\n";

std::string variable(const std::string& name) {
  std::string text = "HEADPOND_" + name;
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char letter) { return letter == '-' ? '_' : static_cast<char>(std::toupper(letter)); });
  return name == "data" ? "" : text;
}

void declare_common(Flags& flags, CommonFlags& to) {
  flags.option("json", to.json, "one JSON object, to FILE; to stdout without FILE");
  flags.option("seed", to.seed, "of every random choice");
  flags.flag("quiet", to.quiet, "no text for people");
  flags.flag("no-progress", to.no_progress, "no progress bar");
  flags.option("logdir", to.logdir, "folder of the run's files; default: a fresh one in headpond-runs/");
}

// The subcommand for "train blstm", its parents made as need be.
CLI::App* subcommand(CLI::App& app, const std::string& path, const std::string& what) {
  CLI::App* at = &app;
  std::istringstream words(path);
  for (std::string word; words >> word;) {
    const auto known = at->get_subcommands([&](const CLI::App* one) { return one->get_name() == word; });
    CLI::App* const next = known.empty() ? at->add_subcommand(word, what) : known.front();
    if (at != &app) at->description("")->require_subcommand(1);
    at = next;
  }
  return at;
}

// The parser takes arguments last first.
std::vector<std::string> reversed_with_explicit_json(const std::vector<std::string>& arguments,
                                                     const std::vector<Verb>& verbs,
                                                     const std::vector<std::string>& names) {
  const bool takes_files = std::any_of(verbs.begin(), verbs.end(), [&](const Verb& verb) {
    return verb.takes_files && !arguments.empty() && arguments[0] == verb.path;
  });
  std::vector<std::string> made;
  for (size_t i = 0; i < arguments.size(); ++i) {
    const bool last = i + 1 == arguments.size();
    const auto is_file = [&](const std::string& next) {
      return (next == "-" || !next.starts_with("-")) && !next.ends_with(".toml") &&
             (!takes_files || next == "-" || next.ends_with(".json")) &&
             std::find(names.begin(), names.end(), next) == names.end();
    };
    const bool lone = arguments[i] == "--json" && (last || !is_file(arguments[i + 1]));
    made.push_back(lone ? "--json=-" : arguments[i]);
  }
  std::reverse(made.begin(), made.end());
  return made;
}

bool begins_with_a_verb(const std::vector<std::string>& arguments, const std::vector<Verb>& verbs) {
  return std::any_of(verbs.begin(), verbs.end(),
                     [&](const Verb& verb) { return verb.path.substr(0, verb.path.find(' ')) == arguments.front(); });
}

}  // namespace

template <class T>
void Flags::option(const std::string& name, T& to, const std::string& what) {
  CLI::Option* const option = app_.add_option("--" + name, to, what)->envname(variable(name));
  if constexpr (std::is_unsigned_v<T>) option->check(CLI::NonNegativeNumber);  // Else -1 is read as 2^64 - 1.
}
template void Flags::option(const std::string&, int&, const std::string&);
template void Flags::option(const std::string&, int64_t&, const std::string&);
template void Flags::option(const std::string&, uint64_t&, const std::string&);
template void Flags::option(const std::string&, double&, const std::string&);
template void Flags::option(const std::string&, std::string&, const std::string&);
template void Flags::option(const std::string&, std::optional<int64_t>&, const std::string&);
template void Flags::option(const std::string&, std::optional<double>&, const std::string&);
template void Flags::option(const std::string&, std::optional<std::string>&, const std::string&);

void Flags::choice(const std::string& name, std::string& to, const std::vector<std::string>& words,
                   const std::string& what) {
  app_.add_option("--" + name, to, what)->envname(variable(name))->check(CLI::IsMember(words))->capture_default_str();
}

void Flags::flag(const std::string& name, bool& to, const std::string& what) {
  app_.add_flag("--" + name, to, what)->envname(variable(name));
}

void Flags::anything() { app_.allow_extras(); }

void Flags::words(const std::string& name, std::vector<std::string>& to, const std::string& what) {
  app_.add_option(name, to, what);
}

Line parse(const std::vector<std::string>& arguments, const std::vector<Verb>& verbs,
           const std::vector<std::string>& names) {
  if (!arguments.empty() && !arguments[0].starts_with("-") && !begins_with_a_verb(arguments, verbs)) {
    return {.exit_code = kUsage, .text = "no verb " + arguments[0] + kHint};
  }
  Line line;
  CLI::App app("Keeps the training step fed, and says why when it is not.", "headpond");
  app.require_subcommand(1);
  for (const Verb& verb : verbs) {
    CLI::App* const at = subcommand(app, verb.path, verb.what);
    Flags flags(*at);
    verb.declare(flags);
    declare_common(flags, line.common);
    at->callback([&line, &verb, at] {
      line.verb = &verb;
      line.common.seed_given = at->count("--seed") > 0;
    });
  }
  try {
    app.parse(reversed_with_explicit_json(arguments, verbs, names));
  } catch (const CLI::CallForHelp&) {
    return {.text = app.help()};
  } catch (const CLI::ParseError& error) {
    return {.exit_code = kUsage, .text = error.what() + std::string(kHint)};
  }
  return line;
}

}  // namespace headpond::cli
