// SPDX-License-Identifier: Apache-2.0
#include "cli/help.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <utility>

#include "cli/text_table.h"

namespace headpond::cli {
namespace {

constexpr size_t kWidth = 80, kLeft = 26;

using Rows = std::vector<std::pair<std::string, std::string>>;

// Two columns. A left cell that is too long has a line of its own.
std::string columns(const Rows& rows) {
  size_t left = 0;
  for (const auto& [cell, what] : rows) left = std::max(left, cell.size() <= kLeft ? cell.size() : 0);
  std::string text;
  for (const auto& [cell, what] : rows) {
    const auto lines = wrapped(what, kWidth - left - 4);
    const bool is_alone = cell.size() > left;
    if (is_alone || lines.empty()) text += fmt::format("  {}\n", cell);
    for (size_t i = 0; i < lines.size(); ++i) {
      text += fmt::format("  {:<{}}  {}\n", i == 0 && !is_alone ? cell : "", left, lines[i]);
    }
  }
  return text;
}

std::string paragraph(const std::string& text) {
  std::string lines;
  for (const std::string& line : wrapped(text, kWidth)) lines += line + "\n";
  return lines;
}

std::string capitalised(std::string text) {
  if (!text.empty()) text[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(text[0])));
  return text;
}

Rows rows_of(const Flags& flags) {
  Rows rows;
  for (const Flag& flag : flags.all()) {
    if (!flag.is_listed) continue;
    const std::string value = flag.is_value_optional ? fmt::format(" [{}]", flag.placeholder) : " " + flag.placeholder;
    rows.emplace_back(fmt::format("--{}{}", flag.name, flag.placeholder.empty() ? "" : value), flag.what);
  }
  return rows;
}

// The name of the first option with a dash, which shows most of the rule; "quiet" if there is none.
std::string example_for_environment(const Flags& own, const Flags& common) {
  for (const Flags* flags : {&own, &common}) {
    for (const Flag& flag : flags->all()) {
      if (flag.is_listed && flag.name.find('-') != std::string::npos) return flag.name;
    }
  }
  return "quiet";
}

std::string environment_footer(const Flags& own, const Flags& common) {
  const std::string name = example_for_environment(own, common);
  const bool has_exception = std::any_of(own.all().begin(), own.all().end(),
                                         [](const Flag& flag) { return environment_variable(flag.name).empty(); });
  return paragraph(fmt::format(
      "Every option can also be set by an environment variable ({} for --{}){}. The command line takes precedence.",
      environment_variable(name), name, has_exception ? ", except --data" : ""));
}

}  // namespace

std::string program_help(const std::vector<Verb>& verbs, const std::string& group) {
  Rows rows;
  for (const Verb& verb : verbs) {
    if (group.empty() || verb.path.starts_with(group + " ")) rows.emplace_back(verb.path, verb.what);
  }
  const std::string name = group.empty() ? "headpond" : "headpond " + group;
  return fmt::format("Usage: {} VERB [OPTIONS] [FILE...]\n\n", name) +
         (group.empty() ? paragraph("Prepares training data ahead of the training step, and measures how long the step "
                                    "waits for it.") +
                              "\n"
                        : "") +
         "Verbs:\n" + columns(rows) + fmt::format("\n`{} VERB --help` lists the options of a verb.\n", name);
}

std::string verb_help(const Verb& verb, const Flags& own, const Flags& common) {
  const Rows options = rows_of(own);
  Rows shared = rows_of(common);
  shared.emplace_back("-h, --help", "print this help");
  std::string text =
      fmt::format("Usage: headpond {} [OPTIONS]{}\n\n", verb.path, own.has_words() ? " " + own.word().name : "");
  text += paragraph(capitalised(verb.what) + ".");
  if (own.has_words()) text += "\n" + columns({{own.word().name, own.word().what}});
  if (!options.empty()) text += "\nOptions:\n" + columns(options);
  text += "\nCommon options:\n" + columns(shared);
  return text + "\n" + environment_footer(own, common);
}

}  // namespace headpond::cli
