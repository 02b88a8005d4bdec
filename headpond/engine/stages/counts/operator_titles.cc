// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <map>
#include <string_view>

#include "headpond/engine/stages/counts/operator_titles_internal.h"

namespace headpond::internal {
namespace {

std::string_view ordinal_end(int number) {
  const bool is_teen = number % 100 / 10 == 1;
  const int last = is_teen ? 0 : number % 10;
  return last == 1 ? "st" : last == 2 ? "nd" : last == 3 ? "rd" : "th";
}

}  // namespace

std::string title_of(const Node& node) {
  constexpr std::string_view kFirstVersion = ", version=0";
  if (node.facts().opaque) return node.facts().op;
  std::string title = node.title();
  if (const size_t at = title.find(kFirstVersion); at != std::string::npos) title.erase(at, kFirstVersion.size());
  return title.ends_with("()") ? node.facts().op : title;
}

void set_titles(const std::vector<const Node*>& nodes, std::vector<OperatorCost>& operators) {
  const size_t count = std::min(nodes.size(), operators.size());
  std::map<std::string, int> all, before;
  for (size_t i = 0; i < count; ++i) ++all[operators[i].title = title_of(*nodes[i])];
  for (size_t i = 0; i < count; ++i) {
    std::string& title = operators[i].title;
    const int of = all[title];
    if (of == 1) continue;
    const int number = ++before[title];
    title += fmt::format(", the {}{} of {}", number, ordinal_end(number), of);
  }
}

}  // namespace headpond::internal
