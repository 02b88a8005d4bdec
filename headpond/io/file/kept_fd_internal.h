// SPDX-License-Identifier: Apache-2.0
// Descriptors that stay open only to save time. A program may have about a thousand in all, and needs them itself.
#pragma once

#include <atomic>

#include "headpond/io/file/system_internal.h"

namespace headpond::internal {

/// So many may be kept in the program: a quarter of the descriptors that it may have, at most 4,096. Tests lower it.
extern std::atomic<int> most_kept_fds;

/// An open descriptor that is counted among them.
class KeptFd {
 public:
  KeptFd() = default;
  explicit KeptFd(UniqueFd file);
  KeptFd(KeptFd&& other) noexcept = default;
  KeptFd& operator=(KeptFd&& other) noexcept = default;
  ~KeptFd() { close(); }

  const UniqueFd& file() const { return file_; }
  explicit operator bool() const { return bool{file_}; }
  void close();
  /// Whether there are more than may be, this one included: then do without it.
  static bool are_too_many();

 private:
  UniqueFd file_;
};

}  // namespace headpond::internal
