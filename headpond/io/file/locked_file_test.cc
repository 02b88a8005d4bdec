// SPDX-License-Identifier: Apache-2.0
#include "headpond/io/file/locked_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <optional>
#include <thread>

#include "headpond/io/file/system_internal.h"
#include "tests/test_files.h"

namespace headpond {
namespace {

using internal::Fault;
using internal::FaultInjection;
using test::TempFolder;
using testing::HasSubstr;

TEST(LockedFile, SaysWhatWasWrittenLast) {
  const TempFolder folder;
  {
    auto file = LockedFile::open(folder.file("a")).value();
    EXPECT_EQ(file.text().value(), "");
    ASSERT_TRUE(file.replace("something long"));
    ASSERT_TRUE(file.replace("short"));
    EXPECT_EQ(file.text().value(), "short");
  }
  auto again = LockedFile::open(folder.file("a")).value();
  ASSERT_TRUE(again.append(" and more"));
  EXPECT_EQ(again.text().value(), "short and more");
}

TEST(LockedFile, IsLockedByOneUntilThatEnds) {
  const TempFolder folder;
  std::optional<LockedFile> first = LockedFile::open(folder.file("a")).value();
  const auto second = LockedFile::open(folder.file("a"));
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().kind(), ErrorKind::FailedPrecondition);
  EXPECT_THAT(second.error().message(), HasSubstr(folder.file("a")));
  EXPECT_TRUE(LockedFile::open(folder.file("b"))) << "another file";
  first.reset();
  EXPECT_TRUE(LockedFile::open(folder.file("a")));
}

TEST(LockedFile, MayBeWaitedFor) {
  const TempFolder folder;
  std::optional<LockedFile> first = LockedFile::open(folder.file("a")).value();
  std::stop_source stop;
  ASSERT_FALSE(LockedFile::open(folder.file("a")))
      << "so the first try of wait_for() finds it locked, most of the time";
  std::jthread lets_go([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    first.reset();
  });
  const auto held = LockedFile::wait_for(folder.file("a"), stop.get_token());
  ASSERT_TRUE(held);
  std::jthread stops([&] { stop.request_stop(); });
  EXPECT_EQ(LockedFile::wait_for(folder.file("a"), stop.get_token()).error().kind(), ErrorKind::Cancelled);
  EXPECT_FALSE(LockedFile::wait_for(folder.file("none/a")));
}

TEST(LockedFile, IsFreeWhenItsProgramIsKilled) {
  const TempFolder folder;
  std::array<int, 2> held{};
  ASSERT_EQ(pipe(held.data()), 0);
  const pid_t other = fork();
  ASSERT_GE(other, 0);
  if (other == 0) {
    const auto file = LockedFile::open(folder.file("a"));
    const char told = file ? 'y' : 'n';
    if (write(held[1], &told, 1) == 1) pause();
    _exit(1);
  }
  char told = 0;
  EXPECT_EQ(read(held[0], &told, 1), 1);
  EXPECT_EQ(told, 'y');
  const auto refused = LockedFile::open(folder.file("a"));
  EXPECT_FALSE(refused) << "of another program";
  EXPECT_EQ(kill(other, SIGKILL), 0);
  EXPECT_EQ(waitpid(other, nullptr, 0), other);
  EXPECT_TRUE(LockedFile::open(folder.file("a")));
  close(held[0]);
  close(held[1]);
}

TEST(LockedFile, IsOfNoUseOnceItsNameIsAnotherFiles) {
  const TempFolder folder;
  auto file = LockedFile::open(folder.file("a")).value();
  ASSERT_TRUE(file.replace("mine"));
  ASSERT_EQ(unlink(folder.file("a").c_str()), 0);
  EXPECT_EQ(file.append("x").error().kind(), ErrorKind::FailedPrecondition);
  auto other = LockedFile::open(folder.file("a")).value();
  ASSERT_TRUE(other.replace("other"));
  for (const Result<void>& result : {file.append("x"), file.replace("x")}) {
    ASSERT_FALSE(result);
    EXPECT_THAT(result.error().message(), HasSubstr("removed or replaced"));
  }
  EXPECT_FALSE(file.text());
  EXPECT_EQ(other.text().value(), "other");
}

TEST(LockedFile, NamesWhatFails) {
  const TempFolder folder;
  EXPECT_EQ(LockedFile::open(folder.file("none/a")).error().kind(), ErrorKind::NotFound);
  EXPECT_EQ(LockedFile::open(folder.path()).error().kind(), ErrorKind::FailedPrecondition);
  auto file = LockedFile::open(folder.file("a")).value();
  for (const std::string_view failing : {"ftruncate", "write", "fsync"}) {
    const FaultInjection fault([&](std::string_view call) { return Fault{.error = call == failing ? ENOSPC : 0}; });
    const auto written = file.replace("text");
    ASSERT_FALSE(written) << failing;
    EXPECT_EQ(written.error().kind(), ErrorKind::ResourceExhausted);
    EXPECT_THAT(written.error().message(), HasSubstr(folder.file("a")));
  }
  const FaultInjection no_locks([](std::string_view call) { return Fault{.error = call == "flock" ? ENOLCK : 0}; });
  EXPECT_TRUE(LockedFile::open(folder.file("a"))) << "opens without a lock";
}

}  // namespace
}  // namespace headpond
