// SPDX-License-Identifier: Apache-2.0
// Where a run through a dataset stands: saved and restored by one and the same function, so that the two cannot drift.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>

#include "headpond/base/status.h"

namespace headpond {

/// Goes through the fields of an iterator in one fixed order: appends each to a state, or takes each from one. Numbers
/// are varints (LEB128; signed ones zigzag), texts have their length in front. Restoring from bytes that end early, are
/// too many or hold a number out of range gives an error, and leaves the fields from there on as they are.
class StateVisitor {
 public:
  StateVisitor() = default;  ///< Saves.
  /// Restores from `saved`, which outlives this.
  static StateVisitor restoring(std::string_view saved) {
    StateVisitor visitor;
    visitor.left_ = saved;
    visitor.restoring_ = true;
    return visitor;
  }

  bool is_restoring() const { return restoring_; }
  bool ok() const { return !failed_; }
  /// Marks what was restored as impossible: a position beyond the end, say.
  void refuse() { failed_ = true; }

  template <class T>
    requires(std::is_integral_v<T> && sizeof(T) <= 8)
  void number(T& value) {
    if constexpr (std::is_signed_v<T>) {
      const auto wide = static_cast<int64_t>(value);
      const uint64_t word = visit(static_cast<uint64_t>(wide) << 1 ^ static_cast<uint64_t>(wide >> 63));
      assign(value, static_cast<int64_t>(word >> 1 ^ (~(word & 1) + 1)));
    } else {
      assign(value, visit(static_cast<uint64_t>(value)));
    }
  }
  /// A number that must be in [low, high].
  void number_within(int64_t& value, int64_t low, int64_t high) {
    const int64_t before = value;
    number(value);
    if (value >= low && value <= high) return;
    value = before;
    refuse();
  }
  void text(std::string& value);
  /// Appends what another visitor saved, as if that had been visited here. REQUIRES: saves.
  void append(std::string_view saved) { saved_ += saved; }

  /// What was saved.
  const std::string& saved() const { return saved_; }
  /// After restoring: true iff all bytes were used and nothing was wrong.
  bool complete() const { return ok() && left_.empty(); }

 private:
  uint64_t visit(uint64_t value);
  template <class T, class Wide>
  void assign(T& value, Wide wide) {
    if (!restoring_ || failed_) return;
    if (static_cast<Wide>(static_cast<T>(wide)) == wide) {
      value = static_cast<T>(wide);
    } else {
      failed_ = true;
    }
  }

  std::string saved_;
  std::string_view left_;
  bool restoring_ = false;
  bool failed_ = false;
};

}  // namespace headpond
