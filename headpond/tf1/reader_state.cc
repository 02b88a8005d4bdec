// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <stop_token>

#include "headpond/base/clock.h"
#include "headpond/tf1/reader_snapshot_internal.h"
#include "headpond/tf1/reader_state_internal.h"

namespace headpond::tf1::internal {
namespace {

using std::chrono::nanoseconds;
using std::chrono::steady_clock;

Error current_error(const std::string& file) {
  const Error error = current_exception_error();
  return {error.kind(), fmt::format("{}: {}", file, error.message()), error};
}

Result<std::string> name_in(const Element& element, const Queue& queue) {
  if (element.size() == 1 && element[0].dtype() == DType::bytes && element[0].size() == 1) {
    return std::string(element[0].bytes_at(0));
  }
  return fail(ErrorKind::InvalidArgument,
              fmt::format("a reader's queue holds names of files, one string an element; '{}' holds something else",
                          queue.name()));
}

}  // namespace

// The deadline and stop token that all waits of one call share.
class ReaderState::ReadDeadline {
 public:
  explicit ReadDeadline(const Wait& wait) : stop_(wait.stop), end_ns_(deadline_ns(now_ns(), wait.timeout)) {}
  Wait left() const {
    if (end_ns_ == INT64_MAX) return {.stop = stop_};
    return {.timeout = nanoseconds(std::max<int64_t>(0, end_ns_ - now_ns())), .stop = stop_};
  }

 private:
  std::stop_token stop_;
  int64_t end_ns_;
};

ReaderState::Ref ReaderState::take_idle() {
  const auto idle = std::ranges::find_if(begun_, [](const Ref& begun) { return !begun->is_busy; });
  if (idle == begun_.end()) return nullptr;
  (*idle)->is_busy = true;
  return *idle;
}

bool ReaderState::any_busy() const {
  return std::ranges::any_of(begun_, [](const Ref& begun) { return begun->is_busy; });
}

bool ReaderState::others_take_from(const std::string* queue) const { return std::ranges::count(taking_, queue) != 0; }

// When there are no more names: another call may have the last one in hand, or be reading a file that it gives back
// with records in it.
Result<ReaderState::Ref> ReaderState::take_last(const std::string* queue, const Error& queue_ended, const Wait& wait) {
  const std::stop_callback wake(wait.stop, [this] {
    MutexLock lock(mu_);
    given_back_.notify_all();
  });
  const auto end = steady_clock::now() + std::min<nanoseconds>(wait.timeout, std::chrono::hours(24 * 365));
  MutexLock lock(mu_);
  while (true) {
    if (wait.stop.stop_requested()) return fail(ErrorKind::Cancelled, kind_.description + ": a stop was requested");
    if (Ref idle = take_idle()) return idle;
    if (!any_busy() && !others_take_from(queue)) return fail(queue_ended);
    ++waiting_;
    const bool in_time = given_back_.wait_until(mu_, end);
    --waiting_;
    if (!in_time && steady_clock::now() >= end) {
      return fail(ErrorKind::DeadlineExceeded, kind_.description + ": timed out while others read the last files");
    }
  }
}

Result<ReaderState::Ref> ReaderState::take_name(const Queue& queue, const Wait& wait) const try {
  const auto element = queue.dequeue(wait);
  if (!element) return fail(element.error());
  auto name = name_in(*element, queue);
  if (!name) return fail(std::move(name).error());
  auto begun = std::make_shared<Begun>();
  begun->name = std::move(*name);
  begun->is_busy = true;
  if (kind_.on_name) kind_.on_name(begun->name);
  return begun;
} catch (...) {
  return fail(current_exception_error());
}

Result<ReaderState::Ref> ReaderState::take(const Queue& queue, const ReadDeadline& deadline) {
  const std::string* const id = &queue.name();  // Copies of a handle have one name.
  {
    MutexLock lock(mu_);
    if (Ref idle = take_idle()) return idle;
    taking_.push_back(id);
  }
  auto begun = take_name(queue, deadline.left());
  {
    MutexLock lock(mu_);
    taking_.erase(std::ranges::find(taking_, id));
    given_back_.notify_all();
    if (begun) begun_.push_back(*begun);
  }
  const bool is_end = !begun && begun.error().kind() == ErrorKind::OutOfRange;
  return is_end ? take_last(id, begun.error(), deadline.left()) : begun;
}

// Without memory a file is an error like any other that fails.
Result<void> ReaderState::open(Begun& begun) const try {
  if (begun.unit) return {};
  auto unit = kind_.open(begun.name, begun.position);
  if (!unit) return fail(std::move(unit).error());
  begun.unit = std::move(*unit);
  return {};
} catch (...) {
  return fail(current_error(begun.name));
}

// False at the end.
Result<bool> ReaderState::read_one(Begun& begun, std::vector<KeyValue>& records) try {
  KeyValue record;
  auto more = begun.unit->next(record);
  if (!more || !*more) return more;
  records.push_back(std::move(record));
  begun.reached = begun.unit->position();
  return true;
} catch (...) {
  return fail(current_error(begun.name));
}

Result<ReaderState::End> ReaderState::read_from(Begun& begun, int64_t n, std::vector<KeyValue>& records) const {
  if (begun.error) return fail(begun.error);
  HEADPOND_TRY(open(begun));
  while (static_cast<int64_t>(records.size()) < n) {
    auto more = read_one(begun, records);
    if (!more && records.empty()) return fail(std::move(more).error());
    if (!more) {
      begun.error = std::move(more).error();
      return End::goes_on;
    }
    if (!*more || kind_.one_record_each) return End::completed;
  }
  return End::goes_on;
}

// After a reset() or a restore() the file is nobody's any more.
void ReaderState::give_back(const Ref& begun, End end, size_t records) {
  MutexLock lock(mu_);
  const auto found = std::ranges::find(begun_, begun);
  if (found == begun_.end()) return;
  records_ += static_cast<int64_t>(records);
  completed_ += end == End::completed ? 1 : 0;
  if (records > 0) begun->position = begun->reached;
  begun->is_busy = false;
  if (end != End::goes_on) begun_.erase(found);
  given_back_.notify_all();
}

Result<std::vector<KeyValue>> ReaderState::read(const Queue& queue, int64_t n, const Wait& wait) try {
  if (n < 1) {
    return fail(ErrorKind::InvalidArgument, fmt::format("{}: asked for {} records", kind_.description, n));
  }
  const ReadDeadline deadline(wait);
  std::vector<KeyValue> records;
  while (true) {
    if (wait.stop.stop_requested()) return fail(ErrorKind::Cancelled, kind_.description + ": a stop was requested");
    const auto begun = take(queue, deadline);
    if (!begun) return fail(begun.error());
    Result<End> end = End::failed;
    try {
      end = read_from(**begun, n, records);
    } catch (...) {
      give_back(*begun, End::failed, 0);
      throw;
    }
    give_back(*begun, end.value_or(End::failed), records.size());
    if (!end) return fail(std::move(end).error());
    if (!records.empty()) return records;
  }
} catch (...) {
  return fail(current_exception_error());
}

int64_t ReaderState::records() const {
  MutexLock lock(mu_);
  return records_;
}

int64_t ReaderState::completed() const {
  MutexLock lock(mu_);
  return completed_;
}

int64_t ReaderState::waiting() const {
  MutexLock lock(mu_);
  return waiting_;
}

std::string ReaderState::save() const {
  MutexLock lock(mu_);
  ReaderSnapshot snapshot{kind_.description, records_, completed_, {}};
  for (const Ref& begun : begun_) snapshot.units.push_back({begun->name, begun->position});
  return to_bytes(snapshot);
}

Result<void> ReaderState::restore(std::string_view state) {
  auto snapshot = to_snapshot(state);
  if (!snapshot) return fail(std::move(snapshot).error());
  if (snapshot->description != kind_.description) {
    return fail(ErrorKind::FailedPrecondition,
                fmt::format("the state is of {}, the reader is {}", snapshot->description, kind_.description));
  }
  std::vector<Ref> begun;
  for (UnitSnapshot& unit : snapshot->units) {
    begun.push_back(std::make_shared<Begun>());
    begun.back()->name = std::move(unit.name);
    begun.back()->position = unit.position;
  }
  MutexLock lock(mu_);
  begun_ = std::move(begun);
  records_ = snapshot->records;
  completed_ = snapshot->completed;
  given_back_.notify_all();
  return {};
}

void ReaderState::reset() {
  MutexLock lock(mu_);
  begun_.clear();
  records_ = completed_ = 0;
  given_back_.notify_all();
}

}  // namespace headpond::tf1::internal
