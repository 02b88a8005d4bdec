// SPDX-License-Identifier: Apache-2.0
#include "cli/bench/children/child_process.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>
#include <thread>

#include "tests/test_files.h"

namespace headpond::cli {
namespace {

using testing::HasSubstr;
using namespace std::chrono_literals;

Result<ChildOutput> shell(const std::string& line, const std::stop_token& stop = {},
                          std::chrono::milliseconds most = 60s) {
  return run_child({"sh", "-c", line}, stop, most);
}

TEST(RunChild, GivesWhatTheProgramWritesAndItsProcessorTime) {
  const ChildOutput done =
      shell("echo one; echo two; echo three >&2; i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done").value();
  EXPECT_EQ(done.text, "one\ntwo\n");
  EXPECT_GT(done.cpu_s, 0);
  EXPECT_LT(done.cpu_s, 30);
}

TEST(RunChild, WorksWhereThisProgramHasClosedItsStreams) {
  std::array<int, 3> kept{};
  (void)std::fflush(nullptr);
  for (int fd = 0; fd < 3; ++fd) kept.at(static_cast<size_t>(fd)) = ::dup(fd);
  for (int fd = 0; fd < 3; ++fd) ::close(fd);
  const auto done = shell("cat; echo one; echo two >&2");
  const auto failed = shell("echo one; echo two >&2; exit 3");
  for (int fd = 0; fd < 3; ++fd) ::dup2(kept.at(static_cast<size_t>(fd)), fd);
  for (const int fd : kept) ::close(fd);
  ASSERT_TRUE(done) << done.error();
  EXPECT_EQ(done->text, "one\n");
  EXPECT_THAT(failed.error().message(), HasSubstr("exit code 3: two"));
}

TEST(RunChild, HasNoneOfThisProgramsOptions) {
  setenv("HEADPOND_SECONDS", "7", 1);
  const std::string said = shell("echo $HEADPOND_SECONDS; echo $HOME").value().text;
  unsetenv("HEADPOND_SECONDS");
  EXPECT_EQ(said, "\n" + std::string(getenv("HOME") == nullptr ? "" : getenv("HOME")) + "\n");
}

TEST(RunChild, HasNoInput) { EXPECT_EQ(shell("cat; echo end").value().text, "end\n"); }

TEST(RunChild, SaysWhyAProgramFailed) {
  const Error failed = shell("echo early >&2; echo '  it is late' >&2; echo >&2; exit 7").error();
  EXPECT_EQ(failed.kind(), ErrorKind::FailedPrecondition);
  EXPECT_EQ(failed.message(), "sh: exit code 7:   it is late");
  EXPECT_THAT(shell("kill -TERM $$").error().message(), HasSubstr("sh: signal 15: "));
  const Error absent = run_child({"no-such-program-here"}, {}, 60s).error();
  EXPECT_EQ(absent.kind(), ErrorKind::NotFound);
  EXPECT_THAT(absent.message(), HasSubstr("no-such-program-here: it cannot be started: No such file"));
}

// The child of the shell, which would run for a minute, writes its number first.
std::string with_a_child(const std::string& file) { return "sleep 60 & echo $! >" + file + "; wait"; }

// A process that has ended may wait for its parent's look.
bool runs(const std::string& pid) {
  std::ifstream file("/proc/" + pid + "/stat");
  std::string number, name, state;
  file >> number >> name >> state;
  return !state.empty() && state != "Z";
}

bool has_content(const std::string& file) { return std::ifstream(file).peek() != std::ifstream::traits_type::eof(); }

void expect_gone(const std::string& file) {
  std::string pid;
  std::ifstream(file) >> pid;
  ASSERT_NE(pid, "");
  for (int i = 0; i < 6000 && runs(pid); ++i) std::this_thread::sleep_for(10ms);
  EXPECT_FALSE(runs(pid)) << "process " << pid;
}

TEST(RunChild, EndsWithAllThatTheProgramStartedAtAStopAndAtTheLimit) {
  const test::TempFolder folder;
  std::stop_source stop;
  const std::jthread later([&] {
    for (int i = 0; i < 6000 && !has_content(folder.file("stopped")); ++i) std::this_thread::sleep_for(10ms);
    stop.request_stop();
  });
  EXPECT_EQ(shell(with_a_child(folder.file("stopped")), stop.get_token()).error().kind(), ErrorKind::Cancelled);
  expect_gone(folder.file("stopped"));
  for (auto most = 300ms; !has_content(folder.file("late")) && most < 60s; most *= 2) {  // The shell may begin late.
    EXPECT_EQ(shell(with_a_child(folder.file("late")), {}, most).error().kind(), ErrorKind::DeadlineExceeded);
  }
  expect_gone(folder.file("late"));
}

TEST(RunChild, WaitsForItsChildAlsoWhereChildrenAreIgnored) {
  auto* const before = std::signal(SIGCHLD, SIG_IGN);
  const auto done = shell("echo one; exit 7");
  auto* const after = std::signal(SIGCHLD, before);
  ASSERT_FALSE(done);
  EXPECT_THAT(done.error().message(), HasSubstr("exit code 7"));
  EXPECT_EQ(after, SIG_IGN);
}

TEST(RunChild, LeavesNothingBehindThatTheProgramDidNotEnd) {
  const test::TempFolder folder;
  ASSERT_TRUE(shell("sleep 60 & echo $! >" + folder.file("left")).has_value());
  expect_gone(folder.file("left"));
}

}  // namespace
}  // namespace headpond::cli
