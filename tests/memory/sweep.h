// SPDX-License-Identifier: Apache-2.0
// The same call again and again, its first allocation failing, then its second ...
#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <cstdio>
#include <functional>
#include <new>
#include <span>
#include <string>
#include <string_view>

#include "headpond/base/crc32c.h"
#include "headpond/base/status.h"
#include "headpond/tensor/tensor.h"
#include "tests/memory/allocations.h"
#include "tests/test_files.h"

namespace headpond::test {

/// What a call gives, as text that tells all that counts.
using Call = std::function<Result<std::string>()>;

/// What runs before and after each call, with enough memory.
struct Around {
  std::function<void()> prepare = [] {};
  std::function<void()> check = [] {};
};

struct Attempt {
  bool has_failed = false;  ///< An allocation.
  bool threw = false;       ///< bad_alloc.
  bool gave_all = false;    ///< What was expected.
  ErrorKind kind = ErrorKind::Unknown;
};

inline Attempt attempt(const Call& call, const std::string& expected, int64_t nth, Failing failing) {
  Attempt seen;
  const FailingAllocation no_memory(nth, failing);
  try {
    const auto got = call();
    seen.gave_all = got && *got == expected;
    if (!got) seen.kind = got.error().kind();
  } catch (const std::bad_alloc&) {
    seen.threw = true;
    seen.kind = ErrorKind::ResourceExhausted;
  } catch (const Exception& caught) {
    seen.kind = caught.error().kind();
  } catch (...) {
    seen.kind = ErrorKind::Unknown;
  }
  seen.has_failed = no_memory.has_failed();
  return seen;
}

struct Swept {
  int64_t allocations;  ///< Of the call.
  int64_t thrown;       ///< How many of them threw bad_alloc when they alone failed.
};

/// Whichever allocation of `call` fails, alone or together with all later ones: the call returns its usual result,
/// ResourceExhausted or bad_alloc; `around.check` holds; nothing stays allocated; and the next call returns the usual
/// result.
inline Swept sweep(const Call& call, const Around& around = {}) {
  const auto prepared = [&] {
    around.prepare();
    return call();
  };
  const auto first = prepared();
  if (!first) ADD_FAILURE() << first.error();
  const std::string expected = first.value_or("");
  int64_t nth = 1, thrown = 0;
  for (const Failing failing : {Failing::once, Failing::from_then_on}) {
    bool more = true;
    for (nth = 1; more && !testing::Test::HasFailure(); ++nth) {
      (void)prepared();
      around.prepare();
      const int64_t before = live_allocations();
      const Attempt seen = attempt(call, expected, nth, failing);
      EXPECT_LE(live_allocations(), before) << "allocation " << nth;
      EXPECT_TRUE(seen.gave_all || seen.kind == ErrorKind::ResourceExhausted)
          << "allocation " << nth << ": " << to_string(seen.kind);
      thrown += seen.threw && failing == Failing::once ? 1 : 0;
      around.check();
      const auto again = prepared();
      EXPECT_TRUE(again && *again == expected) << "after allocation " << nth;
      more = seen.has_failed;
    }
  }
  std::printf("%lld allocations, %lld threw\n", static_cast<long long>(nth - 2), static_cast<long long>(thrown));
  return {nth - 2, thrown};
}

/// What tells one content from another.
inline std::string sum_of(std::span<const std::byte> bytes) {
  return fmt::format("{}:{:08x} ", bytes.size(), crc32c(bytes));
}
inline std::string sum_of(std::string_view text) { return sum_of(std::as_bytes(std::span(text))); }
inline std::string sum_of(const Tensor& tensor) {
  return fmt::format("{}{} {}", name(tensor.dtype()), tensor.shape().to_string(),
                     sum_of(std::span(tensor.data(), tensor.byte_size())));
}

class Sweep : public testing::Test {
 protected:
  std::string put(const std::string& name, std::span<const std::byte> content) {
    put_file(folder_.file(name), content);
    return folder_.file(name);
  }
  std::string put(const std::string& name, std::string_view text) { return put(name, std::as_bytes(std::span(text))); }

  const TempFolder folder_;
};

}  // namespace headpond::test
