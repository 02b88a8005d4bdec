// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <set>

#include "headpond/dataset/ops/options.h"
#include "headpond/dataset/ops/structure/hints.h"

namespace headpond {
namespace {

std::string to_string(const DatasetOptions& options) {
  std::vector<std::string> said;
  if (options.deterministic) said.push_back(fmt::format("deterministic={}", *options.deterministic));
  if (options.threads) said.push_back(fmt::format("threads={}", *options.threads));
  if (options.memory) said.push_back(fmt::format("memory={}", *options.memory));
  return fmt::format("{}", fmt::join(said, ", "));
}

class WithOptions final : public internal::Hint {
 public:
  WithOptions(const Node::Ref& input, const DatasetOptions& all)
      : Hint(input, "with_options", to_string(all)), options(all) {}
  std::string note(bool) const override { return "they are the Loader's defaults, and change no element"; }

  const DatasetOptions options;
};

// The operator that says an option; null if none does.
template <class T>
const WithOptions* who_says(const Node& node, std::optional<T> DatasetOptions::*option, std::set<const Node*>& seen) {
  if (!seen.insert(&node).second) return nullptr;  // What it says was found on another way.
  const auto* const own = dynamic_cast<const WithOptions*>(&node);
  if (own != nullptr && own->options.*option) return own;
  const WithOptions* first = nullptr;
  for (const Node::Ref& input : node.facts().inputs) {
    const WithOptions* const found = who_says(*input, option, seen);
    if (first == nullptr) first = found;
    if (found == nullptr || found->options.*option == first->options.*option) continue;
    refuse("with_options", fmt::format("the inputs of {} contradict each other: {} and {}; say it after {}",
                                       node.title(), first->title(), found->title(), node.facts().op));
  }
  return first;
}

template <class T>
void find(const Dataset& dataset, std::optional<T> DatasetOptions::*option, DatasetOptions& all) {
  std::set<const Node*> seen;
  if (const WithOptions* const by = who_says(*dataset.node(), option, seen)) all.*option = by->options.*option;
}

}  // namespace

DatasetOptions options_of(const Dataset& dataset) {
  DatasetOptions all;
  find(dataset, &DatasetOptions::deterministic, all);
  find(dataset, &DatasetOptions::threads, all);
  find(dataset, &DatasetOptions::memory, all);
  return all;
}

Step with_options(const DatasetOptions& options) {
  if (options == DatasetOptions()) refuse("with_options", "no option is set");
  if (options.threads.value_or(0) < 0 || options.memory.value_or(1) < 1) {
    refuse("with_options", fmt::format("{}: threads must be at least 0, memory at least 1 byte", to_string(options)));
  }
  return [options](const Dataset& input) { return Dataset(std::make_shared<WithOptions>(input.node(), options)); };
}

}  // namespace headpond
