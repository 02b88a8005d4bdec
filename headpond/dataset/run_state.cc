// SPDX-License-Identifier: Apache-2.0
#include "headpond/dataset/run_state.h"

#include <fmt/format.h>

#include <cstring>
#include <set>

#include "headpond/base/crc32c.h"
#include "headpond/base/log.h"
#include "headpond/base/mutex.h"

namespace headpond::internal {
namespace {

constexpr std::string_view kMagic = "hps";
constexpr char kVersion = '1';       // Of the format.
constexpr size_t kPlanBytes = 4096;  // Of the plan that a state holds.

uint64_t fingerprint(std::string_view plan) {
  uint64_t hash = 0xcbf29ce484222325;
  for (const char c : plan) hash = (hash ^ static_cast<uint8_t>(c)) * 0x100000001b3;  // FNV-1a
  return hash;
}

uint32_t checksum(std::string_view bytes) {
  return crc32c({reinterpret_cast<const std::byte*>(bytes.data()), bytes.size()});
}

// The first line in which two plans differ, as far as the state holds `then`.
std::string difference(std::string_view then, std::string_view now) {
  const bool is_truncated = then.size() >= kPlanBytes;
  for (int line = 1;; ++line) {
    const std::string_view a = then.substr(0, then.find('\n')), b = now.substr(0, now.find('\n'));
    const bool is_last = a.size() == then.size(), is_part = is_last && is_truncated;
    if (is_part ? !b.starts_with(a) : a != b) {
      return fmt::format("step {}: the state has '{}{}', the pipeline has '{}'", line, a, is_part ? "..." : "", b);
    }
    if (is_last || b.size() == now.size()) {
      return fmt::format("they differ in step {} or a later one, after the part of the plan that a state holds", line);
    }
    then.remove_prefix(a.size() + 1);
    now.remove_prefix(b.size() + 1);
  }
}

// Called before the checksum is checked, which another version may compute differently.
Error other_version(char version) {
  if (version < '0' || version > '9') return {ErrorKind::DataLoss, "these bytes are not a state"};
  return {ErrorKind::FailedPrecondition,
          fmt::format("a state of format version {}; this program reads version {}", version, kVersion)};
}

void add_opaque(const Node& node, std::set<std::string>& titles) {
  for (const Node::Ref& input : node.facts().inputs) add_opaque(*input, titles);
  if (node.facts().opaque) titles.insert(node.title());
}

// Once for each pipeline in a process, as a program may restore again and again.
void warn_of_unnamed_functions(const Dataset& dataset, const std::string& plan) {
  std::set<std::string> titles;
  add_opaque(*dataset.node(), titles);
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

struct Frame {
  uint64_t plan_hash = 0, seed = 0;
  RunState state;
  std::string plan;
  void visit(StateVisitor& visitor) {
    visitor.number(plan_hash);
    visitor.number(seed);
    visitor.number(state.epoch);
    visitor.number(state.index);
    visitor.text(state.position);
    visitor.text(plan);
  }
};

}  // namespace

std::string save(const RunState& state, const Dataset& dataset, uint64_t seed) {
  const std::string plan = dataset.plan();
  Frame frame{fingerprint(plan), seed, state, plan.substr(0, kPlanBytes)};
  StateVisitor visitor;
  frame.visit(visitor);
  std::string saved = std::string(kMagic) + kVersion + visitor.saved();
  const uint32_t sum = checksum(saved);
  saved.append(reinterpret_cast<const char*>(&sum), sizeof(sum));
  return saved;
}

Result<RunState> restore(std::string_view saved, const Dataset& dataset, uint64_t seed) {
  uint32_t sum = 0;
  if (!saved.starts_with(kMagic) || saved.size() < kMagic.size() + 1 + sizeof(sum)) {
    return fail(ErrorKind::DataLoss, fmt::format("these {} bytes are not a state", saved.size()));
  }
  if (const char version = saved[kMagic.size()]; version != kVersion) return fail(other_version(version));
  std::memcpy(&sum, saved.data() + saved.size() - sizeof(sum), sizeof(sum));
  saved.remove_suffix(sizeof(sum));
  if (checksum(saved) != sum) return fail(ErrorKind::DataLoss, "the state's checksum is wrong");
  saved.remove_prefix(kMagic.size() + 1);
  Frame frame;
  StateVisitor visitor = StateVisitor::restoring(saved);
  frame.visit(visitor);
  if (!visitor.complete() || frame.state.index < 0)
    return fail(ErrorKind::DataLoss, "the state is truncated or too long");
  const std::string plan = dataset.plan();
  if (frame.plan_hash != fingerprint(plan)) {
    return fail(ErrorKind::FailedPrecondition, "the state is of another pipeline: " + difference(frame.plan, plan));
  }
  if (frame.seed != seed) {
    return fail(ErrorKind::FailedPrecondition,
                fmt::format("the state is of a run with seed {}, this run has {}", frame.seed, seed));
  }
  warn_of_unnamed_functions(dataset, plan);
  return frame.state;
}

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
  if (got != Got::hole) count_ = 0;
  const bool counts = node_.slots() == kEndless && node_.kind() != Kind::stream;
  if (got != Got::hole || !counts || ++count_ < kMost) return got;
  count_ = 0;
  return context.fail(
      {ErrorKind::FailedPrecondition,
       fmt::format(
           "{}: no element at {} positions in a row of a pipeline without an end; there may never be another one",
           node_.title(), kMost)});
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
