// SPDX-License-Identifier: Apache-2.0
// Checkpoints on disk: a folder for each, a few files in it, and a manifest with their sizes and checksums
// (docs/formats/checkpoint.md). What the files hold is the training's business. Needs no libtorch.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "headpond/base/status.h"

namespace headpond {

/// The facts of a checkpoint in its manifest.
struct CheckpointFacts {
  int64_t step = 0;   ///< At least 0.
  int64_t epoch = 0;  ///< Epoch of the data.
  uint64_t seed = 0;  ///< Seed of the data.
  uint64_t fingerprint = 0;
  std::string plan = "";                     ///< Plan of the data, readable.
  std::string torch = "";                    ///< The version of libtorch that wrote it.
  std::vector<std::string> parameters = {};  ///< "layer.weight float32 [16,3,3,3]".
  bool operator==(const CheckpointFacts&) const = default;
};

struct Checkpoint {
  CheckpointFacts facts;
  std::map<std::string, std::string> files;  ///< Their bytes by name; not "manifest.json".
};

/// A folder that one training writes checkpoints into, "checkpoint-<step>". There is no pointer to the newest one: the
/// one with the largest step counts. One thread at a time; a moved-from one can be destroyed and assigned to.
class CheckpointFolder {
 public:
  /// Makes the folder if need be, and removes what processes left there that died while they wrote; a checkpoint that
  /// one of them was replacing gets its name back. FailedPrecondition iff another object has it, in this process or
  /// another; other errors as in io/file/file.h.
  static Result<CheckpointFolder> open(const std::string& path);
  CheckpointFolder(CheckpointFolder&& other) noexcept;
  CheckpointFolder& operator=(CheckpointFolder&& other) noexcept;
  ~CheckpointFolder();

  /// The steps of the checkpoints, whole or not, in ascending order.
  Result<std::vector<int64_t>> steps() const;
  /// Reads the newest whole one; nothing if there is none at all. One that is not whole is passed over with a warning
  /// in the log, which names the file, what was expected and what was found. DataLoss iff there are some, and none is
  /// whole: a training that began anew would hide that.
  Result<std::optional<Checkpoint>> newest() const;
  /// Writes it under another name, syncs it to the disk and renames it: it is there whole or not at all, also after a
  /// kill or a power failure, and replaces one of the same step. Returns its bytes. After an error nothing of it is
  /// left. InvalidArgument for a step below 0.
  Result<int64_t> write(const Checkpoint& checkpoint);
  /// Removes all but the `most` newest ones, at least one, and that of step `best`. Those that newest() passed over do
  /// not count. One that is being removed is not seen as a checkpoint. Errors are warnings in the log.
  void keep(int64_t most, std::optional<int64_t> best = std::nullopt);

  /// Removes all checkpoints, whole or not: for a training that begins anew.
  Result<void> clear();

  const std::string& path() const;

 private:
  struct State;
  explicit CheckpointFolder(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

/// Reads the checkpoint of one folder. DataLoss, which names the file, what was expected and what was found, iff it is
/// not whole; Unimplemented iff a later version wrote it.
Result<Checkpoint> read_checkpoint(const std::string& path);

}  // namespace headpond
