// SPDX-License-Identifier: Apache-2.0
// A small file that one writer holds while it makes others: what it says is what they are made of.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "headpond/base/status.h"

namespace headpond {

/// Held until the object or its program ends, however that ends. Where the file system has no locks, nobody is kept
/// out. Calls are FailedPrecondition once the name is another file's or none's. One thread at a time.
class HeldFile {
 public:
  /// Makes the file, empty, if need be. FailedPrecondition iff another object holds it, in this program or another;
  /// other errors as in io/file/file.h.
  static Result<HeldFile> open(const std::string& path);
  HeldFile(HeldFile&& other) noexcept;
  HeldFile& operator=(HeldFile&& other) noexcept;
  ~HeldFile();

  /// What the file says: what was written, the last of it in part if that was interrupted.
  Result<std::string> text() const;
  /// Empties the file, writes `text` and hands it to the disk, its name too.
  Result<void> replace(std::string_view text);
  /// Writes `text` behind what is there and hands it to the disk.
  Result<void> append(std::string_view text);

 private:
  class State;
  explicit HeldFile(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace headpond
