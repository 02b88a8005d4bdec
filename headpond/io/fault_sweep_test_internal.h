// SPDX-License-Identifier: Apache-2.0
// For tests: runs an action many times, failing one of its system calls each time.
#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <functional>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

#include "headpond/io/file/system_internal.h"

namespace headpond::test {

/// One call of an action, by its number and name.
struct SweptCall {
  size_t number;  ///< From 0.
  std::string_view name;
};

struct FaultSweep {
  /// The folder of the action's files; no temporary (hidden) file may be left in it.
  std::string folder;
  std::string named;                         ///< Each error names it, and what the system said.
  bool named_once = false;                   ///< And names it only once.
  std::function<void()> prepare;             ///< Before each run, and before the one that is to work again.
  std::function<Result<std::string>()> run;  ///< The action, and what it made.
  /// The calls whose failure need not be an error: then the outcome is the good one.
  std::function<bool(const SweptCall&)> may_fail = [](const SweptCall&) { return false; };
  std::function<void()> after_failure = [] {};  ///< Looks at what a run that failed has left.
  bool prepares_again = false;                  ///< Else the run that is to work finds what the failed one left.
};

inline size_t open_descriptors() {
  return static_cast<size_t>(std::distance(std::filesystem::directory_iterator("/proc/self/fd"), {}));
}

inline void expect_no_hidden_file(const std::string& folder) {
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
    EXPECT_FALSE(entry.path().filename().string().starts_with(".")) << entry.path() << " is left";
  }
}

/// One run in which call `number` fails with `error`.
inline void sweep_one(const FaultSweep& sweep, const SweptCall& swept, int error, const std::string& good) {
  SCOPED_TRACE(fmt::format("call {} ({}) fails with {}", swept.number, swept.name, strerrorname_np(error)));
  sweep.prepare();
  const size_t descriptors = open_descriptors();
  const auto outcome = [&] {
    const internal::FaultInjection fault([&, number = size_t{0}](std::string_view) mutable {
      return internal::Fault{.error = number++ == swept.number ? error : 0};
    });
    return sweep.run();
  }();
  EXPECT_EQ(open_descriptors(), descriptors);
  expect_no_hidden_file(sweep.folder);
  if (outcome) {
    EXPECT_TRUE(error == EINTR || sweep.may_fail(swept)) << "the failure was not told";
    EXPECT_TRUE(*outcome == good) << "another outcome than without the failure";
  } else {
    EXPECT_NE(error, EINTR) << outcome.error();
    const std::string text = outcome.error().to_string();
    EXPECT_NE(text.find(sweep.named), std::string::npos) << text;
    EXPECT_TRUE(!sweep.named_once || text.find(sweep.named) == text.rfind(sweep.named)) << text;
    EXPECT_NE(text.find(strerrorname_np(error)), std::string::npos) << text;
    sweep.after_failure();
  }
  if (sweep.prepares_again) sweep.prepare();
  const auto again = sweep.run();
  ASSERT_TRUE(again) << again.error();
  EXPECT_TRUE(*again == good) << "it works again, but the outcome is another one";
}

/// Fails each system call of the action once, in a run of its own for each call and each error, and with EINTR, which
/// must have no effect; then runs it with calls that transfer one byte at a time. Returns the names of the calls, so
/// that a test can check which ones were made.
inline std::vector<std::string> sweep_faults(const FaultSweep& sweep) {
  std::vector<std::string> calls;
  sweep.prepare();
  const auto good = [&] {
    const internal::FaultInjection counted([&](std::string_view call) {
      calls.emplace_back(call);
      return internal::Fault{};
    });
    return sweep.run();
  }();
  EXPECT_TRUE(good) << good.error();
  if (!good) return calls;
  for (size_t number = 0; number < calls.size(); ++number) {
    for (const int error : {ENOSPC, EIO, EMFILE, EINTR}) sweep_one(sweep, {number, calls[number]}, error, *good);
  }
  sweep.prepare();
  const internal::FaultInjection short_calls([](std::string_view) { return internal::Fault{.bytes = 1}; });
  const auto slow = sweep.run();
  EXPECT_TRUE(slow && *slow == *good) << "a byte at a time";
  return calls;
}

}  // namespace headpond::test
