// SPDX-License-Identifier: Apache-2.0
#include "headpond/dataset/bases/reread_input.h"

#include <algorithm>
#include <utility>

namespace headpond {
namespace {

constexpr int64_t kSnapshotEvery = 256;

}  // namespace

Got RereadInput::next(Context& context, Element& out) {
  take_snapshot();
  const bool again = is_rereading();
  const size_t known = context.failed.size();
  Got got = Got::error;
  try {
    got = input_->next(context, out);
  } catch (...) {
    out.clear();
    context.error = current_exception_error();
  }
  if (again) context.failed.resize(known);  // It was delivered before the state was saved.
  if (got == Got::value) ++read_;
  if (got == Got::error && ++errors_ <= reread_errors_to_) return Got::hole;
  return got;
}

// At a multiple of kSnapshotEvery, once.
void RereadInput::take_snapshot() {
  if (read_ % kSnapshotEvery != 0 || (!snapshots_.empty() && snapshots_.back().at == read_)) return;
  StateVisitor visitor;
  input_->visit_state(visitor);
  snapshots_.push_back({read_, errors_, visitor.saved()});
}

void RereadInput::release_before(int64_t first) {
  needed_ = std::max(needed_, first);
  while (snapshots_.size() > 1 && snapshots_[1].at <= needed_) snapshots_.pop_front();
}

void RereadInput::visit_state(StateVisitor& visitor) {
  if (!visitor.is_restoring()) {
    take_snapshot();
    release_before(needed_);
  }
  Snapshot oldest = visitor.is_restoring() ? Snapshot() : snapshots_.front();
  int64_t read = std::max(read_, reread_to_);
  int64_t errors = std::max(errors_, reread_errors_to_) - oldest.errors;
  visitor.number(oldest.at);
  visitor.text(oldest.state);
  visitor.number(read);
  visitor.number_within(errors, 0, kEndless);
  if (!visitor.is_restoring() || !visitor.ok()) return;
  StateVisitor inner = StateVisitor::restoring(oldest.state);
  input_->visit_state(inner);
  if (!inner.complete() || oldest.at < 0 || read < oldest.at || read - oldest.at > most_held_ + kSnapshotEvery) {
    return visitor.refuse();
  }
  read_ = needed_ = oldest.at;
  reread_to_ = read;
  reread_errors_to_ = errors;
  snapshots_.clear();
  snapshots_.push_back(std::move(oldest));
}

}  // namespace headpond
