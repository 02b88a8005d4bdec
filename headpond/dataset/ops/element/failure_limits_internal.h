// SPDX-License-Identifier: Apache-2.0
// How many elements may fail before a run ends: what on_error counts.
#pragma once

#include <cstdint>
#include <deque>
#include <string>

#include "headpond/base/status.h"
#include "headpond/dataset/ops/element.h"
#include "headpond/dataset/state.h"

namespace headpond::internal {

/// Failures without a good element between them, and what their causes have in common.
class FailureStreak {
 public:
  void add(const Error& error);
  void end() { *this = {}; }
  int64_t count() const { return count_; }
  /// "all with DataLoss: 'record # is damaged'"; numbers, in which causes may differ, are '#'.
  std::string common_cause() const;
  void visit_state(StateVisitor& visitor, int64_t most);

 private:
  int64_t count_ = 0;
  ErrorKind kind_ = ErrorKind::Unknown;  // Kind of the first one's innermost cause.
  std::string text_;                     // The same.
  bool one_kind_ = true, one_text_ = true;
};

/// The numbers of an epoch that on_error decides by. A function of the elements in their order, and of nothing else.
class FailureLimits {
 public:
  explicit FailureLimits(const OnErrorOptions& options);

  void count_good() {
    ++elements_;
    streak_.end();
  }
  /// Counts a failure. Returns the limit that it exceeds, in words, or "".
  std::string count_bad(const Error& error);
  /// The limit that is exceeded by now, in words, or "".
  std::string exceeded() const;

  int64_t elements() const { return elements_; }
  int64_t errors() const { return errors_; }
  void visit_state(StateVisitor& visitor);

 private:
  void forget_old();

  const int64_t max_errors_, window_, give_up_after_;
  const int64_t max_in_window_;  // Below 0: any number.
  int64_t elements_ = 0, errors_ = 0;
  std::deque<int64_t> in_window_;  // Numbers of elements that failed.
  FailureStreak streak_;
};

/// Whether `error` says that the element is bad, rather than the system, the program, or the machine at this moment.
bool is_bad_data(const Error& error);

/// Throws Exception(InvalidArgument) for limits out of range.
void check_limits(const OnErrorOptions& options);

}  // namespace headpond::internal
