// SPDX-License-Identifier: Apache-2.0
// For tests: what happens when memory runs out.
#pragma once

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <string>

#include "headpond/base/status.h"

namespace headpond::test {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr bool kMemoryCanBeLimited = false;
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
inline constexpr bool kMemoryCanBeLimited = false;
#else
inline constexpr bool kMemoryCanBeLimited = true;
#endif
#else
inline constexpr bool kMemoryCanBeLimited = true;
#endif

inline void limit_memory_to_present_and(uint64_t bytes) {
  uint64_t pages = 0;
  std::ifstream("/proc/self/statm") >> pages;
  rlimit limit = {};
  if (getrlimit(RLIMIT_AS, &limit) != 0) _exit(2);
  limit.rlim_cur = std::min(limit.rlim_max, pages * static_cast<uint64_t>(sysconf(_SC_PAGESIZE)) + bytes);
  if (setrlimit(RLIMIT_AS, &limit) != 0) _exit(2);
}

/// For a test's child: what it may map and allocate from now on, but for small pieces. What was freed before is used
/// up.
inline void allow_memory(uint64_t bytes) {
  limit_memory_to_present_and(0);
  void* volatile piece = nullptr;  // Or the compiler leaves the calls out.
  do piece = std::malloc(size_t{64} << 10);
  while (piece != nullptr);
  limit_memory_to_present_and(bytes);
}

/// `call` for the next, which succeeds unless its error's text begins with the file's `name` (", member x" may follow).
template <class Call>
auto naming(const std::string& name, Call call) {
  return [name, call]() -> Result<bool> {
    const auto result = call();
    const std::string text = result ? "" : result.error().message();
    if (!text.starts_with(name + ": ") && !text.starts_with(name + ", ")) return true;
    return fail(result.error());
  };
}

/// Ends this process, which is a test's child: with 0 iff `call` returns ResourceExhausted where memory ends at 256 MB:
/// as an error that may pass and is nobody's data, or, for `by_limit`, as one that every run has.
template <class Call>
[[noreturn]] void exit_without_memory(Call call, bool by_limit = false) {
  const rlimit limit = {256'000'000, 256'000'000};
  if (setrlimit(RLIMIT_AS, &limit) != 0) _exit(2);
  const auto result = call();
  const bool is_right = !result && result.error().kind() == ErrorKind::ResourceExhausted;
  _exit(is_right && result.error().is_transient() != by_limit ? 0 : 1);
}

}  // namespace headpond::test

/// REQUIRES: `call` is a function of no parameters that returns a Result. Sanitizers have their own memory: skipped
/// there; the plain headpond_memory_test (tests/memory) has every file that includes this.
#define EXPECT_OUT_OF_MEMORY(call) HEADPOND_EXPECT_EXHAUSTED(call, false)
/// The same for a limit of ours, which must refuse before memory ends.
#define EXPECT_REFUSED_BY_LIMIT(call) HEADPOND_EXPECT_EXHAUSTED(call, true)

/// First in a test whose preparation takes long, as it is for nothing where memory has no limit.
#define SKIP_UNLESS_MEMORY_CAN_BE_LIMITED()   \
  if (!::headpond::test::kMemoryCanBeLimited) \
  GTEST_SKIP() << "no limits under a sanitizer: headpond_memory_test has this"

#define HEADPOND_EXPECT_EXHAUSTED(call, by_limit)                                                       \
  do {                                                                                                  \
    SKIP_UNLESS_MEMORY_CAN_BE_LIMITED();                                                                \
    EXPECT_EXIT(::headpond::test::exit_without_memory(call, by_limit), testing::ExitedWithCode(0), ""); \
  } while (false)
