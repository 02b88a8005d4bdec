// SPDX-License-Identifier: Apache-2.0
#include "headpond/base/checksum/upper_halves.h"

#include <gtest/gtest.h>

#include "headpond/base/checksum/upper_halves_test_internal.h"

namespace headpond {
namespace {

#if defined(__x86_64__)
TEST(UpperHalves, AreCleared) {
  if (!test::can_ask_for_dirty_halves()) GTEST_SKIP() << "this processor does not tell which halves are in use";
  test::make_halves_dirty();
  EXPECT_NE(test::dirty_halves(), 0U) << "control: upper halves in use must be detected";
  clear_upper_halves();
  EXPECT_EQ(test::dirty_halves(), 0U);
}
#endif

}  // namespace
}  // namespace headpond
