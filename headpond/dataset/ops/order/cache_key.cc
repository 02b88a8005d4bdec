// SPDX-License-Identifier: Apache-2.0
#define XXH_INLINE_ALL  // So that nobody has to link it.
#include <fmt/format.h>
#include <xxhash.h>

#include <algorithm>
#include <string>

#include "headpond/dataset/dataset.h"
#include "headpond/dataset/ops/nested/children_internal.h"
#include "headpond/dataset/ops/order/cache_key_internal.h"
#include "headpond/dataset/run_state.h"
#include "headpond/dataset/source/source_files_internal.h"

namespace headpond::internal {
namespace {

constexpr int kFormat = 1;  // Format of an element's bytes: another one is another cache.

constexpr int64_t kMostMadeSeen = 100'000;  // Datasets of one function that are looked at.
constexpr int64_t kFirstMadeSeen = 16;      // If these read no file, the others of the function don't either.

// What decides the content of the files that are read, and which part of them is this process's.
struct FilesRead {
  bool any = false;
  std::string text;
  FilePlaces places;
};
void add_files(const Node& node, const CacheKeyOptions& options, FilesRead& files);

uint64_t text_digest(const std::string& text) { return XXH3_64bits(text.data(), text.size()); }

void add_files_of_made(const Node& node, const Children& children, const CacheKeyOptions& options, FilesRead& files) {
  SequentialFeed feed;
  const auto input = open(children.input(), {.seed = options.seed}, feed);
  Context context;
  FilesRead all;
  for (int64_t asked = 0;; ++asked) {
    Element parent;
    const Got got = input->next(context, parent);
    if (got == Got::end) break;
    if (asked == kFirstMadeSeen && !all.any) return;
    if (asked == kMostMadeSeen) {
      refuse("cache", fmt::format("{} makes more than {} datasets that read files, so a change of a file could not be "
                                  "noticed: name the files in a source, or put the cache before it",
                                  node.title(), kMostMadeSeen));
    }
    const Child child = got == Got::value ? children.make(parent) : Child();
    if (!child.dataset) continue;
    FilesRead own;
    add_files(*child.dataset->node(), options, own);
    if (!own.any) continue;
    all.any = true;
    all.text += identity_of(*child.dataset) + own.text;
    all.places.at += own.places.at;
    all.places.changed += own.places.changed;
  }
  if (!all.any) return;
  files.any = true;
  files.text += fmt::format("# {}, files of its datasets: {:016x}\n", node.facts().op, text_digest(all.text));
  files.places.at += all.places.at;
  files.places.changed += all.places.changed;
}

void add_files(const Node& node, const CacheKeyOptions& options, FilesRead& files) {
  for (const Node::Ref& input : node.facts().inputs) add_files(*input, options, files);
  if (node.facts().location_chooses) {
    files.any = true;
    files.text += fmt::format("# {}: {}\n", node.facts().op, node.facts().location);
  }
  if (const std::string& stamp = node.facts().stamp.get(); !stamp.empty()) {
    files.any = true;
    const std::string_view written = without_place(stamp);
    if (options.compare_times) files.text += fmt::format("# {}: {}\n", node.facts().op, written);
    const size_t changed = stamp.find(" changed=");
    // Elements that are paths must not be given for files that lie elsewhere.
    const size_t paths = stamp.find(kPaths);
    if (!options.compare_times && paths != std::string::npos) files.text += stamp.substr(paths) + '\n';
    if (options.compare_times && changed != std::string::npos) {
      files.places.at += stamp.substr(written.size(), changed - written.size());
      files.places.changed += stamp.substr(changed);
    }
  }
  if (const Children* const made = children_of(node)) add_files_of_made(node, *made, options, files);
}

}  // namespace

void check_can_be_kept(const std::string& op, const Node& input) {
  const std::vector<const Node*> nodes = nodes_of(input);
  const auto opaque = std::ranges::find_if(nodes, [](const Node* node) { return node->facts().opaque; });
  if (opaque == nodes.end()) return;
  refuse(op, fmt::format("the function of {} has no name, so what is on disk could be of another one: give the step "
                         "a name and, whenever the function changes, a new version, by its options name and version",
                         (*opaque)->title()));
}

bool depends_on_seed(const Node& node) {
  return std::ranges::any_of(nodes_of(node),
                             [](const Node* one) { return one->draws() || one->facts().makes_datasets; });
}

CachePlan cache_plan(const Node::Ref& input, const CacheKeyOptions& options, FilePlaces* places) {
  std::string text = identity_of(Dataset(input));
  FilesRead files;
  add_files(*input, options, files);
  text += files.text;
  if (places != nullptr && !files.places.at.empty()) {
    places->at = fmt::format("{:016x}", text_digest(files.places.at));
    places->changed = fmt::format("{:016x}", text_digest(files.places.changed));
  }
  text += fmt::format("# elements: {}\n# numbered by: {}\n# format: {}\n", to_string(input->spec()),
                      options.in_order ? "order" : "position", kFormat);
  text += depends_on_seed(*input) ? fmt::format("# seed: {}\n", options.seed) : "# seed: any\n";
  return {std::move(text), options.in_order ? -1 : input->slots()};
}

}  // namespace headpond::internal
