// SPDX-License-Identifier: Apache-2.0
// Trainings whose disk is full.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <cerrno>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "headpond/base/log.h"
#include "headpond/io/file/system_test_internal.h"
#include "headpond/train/loop/hooks.h"
#include "headpond/train/loop/training_test_internal.h"
#include "tests/test_files.h"

namespace headpond {
namespace {

using internal::play;
using internal::Played;
using test::TempFolder;
using testing::HasSubstr;

TEST(TrainAndEvaluate, AFailedSaveIsAWarningUnlessItIsTheLast) {
  std::string said;
  set_log_sink([&](LogLevel, std::string_view line) { said += line; });
  for (const int64_t full_from : {7, 23}) {
    const TempFolder temp;
    Played played;
    const auto fails = std::make_shared<std::atomic<bool>>(false);
    struct Disk final : Hook {
      int64_t from;
      std::shared_ptr<std::atomic<bool>> full;
      Disk(int64_t first, std::shared_ptr<std::atomic<bool>> flag) : from(first), full(std::move(flag)) {}
      std::string_view name() const override { return "disk"; }
      Result<void> after_run(HookContext& context, double, const Metrics&) override {
        *full = context.step >= from && context.step < from + 3;
        if (*full && context.events != nullptr) (void)context.events->flush();  // Its error stays.
        return {};
      }
    };
    {
      const internal::FaultInjection injection(
          [&](std::string_view call) -> internal::Fault { return {.error = call != "close" && *fails ? ENOSPC : 0}; });
      play(played, {.model_dir = temp.path(), .asynchronous_save = false}, 1000,
           {std::make_shared<Disk>(full_from, fails), summary_saver_hook({.steps = 1}),
            profiler_hook({.every = {.steps = 1}})},
           {latest_exporter()});
    }
    EXPECT_EQ(played.toy.losses.size(), 23U);
    EXPECT_EQ(played.result.has_value(), full_from == 7);
    EXPECT_THAT(said, HasSubstr(fmt::format("the checkpoint of step {} is not written", full_from == 7 ? 8 : 23)));
    EXPECT_TRUE(std::filesystem::exists(temp.file("export/latest/12/model.pt")));
    EXPECT_FALSE(std::filesystem::exists(temp.file(fmt::format("export/latest/{}/model.pt", full_from == 7 ? 8 : 23))));
    EXPECT_TRUE(std::filesystem::exists(temp.file("timeline-5.json")));
  }
  EXPECT_THAT(said, HasSubstr("exporter latest: "));
  EXPECT_THAT(said, HasSubstr("profiler_hook: "));
  EXPECT_EQ(test::times_in(said, "there are no more charts"), 2U) << "once a training";
  set_log_sink({});
}

TEST(TrainAndEvaluate, AStartOnAFullDiskCostsTheChartsOnly) {
  for (const int error : {ENOSPC, EROFS}) {
    const TempFolder temp;
    Played first, second;
    play(first, {.model_dir = temp.path()}, 8);
    ASSERT_TRUE(first.result);
    std::string said;
    set_log_sink([&](LogLevel, std::string_view line) { said += line; });
    const auto fails = std::make_shared<std::atomic<bool>>(true);
    struct MakesRoom final : Hook {
      explicit MakesRoom(std::shared_ptr<std::atomic<bool>> flag) : full(std::move(flag)) {}
      std::string_view name() const override { return "makes_room"; }
      Result<void> after_run(HookContext& context, double, const Metrics&) override {
        EXPECT_EQ(context.events, nullptr);
        *full = false;
        return {};
      }
      std::shared_ptr<std::atomic<bool>> full;
    };
    {
      const internal::FaultInjection injection(
          [&](std::string_view call) -> internal::Fault { return {.error = call == "write" && *fails ? error : 0}; });
      play(second, {.model_dir = temp.path(), .summary_steps = 1}, 1000, {std::make_shared<MakesRoom>(fails)});
    }
    set_log_sink({});
    if (error == ENOSPC) {
      ASSERT_TRUE(second.result) << second.result.error();
      EXPECT_EQ(second.report.resumed_from, 8);
      EXPECT_TRUE(std::filesystem::exists(temp.file("checkpoint-23")));
      EXPECT_EQ(test::times_in(said, "there are no charts: "), 1U) << said;
      EXPECT_THAT(said, HasSubstr("tfevents"));
    } else {
      EXPECT_FALSE(second.result) << "control: a folder that cannot be written";
    }
  }
}

}  // namespace
}  // namespace headpond
