// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "headpond/dataset/dataset.h"
#include "headpond/dataset/quarantine/failed_place_internal.h"

namespace headpond::internal {
namespace {

bool is_source(const Node* node) { return node->facts().inputs.empty(); }
bool makes_datasets(const Node* node) { return node->facts().makes_datasets; }

// The longest title with which `message` begins.
std::string op_named_in(const std::string& message, const std::vector<const Node*>& nodes) {
  std::string longest;
  for (const Node* const node : nodes) {
    std::string title = node->title();
    if (title.size() > longest.size() && message.starts_with(title)) longest = std::move(title);
  }
  return longest;
}

std::string op_of(const std::string& message, const std::vector<const Node*>& nodes) {
  std::string op = op_named_in(message, nodes);
  const bool is_one_source = std::count_if(nodes.begin(), nodes.end(), is_source) == 1;
  if (!op.empty() || !is_one_source || std::any_of(nodes.begin(), nodes.end(), makes_datasets)) return op;
  return (*std::find_if(nodes.begin(), nodes.end(), is_source))->title();
}

}  // namespace

Error located(const Error& error, const Node& dataset, const Provenance& record) {
  const ErrorPlace known = error.place();
  const bool has_offset = known.offset || record.source == 0;
  if (!known.op.empty() && has_offset) return error;
  const std::vector<const Node*> nodes = nodes_of(dataset);
  ErrorPlace found;
  if (known.op.empty()) found.op = op_of(error.message(), nodes);
  for (size_t i = 0; !has_offset && !found.offset && i < nodes.size(); ++i) found.offset = nodes[i]->offset_of(record);
  return error.at(std::move(found));
}

void tell_outer(const OuterElement& outer, const Node& dataset, size_t first, Context& context) {
  for (size_t i = first; i < context.failed.size(); ++i) {
    FailedElement& one = context.failed[i];
    one.error = located(one.error, dataset, one.provenance);
    one.key = mix(outer.key, one.key);
    one.outer = element_name(outer.key, outer.provenance) + (one.outer.empty() ? "" : "; " + one.outer);
  }
}

}  // namespace headpond::internal
