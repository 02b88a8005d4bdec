// SPDX-License-Identifier: Apache-2.0
#include "headpond/train/device/fake_stream.h"

#include <gtest/gtest.h>

#include <cstring>
#include <vector>

namespace headpond {
namespace {

using std::chrono::nanoseconds;

TEST(FakeStream, CopiesAtTheLastMomentWhileTheProgramComputes) {
  FakeStream stream(1e9);  // A byte is a nanosecond.
  const auto to = static_cast<char*>(stream.allocate(1000).value());
  std::memset(to, 0, 1000);
  std::vector<char> from(1000, 'a');
  const auto copy = stream.copy(std::vector<DeviceStream::Part>{{to, from.data(), 1000}}).value();
  stream.compute(nanoseconds(999));
  EXPECT_FALSE(copy->is_done());
  EXPECT_EQ(to[0], 0);
  from[0] = 'b';
  stream.compute(nanoseconds(1));
  EXPECT_TRUE(copy->is_done());
  EXPECT_EQ(to[0], 'b') << "the bytes are read when the copy ends";
  EXPECT_EQ(to[999], 'a');
  EXPECT_EQ(stream.bytes_copied(), 1000);
}

TEST(FakeStream, MakesOneCopyAfterTheOther) {
  FakeStream stream(1e9);
  const auto to = static_cast<char*>(stream.allocate(300).value());
  const std::vector<char> from(300, 'a');
  const auto begin = [&](size_t bytes) {
    return stream.copy(std::vector<DeviceStream::Part>{{to, from.data(), bytes}}).value();
  };
  const auto first = begin(100), second = begin(200);
  EXPECT_TRUE(second->wait());
  EXPECT_TRUE(first->is_done());
  EXPECT_EQ(stream.now(), nanoseconds(300));
  stream.compute(nanoseconds(50));
  EXPECT_TRUE(stream.before_program(*begin(10)));
  EXPECT_EQ(stream.now(), nanoseconds(360)) << "the program waited for the copy alone";
}

TEST(FakeStream, HasNoMoreMemoryThanItWasGiven) {
  FakeStream stream(1e9, 1000);
  void* const first = stream.allocate(600).value();
  const auto refused = stream.allocate(401);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind(), ErrorKind::ResourceExhausted);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(first) % 256, 0U);
  stream.free(first);
  EXPECT_EQ(stream.memory_in_use(), 0);
  EXPECT_TRUE(stream.allocate(1000));
  EXPECT_EQ(stream.allocations(), 2);
  EXPECT_THROW(FakeStream(0), Exception);
  EXPECT_THROW(FakeStream(1, 0), Exception);
}

TEST(FakeStream, FreeWaitsForCopiesIntoItsMemory) {
  FakeStream stream(1e9);
  const std::vector<char> from(100, 'a');
  void* const one = stream.allocate(100).value();
  void* const other = stream.allocate(100).value();
  const auto copy = stream.copy(std::vector<DeviceStream::Part>{{one, from.data(), 100}}).value();
  stream.free(other);
  EXPECT_FALSE(copy->is_done());
  stream.free(one);
  EXPECT_TRUE(copy->is_done());
}

}  // namespace
}  // namespace headpond
