// SPDX-License-Identifier: Apache-2.0
#include "headpond/train/loop/checkpoint_writer.h"

#include <fmt/format.h>

#include <exception>
#include <utility>

#include "headpond/base/clock.h"
#include "headpond/base/log.h"

namespace headpond {
namespace {

double ms_since(int64_t begin_ns) { return 1e-6 * static_cast<double>(now_ns() - begin_ns); }

}  // namespace

CheckpointWriter::CheckpointWriter(CheckpointFolder folder, const CheckpointWriterOptions& options)
    : folder_(std::move(folder)), options_(options) {}

CheckpointWriter::~CheckpointWriter() { (void)finish(); }

void CheckpointWriter::write(Checkpoint checkpoint, std::optional<int64_t> best, int64_t began_ns) {
  const int64_t begin = began_ns != 0 ? began_ns : now_ns();
  (void)finish();
  if (options_.asynchronous) {
    try {
      auto shared = std::make_shared<const Checkpoint>(std::move(checkpoint));
      const double stalled_ms = ms_since(begin);
      thread_ = Thread("headpond/save", [this, shared, best, stalled_ms] { carry_out(*shared, best, stalled_ms); });
      return;
    } catch (const std::exception& error) {
      MutexLock lock(mu_);
      error_ = current_exception_error();
      return log(LogLevel::warning, fmt::format("a checkpoint is not written: {}", error.what()));
    }
  }
  carry_out(checkpoint, best, 0);
  MutexLock lock(mu_);
  if (!error_) written_.back().stall_ms = ms_since(begin);
}

void CheckpointWriter::carry_out(const Checkpoint& checkpoint, std::optional<int64_t> best, double stalled_ms) try {
  const int64_t begin = now_ns();
  const auto bytes = folder_.write(checkpoint);
  if (bytes) folder_.keep(options_.keep, best);
  const CheckpointWritten one{checkpoint.facts.step, bytes.value_or(0), ms_since(begin), stalled_ms};
  if (!bytes)
    log(LogLevel::warning,
        fmt::format("the checkpoint of step {} is not written: {}", one.step, bytes.error().to_string()));
  MutexLock lock(mu_);
  error_ = bytes ? Error() : bytes.error();
  if (bytes) written_.push_back(one);
} catch (...) {
  Error error = current_exception_error();
  log(LogLevel::warning,
      fmt::format("the checkpoint of step {} is not written: {}", checkpoint.facts.step, error.to_string()));
  MutexLock lock(mu_);
  error_ = std::move(error);
}

Result<void> CheckpointWriter::finish() {
  if (thread_.joinable()) thread_.join();
  MutexLock lock(mu_);
  if (error_) return fail(error_);
  return {};
}

std::vector<CheckpointWritten> CheckpointWriter::written() const {
  MutexLock lock(mu_);
  return written_;
}

}  // namespace headpond
