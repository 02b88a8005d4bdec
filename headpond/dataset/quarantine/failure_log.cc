// SPDX-License-Identifier: Apache-2.0
#include "headpond/dataset/quarantine/failure_log.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <utility>

#include "headpond/base/log.h"
#include "headpond/dataset/quarantine/failed_place_internal.h"
#include "headpond/dataset/quarantine/lines_internal.h"
#include "headpond/dataset/run_state.h"
#include "headpond/tensor/source_names.h"

namespace headpond::internal {
namespace {

std::string whole_text(const Error& error) {
  const std::string text = error.to_string(), kind = fmt::format("{}: ", to_string(error.kind()));
  return text.starts_with(kind) ? text.substr(kind.size()) : text;
}

size_t hash_of(std::string_view line) { return std::hash<std::string_view>()(line); }

std::string hex(uint64_t number) { return fmt::format("{:016x}", number); }

// Whether an on_error may be in it, also one in a dataset that a function makes.
bool may_handle_errors(const Dataset& dataset) {
  const std::vector<const Node*> nodes = nodes_of(*dataset.node());
  return std::any_of(nodes.begin(), nodes.end(),
                     [](const Node* node) { return node->facts().decides_in_order || node->facts().makes_datasets; });
}

}  // namespace

FailureLog::FailureLog(const Dataset& dataset, uint64_t seed, const std::string& path)
    : dataset_(dataset), seed_(seed) {
  if (path.empty()) return;
  pipeline_ = hex(fingerprint_of(dataset));
  file_.emplace(value_or_throw(FileAppender::open(path)));
  if (!may_handle_errors(dataset)) {
    log(LogLevel::warning, path + ": the pipeline has no on_error, so no failed element will be written here");
  }
  if (file_->is_stream()) return;
  const std::string text = value_or_throw(text_of_file(path));
  for_lines(text, [this](std::string_view line) { known_.insert(hash_of(line)); });
  has_part_ = !text.empty() && text.back() != '\n';
}

// In the order of the plan's lines.
void FailureLog::find_handlers(const Node& node, int64_t& step) {
  for (const Node::Ref& input : node.facts().inputs) find_handlers(*input, step);
  ++step;
  if (node.facts().decides_in_order) (*handlers_)[&node] = step;
}

// Other handlers may be gone, and have an address that is used again.
std::optional<int64_t> FailureLog::step_of(const FailedElement& failed) {
  if (int64_t step = 0; !handlers_) {
    handlers_.emplace();
    find_handlers(*dataset_.node(), step);
  }
  const auto handler = failed.outer.empty() ? handlers_->find(failed.handler) : handlers_->end();
  return handler == handlers_->end() ? std::nullopt : std::optional(handler->second);
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
  const auto step = step_of(failed);
  const auto is_of = [&](const FailedCounts& counts) {
    return counts.step == step && counts.op == *failed.handler_title;
  };
  auto counts = std::find_if(counts_.begin(), counts_.end(), is_of);
  if (counts == counts_.end()) counts = counts_.insert(counts_.end(), {.op = *failed.handler_title, .step = step});
  int64_t* const by_action[] = {&counts->failed, &counts->skipped, &counts->substituted};
  ++*by_action[static_cast<size_t>(failed.action)];
}

QuarantineEntry FailureLog::entry_of(const FailedElement& failed) {
  RecordPlace from = place_of(failed.provenance);
  QuarantineEntry entry{.source = std::move(from.source),
                        .kind = std::string(to_string(failed.error.kind())),
                        .cause = whole_text(failed.error),
                        .action = to_string(failed.action),
                        .epoch = static_cast<int64_t>(failed.epoch),
                        .element = failed.element_number,
                        .key = hex(failed.key),
                        .outer = failed.outer,
                        .error = failed.error_number,
                        .step = step_of(failed),
                        .seed = static_cast<int64_t>(seed_),
                        .pipeline = pipeline_};
  if (failed.position >= 0) entry.position = failed.position;
  if (failed.provenance.source != 0) entry.record = static_cast<int64_t>(from.record);
  const Error error = entry.step ? located(failed.error, failed.handler->input(), failed.provenance) : failed.error;
  ErrorPlace place = error.place();
  entry.op = std::move(place.op);
  if (!place.source.empty()) entry.source = std::move(place.source);
  if (place.record) entry.record = static_cast<int64_t>(*place.record);
  if (place.offset) entry.offset = static_cast<int64_t>(*place.offset);
  return entry;
}

Result<void> FailureLog::write() {
  if (pending_.empty() || !file_) return {};
  // Line by line, so that after an error no line is written that the file has.
  for (size_t done = 0; done < pending_.size();) {
    const size_t line = pending_.find('\n', done) + 1 - done;
    auto written = file_->append((has_part_ ? "\n" : "") + pending_.substr(done, line));
    has_part_ = !written;
    if (!written) {
      pending_.erase(0, done);
      return written;
    }
    unsynced_ = true;
    done += line;
  }
  pending_.clear();
  return {};
}

Result<void> FailureLog::sync() {
  if (!unsynced_) return {};
  HEADPOND_TRY(file_->sync());
  unsynced_ = false;
  return {};
}

}  // namespace headpond::internal
