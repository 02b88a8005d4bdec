// SPDX-License-Identifier: Apache-2.0
#include "headpond/base/system/prefetch.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>

namespace headpond {
namespace {

TEST(Prefetch, ChangesNoByte) {
  std::array<std::byte, 1000> bytes;
  bytes.fill(std::byte{7});
  for (const size_t size : {0, 1, 64, 65, 1000}) {
    prefetch_to_read(bytes.data(), size);
    prefetch_to_write(bytes.data(), size);
  }
  EXPECT_TRUE(std::ranges::all_of(bytes, [](std::byte byte) { return byte == std::byte{7}; }));
}

// A read or a write there would end the program.
TEST(Prefetch, TakesAddressesThatCannotBeRead) {
  prefetch_to_read(nullptr);
  prefetch_to_write(nullptr);
  for (const uintptr_t address : {uintptr_t{4096}, UINTPTR_MAX - 8191}) {
    const auto* const nowhere = reinterpret_cast<const std::byte*>(address);  // NOLINT(performance-no-int-to-ptr)
    prefetch_to_read(nowhere, 4096);
    prefetch_to_write(nowhere, 4096);
  }
}

}  // namespace
}  // namespace headpond
