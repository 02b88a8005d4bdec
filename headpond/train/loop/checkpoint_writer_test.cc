// SPDX-License-Identifier: Apache-2.0
#include "headpond/train/loop/checkpoint_writer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <cerrno>
#include <thread>

#include "headpond/base/clock.h"
#include "headpond/base/log.h"
#include "headpond/io/file/system_test_internal.h"
#include "tests/test_files.h"

namespace headpond {
namespace {

using test::TempFolder;
using testing::ElementsAre;
using testing::HasSubstr;

Checkpoint tiny(int64_t step) { return {.facts = {.step = step}, .files = {{"model.pt", "a model"}}}; }

CheckpointFolder folder_in(const std::string& path) { return value_or_throw(CheckpointFolder::open(path)); }

TEST(CheckpointWriter, TheTrainingGoesOnWhileOneIsWritten) {
  const TempFolder temp;
  CheckpointWriter writer(folder_in(temp.path()));
  std::atomic<bool> may_sync = false;
  {
    const internal::FaultInjection injection([&](std::string_view) -> internal::Fault {
      while (!may_sync) std::this_thread::yield();
      return {};
    });
    writer.write(tiny(1));
    EXPECT_TRUE(writer.written().empty()) << "write() returned before anything was written";
    may_sync = true;
    EXPECT_TRUE(writer.finish());
  }
  EXPECT_EQ(writer.written().size(), 1U);
  EXPECT_EQ(writer.written()[0].step, 1);
  EXPECT_GT(writer.written()[0].bytes, 7);
}

TEST(CheckpointWriter, WhatItTookOfTheTrainingHasTheCopyInIt) {
  for (const bool asynchronous : {true, false}) {
    const TempFolder temp;
    CheckpointWriter writer(folder_in(temp.path()), {.asynchronous = asynchronous});
    writer.write(tiny(1), std::nullopt, now_ns() - 3'000'000'000);
    EXPECT_TRUE(writer.finish());
    EXPECT_GE(writer.written().at(0).stall_ms, 3000);
    EXPECT_LT(writer.written().at(0).write_ms, 3000) << "control";
  }
}

TEST(CheckpointWriter, OneAtATimeInTheirOrder) {
  for (const bool asynchronous : {true, false}) {
    const TempFolder temp;
    CheckpointWriter writer(folder_in(temp.path()), {.keep = 2, .asynchronous = asynchronous});
    for (int64_t step = 1; step <= 5; ++step) writer.write(tiny(step), 2);
    EXPECT_TRUE(writer.finish());
    EXPECT_THAT(*writer.folder().steps(), ElementsAre(2, 4, 5));
    EXPECT_EQ(writer.written().size(), 5U);
  }
}

TEST(CheckpointWriter, AWriteThatFailsIsAWarningAndTheNextOneMaySucceed) {
  const TempFolder temp;
  std::string said;
  set_log_sink([&](LogLevel, std::string_view line) { said += line; });
  CheckpointWriter writer(folder_in(temp.path()));
  writer.write(tiny(1));
  ASSERT_TRUE(writer.finish());
  {
    const internal::FaultInjection injection(
        [](std::string_view call) -> internal::Fault { return {.error = call == "write" ? ENOSPC : 0}; });
    writer.write(tiny(2));
    EXPECT_EQ(writer.finish().error().kind(), ErrorKind::ResourceExhausted);
  }
  EXPECT_THAT(said, HasSubstr("the checkpoint of step 2 is not written"));
  EXPECT_THAT(*writer.folder().steps(), ElementsAre(1));
  writer.write(tiny(3));
  EXPECT_TRUE(writer.finish()) << "an earlier failure is forgotten";
  set_log_sink({});
}

}  // namespace
}  // namespace headpond
