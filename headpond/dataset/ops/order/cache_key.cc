// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "headpond/dataset/dataset.h"
#include "headpond/dataset/ops/order/cache_key_internal.h"

namespace headpond::internal {
namespace {

constexpr int kFormat = 1;  // Of the bytes of an element: another one is another cache.

void add_stamps(const Node& node, std::string& text) {
  for (const Node::Ref& input : node.facts().inputs) add_stamps(*input, text);
  if (const std::string& stamp = node.facts().stamp.get(); !stamp.empty()) {
    text += fmt::format("# {}: {}\n", node.facts().op, stamp);
  }
}

}  // namespace

void check_can_be_kept(const std::string& op, const Node& input) {
  for (const Node::Ref& below : input.facts().inputs) check_can_be_kept(op, *below);
  if (!input.facts().opaque) return;
  refuse(op, fmt::format("the function of {} has no name, so what is on disk could be of another one: give it a name "
                         "and, whenever it changes, a new version, as in map(f, {{.name = \"resize\", .version = 1}})",
                         input.title()));
}

bool depends_on_seed(const Node& node) {
  const Node::Facts& facts = node.facts();
  if (!facts.random_streams.empty() || facts.makes_datasets) return true;
  return std::any_of(facts.inputs.begin(), facts.inputs.end(),
                     [](const Node::Ref& input) { return depends_on_seed(*input); });
}

CachePlan cache_plan(const Node::Ref& input, const CacheKeyOptions& options) {
  std::string text = identity_of(Dataset(input));
  if (options.compare_times) add_stamps(*input, text);
  text += fmt::format("# elements: {}\n# numbered by: {}\n# format: {}\n", to_string(input->spec()),
                      options.in_order ? "order" : "position", kFormat);
  text += depends_on_seed(*input) ? fmt::format("# seed: {}\n", options.seed) : "# seed: any\n";
  return {std::move(text), options.in_order ? -1 : input->slots()};
}

}  // namespace headpond::internal
