// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "headpond/train/device/device_memory_internal.h"
#include "headpond/train/device/fake_stream.h"

namespace headpond::internal {
namespace {

TEST(DeviceMemory, UsesABlockAgainForARequestThatFitsIt) {
  const auto stream = std::make_shared<FakeStream>(1e9);
  const auto memory = std::make_shared<DeviceMemory>(stream, 2);
  void* const first = memory->allocate(1000).value().get();
  EXPECT_EQ(memory->allocate(700).value().get(), first);
  EXPECT_EQ(memory->allocate(1000).value().get(), first);
  EXPECT_NE(memory->allocate(100).value().get(), first) << "it would be mostly empty";
  EXPECT_NE(memory->allocate(1001).value().get(), first);
  EXPECT_EQ(stream->allocations(), 3);
  EXPECT_EQ(stream->memory_in_use(), 100 + 1001) << "two are kept: the oldest went";
}

TEST(DeviceMemory, FreesWhatItKeepsWhenTheDeviceHasNoMore) {
  const auto stream = std::make_shared<FakeStream>(1e9, 1000);
  const auto memory = std::make_shared<DeviceMemory>(stream, 2);
  (void)memory->allocate(600);
  const auto other = memory->allocate(900).value();
  const auto refused = memory->allocate(200);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind(), ErrorKind::ResourceExhausted);
}

TEST(DeviceMemory, KeepsNothingAfterItsEndNorAfterAFailure) {
  const auto stream = std::make_shared<FakeStream>(1e9);
  std::shared_ptr<void> survivor;
  {
    const auto memory = std::make_shared<DeviceMemory>(stream, 2);
    (void)memory->allocate(10);
    survivor = memory->allocate(100).value();
    memory->close();
    EXPECT_EQ(stream->memory_in_use(), 100);
  }
  survivor.reset();
  EXPECT_EQ(stream->memory_in_use(), 0);

  struct Unordered : FakeStream {
    using FakeStream::FakeStream;
    Result<void> after_program() override { return fail(ErrorKind::Unknown, "lost"); }
  };
  const auto lost = std::make_shared<Unordered>(1e9);
  const auto memory = std::make_shared<DeviceMemory>(lost, 2);
  (void)memory->allocate(10);
  EXPECT_EQ(lost->memory_in_use(), 0) << "a later copy into it might come too early";
}

}  // namespace
}  // namespace headpond::internal
