// SPDX-License-Identifier: Apache-2.0
// tests/memory/limited_address_space_test.cc has threads that run under a limit.
#include "headpond/base/system/address_space.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

namespace headpond::internal {
namespace {

constexpr uint64_t kMiB = uint64_t{1} << 20, kGiB = uint64_t{1} << 30;

TEST(AddressSpace, ArenasTakeAnEighthOfASmallOne) {
  EXPECT_EQ(arenas_within(100 * kMiB, 2), 1);
  EXPECT_EQ(arenas_within(kGiB - 1, 2), 1);
  EXPECT_EQ(arenas_within(kGiB, 2), 2);
  EXPECT_EQ(arenas_within(5 * kGiB, 2), 10);
  EXPECT_EQ(arenas_within(8 * kGiB, 2), std::nullopt) << "malloc has 16 at most for two processors";
  EXPECT_EQ(arenas_within(8 * kGiB, 4), 16) << "control";
  EXPECT_EQ(arenas_within(UINT64_MAX - 1, 4096), std::nullopt);
}

// Ends this process, which is a test's child: with 0 iff `holds` under this limit. It allocates nothing.
template <class Holds>
[[noreturn]] void exit_under_limit(uint64_t bytes, const Holds& holds) {
  const rlimit limit = {bytes, bytes};
  if (setrlimit(RLIMIT_AS, &limit) != 0) _exit(2);
  _exit(holds() ? 0 : 1);
}

TEST(AddressSpace, StacksTakeAQuarterOfALimitedOne) {
  if (address_space_limit()) GTEST_SKIP() << "the address space of the tests is limited (ulimit -v)";
  const auto fitting = static_cast<int>(300 * kMiB / 4 / thread_stack_bytes());
  ASSERT_GT(fitting, 1) << "the system's stacks are very large";
  EXPECT_EQ(threads_with_stacks(256), 256) << "control: no limit";
  const auto as_many_as_fit = [fitting] {
    return address_space_limit() == 300 * kMiB && threads_with_stacks(fitting - 1) == fitting - 1 &&
           threads_with_stacks(fitting + 1) == fitting;
  };
  EXPECT_EXIT(exit_under_limit(300 * kMiB, as_many_as_fit), testing::ExitedWithCode(0), "");
  EXPECT_EXIT(exit_under_limit(kMiB, [] { return threads_with_stacks(256) == 1; }), testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace headpond::internal
