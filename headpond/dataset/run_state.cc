// SPDX-License-Identifier: Apache-2.0
#include "headpond/dataset/run_state.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <set>

#include "headpond/base/crc32c.h"
#include "headpond/base/interrupt/interrupt.h"
#include "headpond/base/log.h"
#include "headpond/base/mutex.h"

namespace headpond::internal {
namespace {

constexpr std::string_view kMagic = "hps";
constexpr char kVersion = '1', kVersionInOrder = '2';  // Versions of the format.
constexpr size_t kPlanBytes = 4096;                    // Bytes of the plan that a state holds.
constexpr int64_t kLookEach = 256;                     // Elements left out.

uint64_t fingerprint(std::string_view plan) {
  uint64_t hash = 0xcbf29ce484222325;
  for (const char c : plan) hash = (hash ^ static_cast<uint8_t>(c)) * 0x100000001b3;  // FNV-1a
  return hash;
}

uint32_t checksum(std::string_view bytes) {
  return crc32c({reinterpret_cast<const std::byte*>(bytes.data()), bytes.size()});
}

std::string_view take_line(std::string_view& text) {
  const std::string_view line = text.substr(0, text.find('\n'));
  text.remove_prefix(std::min(line.size() + 1, text.size()));
  return line;
}

// The first line in which two plans differ, as far as the state holds `then`. `shown` is the one of now, with the
// places where data lies.
std::string difference(std::string_view then, std::string_view now, std::string_view shown) {
  const bool is_truncated = then.size() >= kPlanBytes;
  for (int line = 1;; ++line) {
    const bool is_last = then.find('\n') == std::string_view::npos, is_part = is_last && is_truncated;
    const bool is_last_now = now.find('\n') == std::string_view::npos;
    const std::string_view a = take_line(then), b = take_line(now), with_place = take_line(shown);
    if (a.empty() != b.empty()) {
      return fmt::format("step {}: {} has '{}', {} has no such step", line, b.empty() ? "the state" : "the pipeline",
                         b.empty() ? a : with_place, b.empty() ? "the pipeline" : "the state");
    }
    if (is_part ? !b.starts_with(a) : a != b) {
      return fmt::format("step {}: the state has '{}{}', the pipeline has '{}'", line, a, is_part ? "..." : "",
                         with_place);
    }
    if (is_last || is_last_now) {
      return fmt::format("they differ in step {} or a later one, after the part of the plan that a state holds", line);
    }
  }
}

// Called before the checksum is checked, which another version may compute differently.
Error other_version(char version) {
  if (version < '0' || version > '9') return {ErrorKind::DataLoss, "these bytes are not a state"};
  return {ErrorKind::FailedPrecondition,
          fmt::format("a state of format version {}; this program reads versions {} and {}", version, kVersion,
                      kVersionInOrder)};
}

// Once for each pipeline in a process, as a program may restore again and again.
void warn_of_unnamed_functions(const Dataset& dataset, const std::string& plan) {
  std::set<std::string> titles;
  for (const Node* const node : nodes_of(*dataset.node())) {
    if (node->facts().opaque) titles.insert(node->title());
  }
  if (titles.empty()) return;
  static Mutex mu;
  static std::set<std::string>* const said = new std::set<std::string>;
  {
    const MutexLock lock(mu);
    if (!said->insert(plan).second) return;
  }
  log(LogLevel::warning,
      fmt::format("a restored state cannot tell whether a function without a name has changed: {}; give it a name",
                  fmt::join(titles, ", ")));
}

void visit_numbers(StateVisitor& visitor, std::vector<int64_t>& numbers) {
  auto count = static_cast<int64_t>(numbers.size());
  visitor.number_within(count, 1, kEndless);
  if (!visitor.is_restoring()) {
    for (int64_t& number : numbers) visitor.number(number);
    return;
  }
  for (; count > 0 && visitor.ok(); --count) visitor.number_within(numbers.emplace_back(), 0, kEndless);
}

void visit(StateVisitor& visitor, SavedRun& run, char version) {
  visitor.number(run.fingerprint);
  visitor.number(run.seed);
  visitor.number(run.state.epoch);
  visitor.number(run.state.index);
  visitor.text(run.state.position);
  visitor.text(run.plan);
  if (version == kVersionInOrder) visit_numbers(visitor, run.state.in_order);
}

// The slots of a stream that may have an end are kEndless too.
bool has_no_end(const Node& node) {
  if (node.slots() != kEndless) return false;
  const std::vector<Node::Ref>& inputs = node.facts().inputs;
  const auto has_none = [](const Node::Ref& input) { return has_no_end(*input); };
  return node.kind() != Kind::stream || (!inputs.empty() && std::all_of(inputs.begin(), inputs.end(), has_none));
}

}  // namespace

std::string save(const RunState& state, const Dataset& dataset, uint64_t seed) {
  return save(state, identity_of(dataset), seed);
}

std::string save(const RunState& state, const std::string& plan, uint64_t seed) {
  const char version = state.in_order.empty() ? kVersion : kVersionInOrder;
  SavedRun run{fingerprint(plan), seed, state, plan.substr(0, kPlanBytes)};
  StateVisitor visitor;
  visit(visitor, run, version);
  std::string saved = std::string(kMagic) + version + visitor.saved();
  const uint32_t sum = checksum(saved);
  saved.append(reinterpret_cast<const char*>(&sum), sizeof(sum));
  return saved;
}

Result<SavedRun> read_state(std::string_view saved) {
  uint32_t sum = 0;
  if (!saved.starts_with(kMagic) || saved.size() < kMagic.size() + 1 + sizeof(sum)) {
    return fail(ErrorKind::DataLoss, fmt::format("these {} bytes are not a state", saved.size()));
  }
  const char version = saved[kMagic.size()];
  if (version != kVersion && version != kVersionInOrder) return fail(other_version(version));
  std::memcpy(&sum, saved.data() + saved.size() - sizeof(sum), sizeof(sum));
  saved.remove_suffix(sizeof(sum));
  if (checksum(saved) != sum) return fail(ErrorKind::DataLoss, "the state's checksum is wrong");
  saved.remove_prefix(kMagic.size() + 1);
  SavedRun run;
  StateVisitor visitor = StateVisitor::restoring(saved);
  visit(visitor, run, version);
  if (!visitor.complete() || run.state.index < 0) {
    return fail(ErrorKind::DataLoss, "the state is truncated or too long");
  }
  return run;
}

Result<SavedRun> read_state(std::string_view saved, const Dataset& dataset) {
  auto run = read_state(saved);
  if (!run) return run;
  const std::string plan = identity_of(dataset);
  if (run->fingerprint == fingerprint(plan)) return run;
  return fail(ErrorKind::FailedPrecondition,
              "the state is of another pipeline: " + difference(run->plan, plan, dataset.plan()));
}

Result<RunState> restore(std::string_view saved, const Dataset& dataset, uint64_t seed) {
  auto run = read_state(saved, dataset);
  if (!run) return fail(run.error());
  if (run->seed != seed) {
    return fail(ErrorKind::FailedPrecondition,
                fmt::format("the state is of a run with seed {}, this run has {}", run->seed, seed));
  }
  warn_of_unnamed_functions(dataset, identity_of(dataset));
  return std::move(run->state);
}

uint64_t fingerprint_of(const Dataset& dataset) { return fingerprint(identity_of(dataset)); }

Error position_error(const StateVisitor& visitor) {
  if (visitor.complete()) return {};
  if (!visitor.ok()) return {ErrorKind::DataLoss, "the state's position does not exist in this pipeline"};
  return {ErrorKind::FailedPrecondition,
          "the state is of a run with deterministic=false, which had delivered elements early"};
}

std::string position_of(Iterator& iterator) {
  StateVisitor visitor;
  iterator.visit_state(visitor);
  return visitor.saved();
}

Element::Names names_of(const Spec& spec) {
  auto names = std::make_shared<std::vector<std::string>>();
  bool any = false;
  for (const FieldSpec& field : spec) {
    names->push_back(field.name);
    any = any || !field.name.empty();
  }
  return any ? names : nullptr;
}

Got Holes::count(Got got, Context& context) {
  if (got == Got::pending) return got;
  if (got != Got::hole) count_ = 0;
  if (got != Got::hole) return got;
  ++count_;
  if (count_ % kLookEach == 0 && look_between_elements())
    return context.fail({ErrorKind::Cancelled, fmt::format("{}: interrupted", node_.title())});
  if (count_ < most) return got;
  count_ = 0;
  if (!has_no_end(node_)) return got;
  return context.fail(
      {ErrorKind::FailedPrecondition,
       fmt::format(
           "{}: {} elements in a row were left out of a pipeline without an end; there may never be another one",
           node_.title(), most.load())});
}

Error end_of_data(std::string_view who) {
  return {ErrorKind::OutOfRange, fmt::format("{}: all elements were given", who)};
}

Error not_the_end(const Error& error, std::string_view who) {
  return error.is_end() ? Error(ErrorKind::OutOfRange, fmt::format("{}: an element failed", who), error) : error;
}

Error futile_epoch(const std::string& who, uint64_t epoch) {
  return {
      ErrorKind::FailedPrecondition,
      fmt::format("{}: no element in epoch {} of a run without an end; there may never be another one", who, epoch)};
}

}  // namespace headpond::internal
