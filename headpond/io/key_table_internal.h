// SPDX-License-Identifier: Apache-2.0
// The keys that a parser is asked for, found by name.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace headpond::internal {

/// A hash table of a few names. Immutable once filled.
class KeyTable {
 public:
  static constexpr size_t kNone = SIZE_MAX;

  /// The number of `key`, which is added unless it exists.
  size_t add(const std::string& key);
  size_t size() const { return keys_.size(); }
  /// The number of `key`; kNone iff it was never added.
  size_t find(std::string_view key) const;

 private:
  struct Slot {
    size_t hash = 0;
    size_t number = kNone;
  };
  void insert(size_t hash, size_t number);

  std::vector<std::string> keys_;
  std::vector<Slot> slots_;  // A power of two, at least twice the number of keys.
};

}  // namespace headpond::internal
