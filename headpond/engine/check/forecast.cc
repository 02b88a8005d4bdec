// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "headpond/base/cpu.h"
#include "headpond/dataset/bases/batching.h"
#include "headpond/dataset/source/in_memory.h"
#include "headpond/engine/check/forecast_internal.h"
#include "headpond/engine/executor/resources.h"
#include "headpond/engine/stages/cost_model_internal.h"
#include "headpond/engine/stages/stage_internal.h"
#include "headpond/tensor/memory_account.h"

namespace headpond::internal {
namespace {

// What a run of several threads adds to an element of a generator, where that was measured: the lock of Python, memory
// that is not in the processor's cache.
constexpr double kBesideNs = 3000;
constexpr auto kElement = static_cast<int64_t>(sizeof(Element));

bool is(const Node& node, Role role) { return node.facts().role == role; }

int64_t memory_of(const CheckOptions& options) {
  return options.loader.memory ? *options.loader.memory : default_memory();
}

// Items of a stage that there are at once if the program is slower than the Loader: one that is ready and one more, and
// one for each thread, as ReorderBuffer::target() has it. docs/plan_files.md says so.
int64_t items_ahead(const CheckOptions& options) { return 2 + threads_of(options); }

// With the program's.
int64_t batches_at_once(const CheckOptions& options) {
  const int64_t most = items_ahead(options);
  return 1 + (options.loader.run_ahead >= 0 ? std::min(most, options.loader.run_ahead) : most);
}

// Elements that are no batches are made several at once if they are cheap and small, as CostModel has it. The first
// ones lie in new memory, and take longer than the usual one.
int64_t elements_together(const Stage& stage, const Planned& planned) {
  const Tried& tried = planned.tried;
  const LoaderOptions& loader = planned.options.loader;
  const bool has_batches =
      dynamic_cast<const Batching*>(stage.node) != nullptr || stage.mode == ExecutionMode::in_order;
  if (has_batches || stage.blocking || !loader.deterministic.value_or(true) || tried.asked == 0) return 1;
  const auto for_time = static_cast<int64_t>(CostModel::kTaskNs / (tried.usual_ns() + kBesideNs));
  const int64_t most_bytes = std::min(CostModel::kMostItemBytes, memory_of(planned.options) / 8);
  const int64_t for_bytes = most_bytes / std::max<int64_t>(tried.largest, 1);
  const int64_t most = std::clamp(std::min(for_time, for_bytes), int64_t{1}, CostModel::kMostElementsOpened);
  if (loader.run_ahead < 0) return most;
  return std::clamp(loader.run_ahead / (1 + threads_of(planned.options)), int64_t{1}, most);
}

// The blocks of an element with this spec; -1: elements differ in size.
int64_t blocks_of(const Spec& spec) {
  int64_t bytes = 0;
  for (const FieldSpec& field : spec) {
    const int64_t values = element_bytes(Spec{field});
    if (values < 0 || __builtin_add_overflow(bytes, block_bytes(values), &bytes)) return -1;
  }
  return bytes;
}

int64_t blocks_of(const Node& node, int64_t otherwise) {
  const int64_t bytes = blocks_of(node.spec());
  return bytes >= 0 ? bytes : otherwise;
}

// What the engine runs below `stage` as a stage of its own; null: nothing, or several.
const Node* below(const Stage& stage) {
  if (stage.mode == ExecutionMode::rows || stage.mode == ExecutionMode::positions) return nullptr;
  if (stage.mode == ExecutionMode::ahead && !stage.own_iterator) return stage.input;
  const Node& last = stage.mode == ExecutionMode::ahead ? *stage.input : *stage.node;
  return last.facts().inputs.size() == 1 ? &last.input() : nullptr;
}

// Stages below the one that delivers run ahead, too.
void add_what_is_ahead(const Planned& planned, std::vector<MemoryPart>& parts) {
  for (const Node* node = below(stage_of(*planned.nodes.front())); node != nullptr;) {
    const Stage stage = stage_of(*node);
    const bool is_ahead = stage.mode == ExecutionMode::ahead || stage.mode == ExecutionMode::positions;
    const bool has_batches = dynamic_cast<const Batching*>(node) != nullptr;
    const bool is_kept = is(*node, Role::store) && node->facts().location.empty();  // The same memory.
    const InMemory* const source = viewed(*node);
    const int64_t each = source != nullptr ? source->copied_bytes() : blocks_of(*node, planned.tried.largest);
    const int64_t elements = items_ahead(planned.options) * elements_together(stage, planned);
    if (is_ahead && !has_batches && !is_kept && each > 0)
      parts.push_back({node->title() + " makes ahead", elements * each});
    node = below(stage);
  }
}

// There are at most `most` elements.
void add_what_is_kept(const Node& node, int64_t each, int64_t most, double passing, std::vector<MemoryPart>& parts) {
  const int64_t held = held_by(node, most);
  if (held > 0) parts.push_back({node.title() + " holds", held * (each + kElement)});
  if (!is(node, Role::store) || !node.facts().location.empty() || node.slots() == kEndless) return;
  const InMemory* const source = viewed(node.input());
  const int64_t own = source != nullptr ? source->copied_bytes() : each;
  const auto kept = static_cast<int64_t>(passing * static_cast<double>(node.slots()));
  parts.push_back({node.title() + " keeps", kept * (own + kElement)});
}

bool is_over_filter(const Node& node) {
  return std::ranges::any_of(nodes_of(node), [](const Node* one) { return is(*one, Role::filter); });
}

// What is in the memory for elements beside what is delivered.
std::vector<MemoryPart> beside_batches(const Planned& planned) {
  const Tried& tried = planned.tried;
  std::vector<MemoryPart> parts;
  if (planned.rows > 1) {
    parts.push_back({"an element on each thread", tried.largest * threads_of(planned.options)});
  }
  add_what_is_ahead(planned, parts);
  const int64_t most = tried.is_all ? tried.asked : kEndless;
  for (const Node::Ref& node : planned.nodes) {
    // A filter above it is not known to leave out as many.
    const bool is_last_filter = is_over_filter(*node) && is_over_filter(planned.single);
    add_what_is_kept(*node, blocks_of(*node, tried.largest), most, is_last_filter ? tried.share_passing() : 1, parts);
  }
  return parts;
}

// Batches that are made while the program works on the first one.
int64_t batches_ahead(const CheckOptions& options, const std::optional<int64_t>& batches) {
  int64_t ahead = threads_of(options) + 1;
  if (options.loader.run_ahead >= 0) ahead = std::min(ahead, options.loader.run_ahead);
  return batches ? std::clamp(*batches - 1, int64_t{0}, ahead) : ahead;
}

}  // namespace

int threads_of(const CheckOptions& options) {
  return options.loader.threads >= 0 ? std::max(options.loader.threads, 1) : cpu_count();
}

Workers workers_of(const Planned& planned, int most_threads) {
  const LoaderOptions& loader = planned.options.loader;
  const auto waits = [](const Node::Ref& node) { return node->facts().blocking; };
  return {.threads = most_threads,
          .io_threads = loader.threads == 0 ? 0 : loader.io_threads,
          .are_waits_declared = std::ranges::any_of(planned.nodes, waits),
          .are_waits_detected = threads_of(planned.options) > 1};
}

int64_t bytes_of(const Node& node, int64_t otherwise) {
  const int64_t bytes = element_bytes(node);
  return bytes >= 0 ? bytes : otherwise;
}

// A shuffle holds twice its window only for a moment, and nobody holds more than there is.
int64_t held_by(const Node& node, int64_t most) {
  const int64_t holds = is(node, Role::order) ? node.facts().holds / 2 : node.facts().holds;
  return node.facts().inputs.size() == 1 ? std::min({holds, node.input().slots(), most}) : holds;
}

void forecast_memory(const Planned& planned, CheckReport& report) {
  const Node& top = *planned.nodes.front();
  const Tried& tried = planned.tried;
  const int64_t rows = planned.rows, values = bytes_of(top, tried.most_values * rows);
  const int64_t batch =  // Of many rows as if it had one field.
      rows > 1 ? block_bytes(values) : blocks_of(top, tried.largest);
  if (batch == 0 && tried.asked == 0) return;
  const int64_t memory = memory_of(planned.options);
  if (values > memory) {
    report.findings.push_back(fmt::format("{} has {} bytes, more than the memory of {}: a run would be refused",
                                          rows > 1 ? "a batch" : "an element", values, memory));
  }
  std::vector<MemoryPart> others = beside_batches(planned);
  int64_t room = memory;
  for (const MemoryPart& part : others) room -= part.bytes;
  // One more is begun if there is room for it and a quarter: ReorderBuffer::bytes_of_item().
  const int64_t fit = batch > 0 ? 1 + std::max<int64_t>(room - values - values / 4, -1) / batch : 1;
  const int64_t together = elements_together(stage_of(top), planned);
  const int64_t count = std::clamp(fit, int64_t{1}, batches_at_once(planned.options) * together);
  report.memory.push_back({"batches that are made or ready, and the program's", batch * count});
  for (MemoryPart& part : others) report.memory.push_back(std::move(part));
  for (const Node::Ref& node : planned.nodes) {
    const auto* const source = dynamic_cast<const InMemory*>(node.get());
    if (source != nullptr) report.memory.push_back({node->facts().op + " has in memory", source->bytes_in_memory()});
  }
}

void forecast_times(const Planned& planned, CheckReport& report) {
  const Tried& tried = planned.tried;
  if (tried.asked == 0) return;
  const int64_t rows = planned.rows;
  report.element_ns = tried.element_ns();
  const int threads = threads_of(planned.options);
  const int64_t ahead = batches_ahead(planned.options, report.cardinality);
  const Workers first = workers_of(planned, static_cast<int>(std::min<int64_t>(threads, rows)));
  // Rows of different sizes are copied into their batch by one thread.
  const int copying = element_bytes(planned.single.spec()) < 0 ? 1 : first.threads;
  const double copied_s = rows > 1 ? tried.copy_seconds(rows, copying) : 0;
  report.first_batch_s = tried.seconds_for(rows, first) + copied_s;
  // Nobody knows yet whether the program computes: one is left to it.
  const Workers beside = workers_of(planned, std::max(threads - 1, 1));
  report.fill_s = tried.seconds_for(rows * (1 + ahead), beside) - tried.seconds_for(rows, beside) +
                  copied_s * static_cast<double>(ahead);
}

}  // namespace headpond::internal
