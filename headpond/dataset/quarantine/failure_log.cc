// SPDX-License-Identifier: Apache-2.0
#include "headpond/dataset/quarantine/failure_log.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <utility>

#include "headpond/dataset/quarantine/lines_internal.h"
#include "headpond/dataset/run_state.h"

namespace headpond::internal {
namespace {

std::string whole_text(const Error& error) {
  const std::string text = error.to_string(), kind = fmt::format("{}: ", to_string(error.kind()));
  return text.starts_with(kind) ? text.substr(kind.size()) : text;
}

size_t hash_of(std::string_view line) { return std::hash<std::string_view>()(line); }

std::string hex(uint64_t number) { return fmt::format("{:016x}", number); }

}  // namespace

FailureLog::FailureLog(const Dataset& dataset, uint64_t seed, const std::string& path)
    : dataset_(dataset), seed_(seed) {
  if (path.empty()) return;
  pipeline_ = hex(fingerprint_of(dataset));
  std::vector<const Node*> open;
  int64_t step = 0;
  find_handlers(*dataset.node(), open, step);
  file_.emplace(value_or_throw(FileAppender::open(path)));
  if (file_->is_stream()) return;
  const std::string text = value_or_throw(text_of_file(path));
  for_lines(text, [this](std::string_view line) { known_.insert(hash_of(line)); });
  has_part_ = !text.empty() && text.back() != '\n';
}

// In the order of the plan's lines. `open`: the nodes that no on_error handles yet.
void FailureLog::find_handlers(const Node& node, std::vector<const Node*>& open, int64_t& step) {
  std::vector<const Node*> below;
  for (const Node::Ref& input : node.facts().inputs) find_handlers(*input, below, step);
  ++step;
  if (node.facts().decides_in_order) {
    handlers_[&node] = {step, std::move(below)};
    return;
  }
  open.insert(open.end(), below.begin(), below.end());
  open.push_back(&node);
}

void FailureLog::add(std::vector<FailedElement>& failed) {
  for (const FailedElement& one : failed) {
    count(one);
    if (!file_) continue;
    std::string line = to_line(entry_of(one));
    if (!known_.contains(hash_of(line))) pending_ += line;
  }
  failed.clear();
}

void FailureLog::count(const FailedElement& failed) {
  const auto is_of = [&](const FailedCounts& counts) { return counts.op == *failed.handler_title; };
  auto counts = std::find_if(counts_.begin(), counts_.end(), is_of);
  if (counts == counts_.end()) counts = counts_.insert(counts_.end(), {.op = *failed.handler_title});
  int64_t* const by_action[] = {&counts->failed, &counts->skipped, &counts->substituted};
  ++*by_action[static_cast<size_t>(failed.action)];
}

QuarantineEntry FailureLog::entry_of(const FailedElement& failed) const {
  QuarantineEntry entry{.source = source_name(failed.provenance.source),
                        .kind = std::string(to_string(failed.error.kind())),
                        .cause = whole_text(failed.error),
                        .action = to_string(failed.action),
                        .epoch = static_cast<int64_t>(failed.epoch),
                        .element = failed.element_number,
                        .error = failed.error_number,
                        .seed = static_cast<int64_t>(seed_),
                        .pipeline = pipeline_};
  if (failed.position >= 0) entry.position = failed.position;
  if (failed.provenance.source != 0) entry.record = static_cast<int64_t>(failed.provenance.record);
  const auto handler = handlers_.find(failed.handler);
  if (handler == handlers_.end()) return entry;
  entry.step = handler->second.step;
  size_t longest = 0, sources = 0;
  for (const Node* const node : handler->second.below) {
    const std::string title = node->title();
    if (failed.error.message().starts_with(title) && title.size() > longest) {
      longest = title.size();
      entry.op = title;
    }
    if (!node->facts().inputs.empty()) continue;
    ++sources;
    if (longest == 0) entry.op = title;
    if (const auto offset = node->offset_of(failed.provenance)) entry.offset = static_cast<int64_t>(*offset);
  }
  if (longest == 0 && sources > 1) entry.op.clear();  // It is one of them.
  return entry;
}

Result<void> FailureLog::write() {
  if (pending_.empty() || !file_) return {};
  auto written = file_->append((has_part_ ? "\n" : "") + pending_);
  has_part_ = !written;
  if (!written) return written;
  pending_.clear();
  unsynced_ = true;
  return {};
}

Result<void> FailureLog::sync() {
  if (!unsynced_) return {};
  HEADPOND_TRY(file_->sync());
  unsynced_ = false;
  return {};
}

}  // namespace headpond::internal
