// SPDX-License-Identifier: Apache-2.0
// The position of a run through a dataset, saved and restored by one and the same function, so that the two cannot
// drift.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>

#include "headpond/base/status.h"

namespace headpond {

/// Visits the fields of an iterator in a fixed order: it appends each to a state, or reads each from one. Numbers are
/// varints (LEB128; signed ones zigzag), texts follow their length. Restoring fails, and leaves the remaining fields as
/// they are, if the bytes end early, are too many or hold a number out of range.
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
  /// Marks the restored state as impossible: for example, a position beyond the end.
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
  /// A number in [low, high]; another one fails.
  void number_within(int64_t& value, int64_t low, int64_t high) {
    const int64_t before = value;
    number(value);
    if (value >= low && value <= high) return;
    value = before;
    refuse();
  }
  void text(std::string& value);
  /// Appends what another visitor saved, as if its fields had been visited here. REQUIRES: this saves.
  void append(std::string_view saved) { saved_ += saved; }

  /// The state so far.
  const std::string& saved() const { return saved_; }
  /// After restoring: true iff all bytes were used and no field failed.
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
