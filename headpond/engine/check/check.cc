// SPDX-License-Identifier: Apache-2.0
#include "headpond/engine/check/check.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <memory>
#include <set>
#include <system_error>
#include <utility>

#include "headpond/base/cpu.h"
#include "headpond/dataset/bases/batching.h"
#include "headpond/dataset/ops/element/kernel_joints.h"
#include "headpond/dataset/ops/structure/sharing.h"
#include "headpond/dataset/source/files_read.h"
#include "headpond/dataset/source/in_memory.h"
#include "headpond/engine/check/forecast_internal.h"
#include "headpond/engine/check/label_mix_internal.h"
#include "headpond/engine/check/order_quality_internal.h"
#include "headpond/engine/check/tried_internal.h"
#include "headpond/engine/executor/resources.h"
#include "headpond/engine/explain.h"
#include "headpond/engine/stages/element_bytes_internal.h"
#include "headpond/engine/stages/stage_internal.h"
#include "headpond/io/compression/inflate.h"
#include "headpond/io/file/file.h"
#include "headpond/tensor/memory_account.h"

namespace headpond {
namespace {

using internal::Planned;
using internal::Tried;

constexpr int64_t kDefaultBatch = 32, kMostLabels = 4096;
constexpr double kMostMix = 1.5;

// Each operator once, from the program to the sources.
void collect(const Node::Ref& node, std::vector<Node::Ref>& all) {
  if (std::find(all.begin(), all.end(), node) != all.end()) return;
  all.push_back(node);
  for (const Node::Ref& input : node->facts().inputs) collect(input, all);
}

bool is(const Node& node, Role role) { return node.facts().role == role; }

// The uppermost operator that gives single elements: below the batches.
Node::Ref below_batches(const Dataset& dataset) {
  Node::Ref node = dataset.node();
  Node::Ref found = node;
  while (true) {
    const bool gathers = is(*node, Role::batch) || is(*node, Role::rebatch);
    if (node->facts().inputs.size() != 1) return found;
    node = node->facts().inputs[0];
    if (gathers) found = node;
  }
}

// Whether its elements are batches. Of several inputs the first one says it.
bool gives_batches(const Node& node) {
  if (is(node, Role::batch) || is(node, Role::rebatch)) return true;
  return !is(node, Role::unbatch) && !node.facts().inputs.empty() && gives_batches(node.input());
}

// The rows of an element, at most; 1: it is a sample, or a batch of nobody knows how many.
int64_t rows_of(const Node& node) {
  if (is(node, Role::unbatch) || node.facts().inputs.empty()) return 1;
  const auto* const batching = dynamic_cast<const Batching*>(&node);
  return rows_of(node.input()) * (batching != nullptr ? batching->batch_size() : 1);
}

// What begins like a compressed file is read, not mapped; so is what lies in a folder.
int64_t mapped_bytes_of(const std::string& path) {
  std::array<std::byte, 2> start = {};
  std::error_code ignored;
  if (!std::filesystem::is_regular_file(path, ignored)) return 0;
  const auto head = read_file_head(path, start);
  return head && !is_gzip(start) && !is_zlib(start) ? static_cast<int64_t>(head->file_bytes) : 0;
}

int64_t mapped_bytes_of(const std::vector<Node::Ref>& nodes) {
  std::set<std::string> paths;
  for (const Node::Ref& node : nodes) {
    const auto* const reading = dynamic_cast<const FileReading*>(node.get());
    if (reading == nullptr || !reading->reads_contents()) continue;
    for (std::string& path : reading->paths_read()) paths.insert(std::move(path));
  }
  int64_t bytes = 0;
  for (const std::string& path : paths) bytes += mapped_bytes_of(path);
  return bytes;
}

// The operators from the source on that draw nothing and keep the order, if there are two, and one source.
void add_prepared(const Planned& planned, CheckReport& report) {
  const std::vector<Node::Ref>& nodes = planned.nodes;
  const CheckOptions& options = planned.options;
  const auto has_many = [](const Node::Ref& node) { return node->facts().inputs.size() > 1; };
  if (std::any_of(nodes.begin(), nodes.end(), has_many)) return;
  Node::Ref last;
  int64_t operators = 0;
  for (auto node = nodes.rbegin(); node != nodes.rend(); ++node) {
    const bool is_one = (*node)->facts().inputs.empty() || is(**node, Role::map) || is(**node, Role::filter);
    if (!is_one || (*node)->draws() || (*node)->kind() == Kind::stream) break;
    last = *node;
    ++operators;
  }
  if (operators < 2 || last->slots() == kEndless || options.elements < 1) return;
  const bool is_tried = last.get() == &planned.single;
  const Tried again = is_tried ? planned.tried : internal::try_elements(last, options.loader.seed, options.elements);
  const double passing = static_cast<double>(last->slots()) * again.share_passing();
  const internal::Workers workers = internal::workers_of(planned, internal::threads_of(options));
  report.prepared = {.op = last->title(),
                     .bytes = std::llround(passing * static_cast<double>(internal::bytes_of(*last, again.most_values))),
                     .seconds = again.seconds_to_ask(last->slots(), workers)};
}

bool has_below(const Node& node, Role role) {
  return std::ranges::any_of(nodes_of(node), [&](const Node* one) { return one != &node && is(*one, role); });
}

void find_place_of(const Node& order, CheckReport& report) {
  const std::string title = order.title();
  if (gives_batches(order)) {
    report.findings.push_back(title + " moves whole batches, whose rows stay together: put it before batch");
  }
  if (has_below(order, Role::repeat)) {
    report.findings.push_back(title +
                              " comes after repeat, so that epochs mix: an element may come twice before another "
                              "comes once; put it before repeat");
  }
  if (order.facts().holds > 0 && has_below(order, Role::map)) {
    report.findings.push_back(fmt::format("{} holds {} elements after map: before it they are often smaller", title,
                                          internal::held_by(order, kEndless)));
  }
}

// Of whole batches the order alone does not say how rows mix if their number is not known, or if another order has
// mixed them before.
bool is_mix_known(const Node& order) {
  return !gives_batches(order) || (rows_of(order) > 1 && !has_below(order, Role::order));
}

void find_orders(const std::vector<Node::Ref>& nodes, const CheckOptions& options, int64_t rows, CheckReport& report) {
  for (const Node::Ref& node : nodes) {
    if (!is(*node, Role::order)) continue;
    find_place_of(*node, report);
    auto quality = internal::quality_of(*node, options.loader.seed, rows, rows_of(*node));
    if (!quality) continue;
    quality->rows = rows_of(*node);
    if (!is_mix_known(*node)) quality->mix = std::nullopt;
    if (quality->mix.value_or(0) > kMostMix && !gives_batches(*node)) {
      report.findings.push_back(
          fmt::format("{}: the batches' rows come from neighbouring places of the source ({:.1f} times the variance of "
                      "mixed ones): use a larger window, or none, which costs no memory",
                      node->title(), *quality->mix));
    }
    report.orders.push_back(std::move(*quality));
  }
}

// Kernels of two maps, one right after the other, that would run as one kernel if they were in one map.
void find_maps(const std::vector<Node::Ref>& nodes, CheckReport& report) {
  for (const Node::Ref& node : nodes) {
    const auto* const later = dynamic_cast<const internal::KernelJoints*>(node.get());
    if (later == nullptr || node->facts().inputs.size() != 1) continue;
    const auto* const earlier = dynamic_cast<const internal::KernelJoints*>(&node->input());
    if (earlier == nullptr || later->role_fields() != earlier->role_fields()) continue;
    const std::array<KernelRef, 2> pair = {earlier->kernels().back(), later->kernels().front()};
    const KernelChain chain = join_kernels(pair);
    if (chain.joints.empty() || chain.joints[0].joined.empty()) continue;
    const bool draws = std::any_of(later->kernels().begin(), later->kernels().end(),
                                   [](const KernelRef& kernel) { return !kernel->facts().draws.empty(); });
    report.findings.push_back(fmt::format("{}: put these two maps into one map, where they run as one kernel: {}{}",
                                          chain.joints[0].pair, chain.joints[0].joined,
                                          draws ? "; random values of the second map change" : ""));
  }
}

void find_label(const Dataset& dataset, const CheckOptions& options, int64_t rows, CheckReport& report) {
  report.label = internal::label_mix(below_batches(dataset), options.label, options.loader.seed, rows, kMostLabels);
  if (report.label->mix.value_or(0) <= kMostMix) return;
  report.findings.push_back(
      fmt::format("batches have too much of some classes of '{}' ({:.1f} times the variance of mixed ones): "
                  "shuffle, with a larger window or none",
                  options.label, *report.label->mix));
}

// `single` are the elements that were tried.
void find_emptiness(const CheckOptions& options, const Tried& tried, const Node& single, CheckReport& report) {
  const bool has_tried_none = options.elements > 0 && tried.asked == 0;
  if (report.cardinality != 0 && !has_tried_none) return;
  const int64_t count = single.slots();
  const bool is_short = !has_tried_none && single.kind() != Kind::stream && count > 0;
  report.findings.push_back("the dataset is empty: a run delivers nothing" +
                            (is_short ? fmt::format("; its {} elements are too few for a batch", count) : ""));
}

void add_findings(const Dataset& dataset, const Tried& tried, CheckReport& report) {
  constexpr double kLeastPassing = 0.1;
  if (tried.asked > 0 &&
      static_cast<double>(tried.asked - tried.holes) < kLeastPassing * static_cast<double>(tried.asked)) {
    report.findings.push_back(
        fmt::format("the filter lets {} of {} elements pass: the others are made in vain; filter before the expensive "
                    "steps, or once, when the data is written",
                    tried.asked - tried.holes, tried.asked));
  }
  if (!tried.errors.empty()) {
    report.findings.push_back(
        fmt::format("{} of {} elements failed: a policy for bad samples (on_error), or "
                    "`headpond verify`, deals with them",
                    tried.failed, tried.asked));
  }
  const Explanation explanation = explain(dataset);
  for (const FrozenNote& note : explanation.frozen) report.findings.push_back(note.what + ": " + note.why);
  for (const MovingNote& note : explanation.moving) report.findings.push_back(note.what + ": " + note.why);
  for (const RestoreNote& note : explanation.restore) report.findings.push_back(note.what + ": " + note.why);
}

std::string size_text(int64_t bytes) {
  const auto of = static_cast<double>(bytes);
  return bytes < 1'000'000 ? fmt::format("{:.1f} kB", of / 1e3) : fmt::format("{:.1f} MB", of / 1e6);
}

std::string count_text(const std::optional<int64_t>& count) {
  if (!count) return "not known before the end";
  return *count == kEndless ? "without end" : fmt::format("{}", *count);
}

}  // namespace

CheckReport check(const Dataset& dataset, const CheckOptions& options) {
  if (const auto opened = check(dataset); !opened) throw Exception(opened.error());
  internal::prepare(dataset, internal::one_by_one);
  if (Error error = internal::shortage_below(*dataset.node())) throw Exception(std::move(error));
  std::vector<Node::Ref> nodes;
  collect(dataset.node(), nodes);
  const int64_t rows = rows_of(*dataset.node());
  CheckReport report{.spec = to_string(dataset.spec()), .cardinality = dataset.cardinality()};
  Tried tried;
  const Node::Ref single = below_batches(dataset);
  if (options.elements > 0) tried = internal::try_elements(single, options.loader.seed, options.elements, rows);
  report.tried = tried.asked;
  report.left_out = tried.holes;
  report.failed = tried.failed;
  report.errors = tried.errors;
  const Planned planned{.nodes = nodes, .tried = tried, .single = *single, .rows = rows, .options = options};
  internal::forecast_memory(planned, report);
  report.mapped_bytes = mapped_bytes_of(nodes);
  if (report.cardinality != 0) internal::forecast_times(planned, report);
  add_prepared(planned, report);
  find_orders(nodes, options, rows > 1 ? rows : kDefaultBatch, report);
  find_maps(nodes, report);
  if (!options.label.empty()) find_label(dataset, options, rows > 1 ? rows : kDefaultBatch, report);
  find_emptiness(options, tried, *single, report);
  add_findings(dataset, tried, report);
  return report;
}

int64_t CheckReport::memory_bytes() const {
  int64_t all = 0;
  for (const MemoryPart& part : memory) all += part.bytes;
  return all;
}

std::string CheckReport::to_string() const {
  std::string text = fmt::format("an element: {}\nelements in an epoch: {}\n", spec, count_text(cardinality));
  if (tried > 0) {
    text += fmt::format("{} elements were made on one thread, {:.1f} us each; {} failed, {} were left out\n", tried,
                        element_ns / 1000, failed, left_out);
  } else {
    text += "no element was made\n";
  }
  for (const std::string& error : errors) text += "  " + error + "\n";
  if (!memory.empty()) text += fmt::format("memory: about {}\n", size_text(memory_bytes()));
  for (const MemoryPart& part : memory) text += fmt::format("  {}: {}\n", part.what, size_text(part.bytes));
  if (mapped_bytes > 0) {
    text += fmt::format("mapped files: {} at most, which the system takes back where it needs memory\n",
                        size_text(mapped_bytes));
  }
  if (first_batch_s) {
    text += fmt::format("the first batch takes about {:.3f} s; {:.3f} s later all that is made ahead is ready\n",
                        *first_batch_s, *fill_s);
  }
  if (prepared) {
    text += fmt::format(
        "operators up to {} give the same elements in each epoch: {}; caching or converting them takes {:.1f} s once\n",
        prepared->op, size_text(prepared->bytes), prepared->seconds);
  }
  for (const OrderQuality& order : orders) {
    const std::string what = order.rows > 1 ? fmt::format("a batch of {} rows", order.rows) : "an element";
    text += fmt::format("{}: moves {} by {:.0f} positions on average, {} at most", order.op, what, order.displacement,
                        order.span);
    if (order.reach) text += fmt::format("; reach {:.3f} (1: a full shuffle)", *order.reach);
    if (order.mix) text += fmt::format(", mix {:.2f} (1: as mixed as can be)", *order.mix);
    text += "\n";
  }
  if (label) {
    text += fmt::format("classes of '{}': {} in {} batches, {}\n", label->field, label->classes, label->batches,
                        label->mix ? fmt::format("mix {:.2f}", *label->mix) : "too few to see how they mix");
  }
  for (const std::string& finding : findings) text += "finding: " + finding + "\n";
  return text;
}

}  // namespace headpond
