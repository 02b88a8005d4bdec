// SPDX-License-Identifier: Apache-2.0
#include "headpond/train/articles/digits/digits.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "headpond/base/log.h"
#include "headpond/base/thread.h"
#include "headpond/io/array/idx.h"
#include "headpond/io/file/system_internal.h"
#include "headpond/train/articles/digits/draw_digit.h"
#include "tests/test_files.h"

namespace headpond {
namespace {

using internal::Fault;
using internal::FaultInjection;
using test::get_file;
using test::put_file;
using test::TempFolder;
using testing::HasSubstr;

DigitSetOptions small(const TempFolder& folder) {
  return {.folder = folder.file("digits"), .train_images = 12, .test_images = 5};
}

std::string path_of(const DigitSet& set, const char* name) { return set.folder + "/" + name; }

void expect_whole(const DigitSetOptions& options) {
  const DigitSet set = digit_set(options).value();
  const IdxPair train = read_idx_pair(path_of(set, kTrainImages), path_of(set, kTrainLabels)).value();
  const IdxPair test = read_idx_pair(path_of(set, kTestImages), path_of(set, kTestLabels)).value();
  ASSERT_EQ(train.images.shape(), (Shape{options.train_images, 28, 28}));
  ASSERT_EQ(test.images.shape(), (Shape{options.test_images, 28, 28}));
  for (int64_t i = 0; i < options.train_images + options.test_images; ++i) {
    const Digit digit = draw_digit(static_cast<uint64_t>(i));
    const bool is_test = i >= options.train_images;
    const int64_t row = is_test ? i - options.train_images : i;
    EXPECT_THAT((is_test ? test : train).images.row(row).as<uint8_t>(), testing::ElementsAreArray(digit.pixels)) << i;
    EXPECT_EQ((is_test ? test : train).labels.as<uint8_t>()[static_cast<size_t>(row)], digit.label) << i;
  }
}

// Collects what is logged.
class Logged {
 public:
  Logged() : old_(set_log_sink([this](LogLevel, std::string_view line) { text += line; })) {}
  ~Logged() { set_log_sink(old_); }
  std::string text;

 private:
  LogSink old_;
};

TEST(DigitSet, IsDrawnOnceAndThenFound) {
  const TempFolder folder;
  EXPECT_TRUE(digit_set(small(folder))->drawn);
  expect_whole(small(folder));
  const DigitSet again = digit_set(small(folder)).value();
  EXPECT_FALSE(again.drawn);
  EXPECT_EQ(again.folder, folder.file("digits"));
  EXPECT_EQ(folder.count(), 2U) << "the set and its lock";
}

TEST(DigitSet, IsKeptInTheCacheFolder) {
  const TempFolder folder;
  const char* old = std::getenv("XDG_CACHE_HOME");
  const std::string before = old != nullptr ? old : "";
  setenv("XDG_CACHE_HOME", folder.path().c_str(), 1);
  const auto set = digit_set({.folder = "", .train_images = 1, .test_images = 1, .stop = {}});
  old != nullptr ? setenv("XDG_CACHE_HOME", before.c_str(), 1) : unsetenv("XDG_CACHE_HOME");
  EXPECT_EQ(set->folder, folder.file("headpond/digits-v1"));
}

TEST(DigitSet, OfOtherCountsIsAnotherSet) {
  const TempFolder folder;
  const Logged logged;
  EXPECT_TRUE(digit_set(small(folder)));
  DigitSetOptions options = small(folder);
  options.test_images = 0;
  EXPECT_TRUE(digit_set(options)->drawn);
  expect_whole(options);
}

TEST(DigitSet, IsDrawnAgainWhenItIsDamaged) {
  const TempFolder folder;
  const Logged logged;
  ASSERT_TRUE(digit_set(small(folder)));
  for (const char* name : {kTrainImages, kTrainLabels, kTestImages, kTestLabels, "MANIFEST"}) {
    const std::string path = folder.file("digits/") + name;
    const auto whole = get_file(path);
    auto flipped = whole, shorter = whole;
    flipped.back() ^= std::byte{1};
    shorter.pop_back();
    for (const auto& damaged : {flipped, shorter, {}}) {
      put_file(path, damaged);
      EXPECT_TRUE(digit_set(small(folder))->drawn) << name;
      EXPECT_EQ(get_file(path), whole) << name;
    }
    std::filesystem::remove(path);
    EXPECT_TRUE(digit_set(small(folder))->drawn) << name;
  }
  expect_whole(small(folder));
  EXPECT_EQ(folder.count(), 2U);
  EXPECT_THAT(logged.text, HasSubstr("the digit set is drawn again"));
}

TEST(DigitSet, ReplacesAFileInItsPlace) {
  const TempFolder folder;
  const Logged logged;
  put_file(folder.file("digits"), {});
  EXPECT_TRUE(digit_set(small(folder))->drawn);
  expect_whole(small(folder));
}

TEST(DigitSet, IsDrawnByOneOfManyCallers) {
  const TempFolder folder;
  std::atomic<int> drawn = 0, fine = 0;
  {
    std::vector<Thread> threads;
    threads.reserve(6);
    for (int i = 0; i < 6; ++i) {
      threads.emplace_back("caller", [&] {
        const auto set = digit_set(small(folder));
        fine += set.has_value();
        drawn += set && set->drawn;
      });
    }
  }
  EXPECT_EQ(fine, 6);
  EXPECT_EQ(drawn, 1);
}

TEST(DigitSet, StopsWhenAskedToAndLeavesNothing) {
  const TempFolder folder;
  std::stop_source source;
  source.request_stop();
  DigitSetOptions options = small(folder);
  options.stop = source.get_token();
  EXPECT_EQ(digit_set(options).error().kind(), ErrorKind::Cancelled);
  EXPECT_EQ(folder.count(), 1U) << "the lock";
  const auto held = internal::lock_file(folder.file("digits.lock"), {});
  EXPECT_THAT(digit_set(options).error().message(), HasSubstr("digits.lock"));
}

TEST(DigitSet, WorksWhereTheFileSystemHasNoLocks) {
  const TempFolder folder;
  {
    const FaultInjection fault([](std::string_view call) { return Fault{.error = call == "flock" ? ENOLCK : 0}; });
    EXPECT_TRUE(digit_set(small(folder))->drawn);
  }
  expect_whole(small(folder));
}

TEST(DigitSet, SurvivesTheFailureOfEachSystemCall) {
  const TempFolder folder;
  bool reached_the_end = false;
  for (int failing = 0; !reached_the_end; ++failing) {
    ASSERT_LT(failing, 300);
    std::filesystem::remove_all(folder.file("digits"));
    std::string failed;
    {
      int calls = 0;
      const FaultInjection fault([&](std::string_view call) {
        if (calls++ != failing) return Fault{};
        failed = call;
        return Fault{.error = ENOSPC};
      });
      const auto set = digit_set(small(folder));
      EXPECT_TRUE(set || set.error().kind() == ErrorKind::ResourceExhausted) << failed << ": " << set.error();
    }
    reached_the_end = failed.empty();
    for (const auto& entry : std::filesystem::directory_iterator(folder.path())) {
      EXPECT_THAT(entry.path().filename().string(), testing::AnyOf("digits", "digits.lock")) << failed;
    }
  }
  expect_whole(small(folder));
}

// Kills a program that draws at its n-th system call, for each n: nothing or a whole set is there, and one more run
// finds or draws it and removes what was left.
TEST(DigitSet, IsWholeOrAbsentAfterAKillAtAnySystemCall) {
  const TempFolder folder;
  bool reached_the_end = false;
  for (int last = 0; !reached_the_end; ++last) {
    ASSERT_LT(last, 300);
    std::filesystem::remove_all(folder.file("digits"));
    const pid_t child = fork();
    if (child == 0) {
      int calls = 0;
      const FaultInjection fault([&](std::string_view) {
        if (calls++ == last) kill(getpid(), SIGKILL);
        return Fault{};
      });
      _exit(digit_set(small(folder)) ? 0 : 1);
    }
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    reached_the_end = WIFEXITED(status);
    const bool there = std::filesystem::exists(folder.file("digits"));
    const DigitSet set = digit_set(small(folder)).value();
    EXPECT_EQ(set.drawn, !there) << "killed at call " << last;
    EXPECT_LE(folder.count(), 2U + (there ? 1U : 0U)) << last;
  }
  expect_whole(small(folder));
}

}  // namespace
}  // namespace headpond
