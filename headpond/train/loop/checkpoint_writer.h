// SPDX-License-Identifier: Apache-2.0
// Writes checkpoints on a thread of its own, so that the training goes on meanwhile.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "headpond/base/mutex.h"
#include "headpond/base/status.h"
#include "headpond/base/thread.h"
#include "headpond/train/loop/checkpoint.h"

namespace headpond {

struct CheckpointWriterOptions {
  int64_t keep = 5;          ///< The newest ones, beside the best one.
  bool asynchronous = true;  ///< false: write() returns when it is on the disk.
};

/// A checkpoint that was written.
struct CheckpointWritten {
  int64_t step = 0;
  int64_t bytes = 0;
  double write_ms = 0;
  double stall_ms = 0;  ///< Time that the training lost: the copy in memory and the wait for the one before; or all.
};

/// One checkpoint is being written at a time: a second write() waits for the first. One thread at a time.
class CheckpointWriter {
 public:
  explicit CheckpointWriter(CheckpointFolder folder, const CheckpointWriterOptions& options = {});
  ~CheckpointWriter();  ///< Calls finish(); the error is in the log.
  CheckpointWriter(const CheckpointWriter&) = delete;
  CheckpointWriter& operator=(const CheckpointWriter&) = delete;

  /// Takes the bytes over. A write that fails is a warning in the log, and the training goes on: the one before stays.
  /// `began_ns`: when the training stopped to make `checkpoint`, by now_ns(); 0: now.
  void write(Checkpoint checkpoint, std::optional<int64_t> best = std::nullopt, int64_t began_ns = 0);
  /// Waits for what is being written. The error of the last write, if it failed.
  Result<void> finish();
  /// Checkpoints that are on the disk now.
  std::vector<CheckpointWritten> written() const;
  /// REQUIRES: nothing is being written (finish() was called since).
  CheckpointFolder& folder() { return folder_; }

 private:
  void carry_out(const Checkpoint& checkpoint, std::optional<int64_t> best, double stalled_ms);

  CheckpointFolder folder_;  // Belongs to the thread while it runs.
  const CheckpointWriterOptions options_;
  mutable Mutex mu_;
  std::vector<CheckpointWritten> written_ HEADPOND_GUARDED_BY(mu_);
  Error error_ HEADPOND_GUARDED_BY(mu_);
  Thread thread_;
};

}  // namespace headpond
