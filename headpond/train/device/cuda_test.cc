// SPDX-License-Identifier: Apache-2.0
// With a driver that notes its calls: its device's memory is the process's, and copies are made at once.
#include "headpond/train/device/cuda.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>
#include <cstdlib>
#include <cstring>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "headpond/dataset/ops.h"
#include "headpond/train/device/cuda_driver_internal.h"
#include "headpond/train/device/device_feed.h"

namespace headpond::internal {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr int kInvalid = 1, kOutOfMemory = 2, kNoContext = 201, kNoDevice = 101;

// What the driver is asked for, by one thread.
struct Noted {
  std::vector<std::string> calls;
  int contexts = 0, current = 0;
  std::set<void*> blocks, pinned, streams, events;
  std::map<void*, std::string> recorded;  // Of an event: the stream whose work it comes after.
  std::map<std::string, int> failing;     // Calls that return this.
};
Noted noted;

int answer(const std::string& call, bool needs_context = true) {
  noted.calls.push_back(call);
  if (needs_context && noted.current == 0) return kNoContext;
  const auto failing = noted.failing.find(call.substr(0, call.find(' ')));
  return failing == noted.failing.end() ? 0 : failing->second;
}

int made(const char* call, std::set<void*>& all, void** out, size_t bytes) {
  if (const int status = answer(call); status != 0) return status;
  *out = std::aligned_alloc(256, (bytes + 255) / 256 * 256);
  all.insert(*out);
  return 0;
}
int ended(const char* call, std::set<void*>& all, void* what) {
  if (const int status = answer(call); status != 0) return status;
  if (all.erase(what) == 0) return kInvalid;
  std::free(what);
  return 0;
}

void note_contexts(CudaDriver& driver) {
  driver.device_get = [](int* device, int ordinal) {
    *device = 40 + ordinal;
    return ordinal == 0 ? answer("device", false) : kNoDevice;
  };
  driver.primary_context_retain = [](void** context, int) {
    ++noted.contexts;
    *context = &noted;
    return answer("retain", false);
  };
  driver.primary_context_release = [](int device) {
    --noted.contexts;
    return device == 40 ? 0 : kInvalid;
  };
  driver.context_push = [](void* context) {
    noted.current += context == &noted ? 1 : 0;
    return 0;
  };
  driver.context_pop = [](void** context) {
    *context = &noted;
    --noted.current;
    return 0;
  };
  driver.error_name = [](int status, const char** name) {
    *name = "CUDA_ERROR_OF_THE_TEST";
    return status == kOutOfMemory ? 0 : kInvalid;
  };
}

void note_memory(CudaDriver& driver) {
  driver.memory_allocate = [](CudaDriver::Address* address, size_t bytes) {
    void* block = nullptr;
    const int status = made("allocate", noted.blocks, &block, bytes);
    *address = reinterpret_cast<CudaDriver::Address>(block);
    return status;
  };
  driver.memory_free = [](CudaDriver::Address a) { return ended("free", noted.blocks, std::bit_cast<void*>(a)); };
  driver.host_allocate = [](void** block, size_t bytes, unsigned flags) {
    return flags == 1 ? made("pin", noted.pinned, block, bytes) : kInvalid;
  };
  driver.host_free = [](void* block) { return ended("unpin", noted.pinned, block); };
  driver.copy_to_device = [](CudaDriver::Address to, const void* from, size_t bytes, void* stream) {
    std::memcpy(std::bit_cast<void*>(to), from, bytes);
    return answer(fmt::format("copy {}{}", bytes, noted.streams.contains(stream) ? "" : " on no stream"));
  };
}

void note_streams(CudaDriver& driver) {
  driver.stream_create = [](void** stream, unsigned flags) {
    return flags == 1 ? made("stream", noted.streams, stream, 1) : kInvalid;
  };
  driver.stream_destroy = [](void* stream) { return ended("end_stream", noted.streams, stream); };
  driver.stream_wait_event = [](void* stream, void* event, unsigned) {
    const auto of = noted.recorded.find(event);
    if (of == noted.recorded.end()) return kInvalid;
    return answer(fmt::format("{}_waits_for_{}", noted.streams.contains(stream) ? "side" : "program", of->second));
  };
  driver.stream_synchronize = [](void*) { return answer("synchronize"); };
  driver.event_create = [](void** event, unsigned flags) {
    return flags == 2 ? made("event", noted.events, event, 1) : kInvalid;
  };
  driver.event_record = [](void* event, void* stream) {
    if (!noted.events.contains(event)) return kInvalid;
    noted.recorded[event] = noted.streams.contains(stream) ? "side" : "program";
    return answer("record_" + noted.recorded[event]);
  };
  driver.event_query = [](void*) { return answer("query"); };
  driver.event_synchronize = [](void*) { return answer("wait"); };
  driver.event_destroy = [](void* event) {
    noted.recorded.erase(event);
    return ended("end_event", noted.events, event);
  };
}

CudaDriver noting_driver() {
  CudaDriver driver{};
  note_contexts(driver);
  note_memory(driver);
  note_streams(driver);
  return driver;
}

class Cuda : public testing::Test {
 protected:
  void SetUp() override { noted = {}; }
  void TearDown() override {
    EXPECT_EQ(noted.contexts, 0);
    EXPECT_EQ(noted.current, 0);
    EXPECT_TRUE(noted.blocks.empty() && noted.pinned.empty() && noted.streams.empty() && noted.events.empty());
  }
  std::vector<std::string> calls() const {
    std::vector<std::string> some;
    const std::set<std::string> others = {"event", "end_event", "query"};
    for (const std::string& call : noted.calls) {
      if (!others.contains(call)) some.push_back(call);
    }
    noted.calls.clear();
    return some;
  }
  const CudaDriver driver_ = noting_driver();
};

TEST_F(Cuda, APinnedPoolTakesItsBlocksFromTheDriver) {
  BufferRef survivor;
  {
    const auto pool = pinned_pool_of(driver_, 0).value();
    { const BufferRef block = pool->allocate(100'000); }
    survivor = pool->allocate(100'000);
    EXPECT_THAT(calls(), ElementsAre("device", "retain", "pin")) << "the second one is the first";
  }
  EXPECT_EQ(noted.contexts, 1) << "of the block that is left";
  survivor = {};
  EXPECT_THAT(calls(), ElementsAre("unpin"));

  const auto pool = pinned_pool_of(driver_, 0).value();
  noted.failing["pin"] = kOutOfMemory;
  EXPECT_THROW(pool->allocate(100'000), std::bad_alloc);
  { const BufferRef small = pool->allocate(100); }
  EXPECT_THAT(calls(), ElementsAre("device", "retain", "pin")) << "a small one is none of the driver's";
}

TEST_F(Cuda, APinnedPoolWithoutRoomDoesNotUnlockAndLockForEachBlock) {
  constexpr size_t kSize = 16 << 20;
  const auto pool = pinned_pool_of(driver_, 0).value();
  pool->limit(0);  // It keeps no block itself.
  for (int i = 0; i < 3; ++i) {
    const BufferRef block = pool->allocate(kSize);
  }
  EXPECT_THAT(calls(), ElementsAre("device", "retain", "pin"));
  { const BufferRef other = pool->allocate(2 * kSize); }
  EXPECT_THAT(calls(), ElementsAre("pin")) << "of another size";
  std::vector<BufferRef> many;
  for (int i = 0; i < 4; ++i) many.push_back(pool->allocate(kSize));
  many.clear();
  EXPECT_THAT(calls(), ElementsAre("pin", "pin", "pin", "unpin", "unpin")) << "64 MiB at most stay";
  for (int i = 0; i < 3; ++i) many.push_back(pool->allocate(kSize));
  EXPECT_THAT(calls(), ElementsAre()) << "those that came back last";
}

TEST_F(Cuda, AFeedCopiesOnItsOwnStreamAndOrdersTheProgramAfterIt) {
  Loader loader(range(40) | batch(10), {.threads = 0});
  {
    DeviceFeed feed(loader, {.depth = 2, .stream = cuda_stream_of(driver_, 0, nullptr).value()});
    EXPECT_THAT(calls(), ElementsAre("device", "retain", "stream"));
    {
      const DeviceBatch batch = feed.next().value();
      EXPECT_THAT(calls(), ElementsAre("allocate", "copy 80", "record_side", "allocate", "copy 80", "record_side",
                                       "program_waits_for_side"));
      EXPECT_EQ(static_cast<const int64_t*>(batch[0].data)[3], 3);
      EXPECT_EQ(batch[0].device, 0);
    }
    EXPECT_THAT(calls(), ElementsAre("record_program", "side_waits_for_program"))
        << "the next copy there comes after its use";
    EXPECT_EQ(feed.next().value().index(), 1);
    EXPECT_THAT(calls(), ElementsAre("copy 80", "record_side", "program_waits_for_side", "record_program",
                                     "side_waits_for_program"));
  }
  EXPECT_THAT(calls(), ElementsAre("wait", "record_program", "side_waits_for_program", "free", "free", "end_stream"));
}

TEST_F(Cuda, AnErrorSaysItsCallAndNothingIsUnderWayAfterIt) {
  const auto stream = cuda_stream_of(driver_, 0, nullptr).value();
  char to[8], from[8] = {};
  const std::vector<DeviceStream::Part> parts = {{to, from, 8}};
  (void)calls();
  noted.failing["record_side"] = 700;
  const auto refused = stream->copy(parts);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().message(), "CUDA: cuEventRecord returned an unknown error (700)");
  EXPECT_THAT(calls(), ElementsAre("copy 8", "record_side", "synchronize"));
  noted.failing = {{"allocate", kOutOfMemory}, {"record_program", 700}};
  const auto none = stream->allocate(100);
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().kind(), ErrorKind::ResourceExhausted);
  EXPECT_THAT(none.error().message(), HasSubstr("cuMemAlloc returned CUDA_ERROR_OF_THE_TEST (2)"));
  EXPECT_FALSE(stream->after_program());
  noted.failing = {{"query", 600}};
  const auto copy = stream->copy(parts).value();
  EXPECT_FALSE(copy->is_done());
  noted.failing = {{"query", 700}, {"wait", 700}};
  EXPECT_TRUE(copy->is_done()) << "no copy is under way on a device that failed";
  EXPECT_FALSE(copy->wait());
  noted.failing.clear();
}

TEST_F(Cuda, NoSuchDeviceIsAFailedPrecondition) {
  EXPECT_EQ(pinned_pool_of(driver_, 1).error().kind(), ErrorKind::FailedPrecondition);
  EXPECT_EQ(cuda_stream_of(driver_, 1, nullptr).error().kind(), ErrorKind::FailedPrecondition);
  noted.failing["stream"] = kOutOfMemory;
  EXPECT_EQ(cuda_stream_of(driver_, 0, nullptr).error().kind(), ErrorKind::ResourceExhausted);
}

}  // namespace
}  // namespace headpond::internal
