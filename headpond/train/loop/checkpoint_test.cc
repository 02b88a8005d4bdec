// SPDX-License-Identifier: Apache-2.0
#include "headpond/train/loop/checkpoint.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cerrno>
#include <filesystem>

#include "headpond/base/log.h"
#include "headpond/io/file/system_test_internal.h"
#include "tests/test_files.h"

namespace headpond {
namespace {

using test::TempFolder;
using testing::ElementsAre;
using testing::HasSubstr;

Checkpoint of_step(int64_t step) {
  return {.facts = {.step = step,
                    .epoch = 3,
                    .seed = UINT64_MAX,
                    .fingerprint = 0xfedcba9876543210,
                    .plan = "range(8) | \"batch\"(2)\n",
                    .torch = "1.13.1",
                    .parameters = {"weight float32 [16,3,3,3]", "bias float32 [16]"}},
          .files = {{"model.pt", fmt::format("the model of step {}", step) + std::string(3, '\0')},
                    {"data.state", std::string(300, static_cast<char>(step))},
                    {"empty", ""}}};
}

std::string read_text(const std::string& path) {
  const auto bytes = test::get_file(path);
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}
void write_text(const std::string& path, std::string_view text) { test::put_file(path, test::to_bytes(text)); }

CheckpointFolder opened(const std::string& path) { return value_or_throw(CheckpointFolder::open(path)); }

// The newest one and what was logged on the way.
struct Found {
  Result<std::optional<Checkpoint>> newest;
  std::string said;
};
Found newest_in(const CheckpointFolder& folder) {
  std::string said;
  set_log_sink([&](LogLevel, std::string_view line) { said += line; });
  auto newest = folder.newest();
  set_log_sink({});
  return {std::move(newest), said};
}

TEST(CheckpointFolder, GivesBackWhatWasWritten) {
  const TempFolder temp;
  CheckpointFolder folder = opened(temp.file("model/dir"));
  EXPECT_FALSE(*folder.newest()) << "none is no error";
  for (const int64_t step : {9, 10, 0}) ASSERT_TRUE(folder.write(of_step(step)));
  EXPECT_THAT(*folder.steps(), ElementsAre(0, 9, 10));
  const auto newest = folder.newest();
  ASSERT_TRUE(newest && *newest);
  EXPECT_EQ((*newest)->facts, of_step(10).facts);
  EXPECT_EQ((*newest)->files, of_step(10).files);
  EXPECT_EQ(folder.write(of_step(-1)).error().kind(), ErrorKind::InvalidArgument);
}

TEST(CheckpointFolder, ASecondWriterIsRefusedWhileTheFirstOneLives) {
  const TempFolder temp;
  {
    const CheckpointFolder first = opened(temp.path());
    EXPECT_EQ(CheckpointFolder::open(temp.path()).error().kind(), ErrorKind::FailedPrecondition);
  }
  EXPECT_TRUE(CheckpointFolder::open(temp.path())) << "control";
}

TEST(CheckpointFolder, KeepsTheNewestAndTheBest) {
  const TempFolder temp;
  CheckpointFolder folder = opened(temp.path());
  for (int64_t step = 1; step <= 6; ++step) ASSERT_TRUE(folder.write(of_step(step)));
  folder.keep(2, 3);
  EXPECT_THAT(*folder.steps(), ElementsAre(3, 5, 6));
  folder.keep(0);
  EXPECT_THAT(*folder.steps(), ElementsAre(6)) << "never none";
  EXPECT_EQ(temp.count(), 2U) << "the checkpoint and the lock";
  EXPECT_TRUE(folder.clear());
  EXPECT_THAT(*folder.steps(), ElementsAre());
}

TEST(CheckpointFolder, OneThatIsNotWholeIsNoneOfThoseThatAreKept) {
  const TempFolder temp;
  CheckpointFolder folder = opened(temp.path());
  for (const int64_t step : {20, 24}) ASSERT_TRUE(folder.write(of_step(step)));
  write_text(temp.file("checkpoint-24/model.pt"), "");
  EXPECT_EQ((**newest_in(folder).newest).facts.step, 20);
  ASSERT_TRUE(folder.write(of_step(22)));
  folder.keep(1);
  EXPECT_EQ((**newest_in(folder).newest).facts.step, 22);
  EXPECT_THAT(*folder.steps(), ElementsAre(22, 24));
  ASSERT_TRUE(folder.write(of_step(24)));
  folder.keep(1);
  EXPECT_THAT(*folder.steps(), ElementsAre(24)) << "control: it is whole now";
}

TEST(CheckpointFolder, AKillWhileOneIsReplacedLeavesTheOldOne) {
  const TempFolder temp;
  for (const int64_t step : {1, 2}) {
    ASSERT_TRUE(opened(temp.path()).write(of_step(step)));
    const std::string name = temp.file(fmt::format("checkpoint-{}", step));
    const std::string hidden = temp.file(fmt::format(".checkpoint-{}.77", step));
    std::filesystem::create_directories(hidden);
    // Of step 1 the old one is whole; step 2 was about to be removed.
    std::filesystem::rename(name, hidden + (step == 1 ? ".old" : ".removed"));
  }
  CheckpointFolder folder = opened(temp.path());
  EXPECT_THAT(*folder.steps(), ElementsAre(1));
  EXPECT_EQ((**folder.newest()).files, of_step(1).files);
  std::filesystem::create_directories(temp.file(".checkpoint-1.78.old"));
  folder = opened(temp.file("other"));
  EXPECT_EQ((**opened(temp.path()).newest()).files, of_step(1).files) << "control: the new one has the name";
  EXPECT_EQ(temp.count(), 3U) << "the checkpoint, the lock and the other folder";
}

TEST(CheckpointFolder, WhatDeadProcessesLeftIsRemoved) {
  const TempFolder temp;
  std::filesystem::create_directories(temp.file(".checkpoint-7.1234"));
  std::filesystem::create_directories(temp.file("checkpoint-7a"));
  const CheckpointFolder folder = opened(temp.path());
  EXPECT_FALSE(std::filesystem::exists(temp.file(".checkpoint-7.1234")));
  EXPECT_TRUE(std::filesystem::exists(temp.file("checkpoint-7a"))) << "it is somebody else's";
  EXPECT_THAT(*folder.steps(), ElementsAre());
}

TEST(CheckpointFolder, ADamagedOneIsPassedOverAndNamed) {
  const TempFolder temp;
  CheckpointFolder folder = opened(temp.path());
  for (const int64_t step : {1, 2}) ASSERT_TRUE(folder.write(of_step(step)));
  for (const char* const name : {"model.pt", "data.state", "empty", "manifest.json"}) {
    const std::string path = temp.file("checkpoint-2/") + name;
    const std::string content = read_text(path);
    const auto refused = [&](const std::string& damaged, const std::string& what) {
      write_text(path, damaged);
      const Found found = newest_in(folder);
      ASSERT_TRUE(found.newest && *found.newest) << what;
      EXPECT_EQ((*found.newest)->facts.step, 1) << what;
      EXPECT_THAT(found.said, HasSubstr(path)) << what;
    };
    for (size_t i = 0; i < 20 && i < content.size(); ++i) {
      const size_t at = content.size() * i / 20;
      refused(content.substr(0, at), fmt::format("{} cut to {}", name, at));
      std::string flipped = content;
      flipped[at] = static_cast<char>(flipped[at] ^ (1 << i % 8));
      refused(flipped, fmt::format("{} with bit {} of byte {} flipped", name, i % 8, at));
    }
    refused(content + "x", fmt::format("{} with a byte more", name));
    write_text(path, content);
    EXPECT_EQ((**folder.newest()).facts.step, 2) << "control: as it was";
    std::filesystem::remove(path);
    EXPECT_THAT(newest_in(folder).said, HasSubstr(std::string(name) + ": the file is missing"));
    write_text(path, content);
  }
}

TEST(CheckpointFolder, SomeAndNoneWholeIsDataLoss) {
  const TempFolder temp;
  CheckpointFolder folder = opened(temp.path());
  ASSERT_TRUE(folder.write(of_step(4)));
  write_text(temp.file("checkpoint-4/model.pt"), "");
  const Found found = newest_in(folder);
  ASSERT_FALSE(found.newest);
  EXPECT_EQ(found.newest.error().kind(), ErrorKind::DataLoss);
  EXPECT_THAT(found.newest.error().to_string(), HasSubstr("none of its 1 checkpoints is whole"));
  EXPECT_THAT(found.newest.error().to_string(), HasSubstr("expected 22 bytes, found 0"));
  EXPECT_THAT(found.newest.error().to_string(), HasSubstr("--from-scratch"));
}

TEST(CheckpointFolder, OneThatWasRenamedIsNotOfThatStep) {
  const TempFolder temp;
  CheckpointFolder folder = opened(temp.path());
  for (const int64_t step : {3, 4}) ASSERT_TRUE(folder.write(of_step(step)));
  std::filesystem::rename(temp.file("checkpoint-4"), temp.file("checkpoint-9"));
  const Found found = newest_in(folder);
  EXPECT_EQ((**found.newest).facts.step, 3);
  EXPECT_THAT(found.said, HasSubstr("checkpoint-9: its manifest is of step 4"));
}

TEST(CheckpointFolder, OneIsReadByItself) {
  const TempFolder temp;
  CheckpointFolder folder = opened(temp.path());
  ASSERT_TRUE(folder.write(of_step(1)));
  EXPECT_EQ(read_checkpoint(temp.file("checkpoint-1"))->facts, of_step(1).facts);
  EXPECT_EQ(read_checkpoint(temp.file("checkpoint-2")).error().kind(), ErrorKind::DataLoss);
}

// Fails each call of the system in turn: the one before stays, nothing of the new one is left, the next one succeeds.
void any_call_may_fail(int64_t before, int64_t step) {
  const TempFolder temp;
  CheckpointFolder folder = opened(temp.path());
  ASSERT_TRUE(folder.write(of_step(before)));
  int failures = 0;
  for (int nth = 0;; ++nth) {
    int calls = 0;
    std::string failed;
    const Checkpoint there = **folder.newest();
    Checkpoint other = of_step(step);
    other.files["model.pt"] = fmt::format("that of try {}", nth);
    const Result<int64_t> written = [&] {
      const internal::FaultInjection injection([&](std::string_view call) -> internal::Fault {
        if (calls++ != nth) return {};
        failed = call;
        return {.error = call == "write" ? ENOSPC : EIO};
      });
      return folder.write(other);
    }();
    if (failed.empty()) break;
    if (written) continue;  // A call whose failure changes nothing.
    ++failures;
    EXPECT_EQ(temp.count(), 2U) << "leftovers after a failed " << failed;
    EXPECT_EQ((**folder.newest()).files, there.files) << failed << ", call " << nth;
  }
  EXPECT_GE(failures, 12) << "three files and the manifest: opened, written, synced";
  EXPECT_EQ((**folder.newest()).facts.step, step);
}

TEST(CheckpointFolder, AnyCallOfTheSystemMayFail) {
  any_call_may_fail(1, 2);
  any_call_may_fail(2, 2);
}

TEST(CheckpointFolder, OneOfTheSameStepIsReplacedOrStays) {
  const TempFolder temp;
  CheckpointFolder folder = opened(temp.path());
  ASSERT_TRUE(folder.write(of_step(5)));
  Checkpoint other = of_step(5);
  other.files["model.pt"] = "another one";
  int renames = 0;
  {
    const internal::FaultInjection injection([&](std::string_view call) -> internal::Fault {
      return {.error = call == "rename" && ++renames == 6 ? EIO : 0};
    });
    EXPECT_FALSE(folder.write(other)) << "four files, then the old one, then this";
  }
  EXPECT_EQ((**folder.newest()).files, of_step(5).files);
  EXPECT_TRUE(folder.write(other));
  EXPECT_EQ((**folder.newest()).files, other.files);
  EXPECT_EQ(temp.count(), 2U);
}

}  // namespace
}  // namespace headpond
