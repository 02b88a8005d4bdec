// SPDX-License-Identifier: Apache-2.0
#include "headpond/tf1/record_input.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

#include "headpond/base/permutation.h"
#include "headpond/base/random.h"
#include "headpond/io/file/glob.h"
#include "headpond/queue/runner/coordinator.h"
#include "headpond/queue/runner/queue_runner.h"
#include "headpond/tf1/readers.h"
#include "headpond/tf1/rows_internal.h"

namespace headpond::tf1 {
namespace {

FIFOQueue strings(int64_t capacity, const char* name) {
  return FIFOQueue({.capacity = capacity, .dtypes = {DType::bytes}, .shapes = {Shape{}}, .default_name = name});
}

// The records of all files, once, in the order in which threads bring them. Its end ends the threads.
class Epoch {
 public:
  Epoch(const std::vector<std::string>& files, const RecordInputOptions& options)
      : records_(strings(kAhead * options.parallelism, "record_input/files")) {
    const FIFOQueue names = strings(-1, "record_input/names");
    for (const std::string& file : files) (void)names.enqueue({Tensor::scalar(file)});
    (void)names.close();
    const TFRecordReader reader({.compression = options.compression});
    const auto bring = [names, reader, records = records_](const std::stop_token& stop) -> Result<void> {
      const auto record = reader.read(names, {.stop = stop});
      if (!record) return fail(record.error());
      return records.enqueue({Tensor::scalar(record->value)}, {.stop = stop});
    };
    QueueRunner(records_, {static_cast<size_t>(options.parallelism), bring}).start(coordinator_);
  }
  const Queue& records() const { return records_; }

 private:
  static constexpr int64_t kAhead = 16;  // Records a thread: what is read while the buffer is emptied.
  FIFOQueue records_;
  Coordinator coordinator_;
};

// The records of epoch after epoch out of a buffer. One thread at a time.
class Shuffled {
 public:
  Shuffled(const Patterns& patterns, const RecordInputOptions& options)
      : patterns_(patterns.all()), options_(options), random_(key_of(0)), wanted_(at_first()) {}

  Result<Element> next(const std::stop_token& stop) {
    while (buffer_.empty() || (!is_over_ && static_cast<int64_t>(buffer_.size()) < wanted_)) {
      if (error_) return fail(error_);
      if (is_over_) {
        random_ = Random(key_of(++epoch_));
        wanted_ = at_first();
      }
      is_over_ = false;
      auto filled = fill(stop);
      if (filled) continue;
      error_ = std::move(filled).error();
      is_over_ = true;
    }
    std::swap(buffer_[random_.below(buffer_.size())], buffer_.back());
    Element record = std::move(buffer_.back());
    buffer_.pop_back();
    wanted_ = std::min(wanted_ + 1, options_.buffer_size);
    return record;
  }
  /// Ends the threads that read.
  void stop() { files_.reset(); }

 private:
  int64_t at_first() const { return std::max<int64_t>(options_.buffer_size / 2, 1); }
  RandomKey key_of(uint64_t epoch) const { return random_key(options_.seed, "record_input", 0, epoch); }

  Result<void> fill(const std::stop_token& stop) {
    if (!files_) HEADPOND_TRY(start(epoch_));
    auto record = files_->records().dequeue({.stop = stop});
    if (record) {
      buffer_.push_back(std::move(*record));
      return {};
    }
    const Error& error = record.error();
    if (error.kind() != ErrorKind::OutOfRange) return fail(error);
    if (error.cause() != nullptr) return fail(*error.cause());
    if (files_->records().stats().dequeued == 0)
      return fail(ErrorKind::NotFound, fmt::format("{}: these files hold no record", fmt::join(patterns_, ", ")));
    is_over_ = true;
    return start(epoch_ + 1);  // Ahead, while the buffer is emptied.
  }

  Result<void> start(uint64_t epoch) {
    auto files = expand_files(patterns_);
    if (!files) return fail(std::move(files).error());
    const auto count = static_cast<int64_t>(files->size());
    const auto first = static_cast<int64_t>(options_.shift_ratio * static_cast<double>(count));
    const Permutation order(random_key(options_.seed, "record_input/files", 0, epoch), count);
    std::vector<std::string> ordered;
    ordered.reserve(files->size());
    for (int64_t i = 0; i < count; ++i) ordered.push_back((*files)[static_cast<size_t>(order((first + i) % count))]);
    files_ = std::make_unique<Epoch>(ordered, options_);
    return {};
  }

  const std::vector<std::string> patterns_;
  const RecordInputOptions options_;
  std::unique_ptr<Epoch> files_;
  std::vector<Element> buffer_;
  uint64_t epoch_ = 0;  // Epoch of the records in the buffer.
  Random random_;
  int64_t wanted_;        // So many are in the buffer when the next one is chosen, unless the epoch has no more.
  bool is_over_ = false;  // All records of the epoch are, or were, in the buffer.
  Error error_;           // Returned after the remaining records.
};

void check(const RecordInputOptions& options) {
  constexpr int64_t kMostThreads = 1024;
  const auto at_least_one = [](const char* name, int64_t value) {
    if (value < 1) internal::refuse("RecordInput", fmt::format("{} is {}, at least 1 is needed", name, value));
  };
  at_least_one("batch_size", options.batch_size);
  at_least_one("buffer_size", options.buffer_size);
  at_least_one("parallelism", options.parallelism);
  if (options.parallelism > kMostThreads)
    internal::refuse("RecordInput", fmt::format("parallelism is {}, at most {}", options.parallelism, kMostThreads));
  if (!(options.shift_ratio >= 0 && options.shift_ratio < 1))
    internal::refuse("RecordInput", fmt::format("shift_ratio is {}, not in [0, 1)", options.shift_ratio));
}

}  // namespace

struct RecordInput::State {
  State(const Patterns& patterns, const RecordInputOptions& options)
      : batch_size(options.batch_size), batches(strings(std::max(kAhead, options.batch_size), "record_input")) {
    const auto shuffled = std::make_shared<Shuffled>(patterns, options);
    QueueRunner(batches, {[shuffled, queue = batches](const std::stop_token& stop) -> Result<void> {
                  auto record = shuffled->next(stop);
                  auto done = record ? queue.enqueue(std::move(*record), {.stop = stop}) : fail(record.error());
                  if (!done) shuffled->stop();
                  return done;
                }})
        .start(coordinator);
  }

  static constexpr int64_t kAhead = 32;
  const int64_t batch_size;
  const FIFOQueue batches;
  Coordinator coordinator;
};

RecordInput::RecordInput(const Patterns& patterns, RecordInputOptions options) {
  if (patterns.all().empty()) internal::refuse("RecordInput", "no file is named");
  check(options);
  state_ = std::make_shared<State>(patterns, options);
}

Result<std::vector<std::string>> RecordInput::read(Wait wait) const {
  const auto state = state_;
  const auto batch = state->batches.dequeue_many(state->batch_size, std::move(wait));
  if (!batch) {
    const Error& error = batch.error();
    return fail(error.kind() == ErrorKind::OutOfRange && error.cause() != nullptr ? *error.cause() : error);
  }
  std::vector<std::string> records;
  records.reserve(static_cast<size_t>(state->batch_size));
  for (int64_t i = 0; i < state->batch_size; ++i) records.emplace_back((*batch)[0].bytes_at(i));
  return records;
}

void RecordInput::close() const { (void)state_->coordinator.request_stop(); }
const Queue& RecordInput::queue() const { return state_->batches; }

}  // namespace headpond::tf1
