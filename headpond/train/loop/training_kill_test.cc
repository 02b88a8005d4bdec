// SPDX-License-Identifier: Apache-2.0
// Trainings in processes that are killed: all that their runs wrote down is what one that is not killed writes down.
#include <fcntl.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <filesystem>
#include <map>
#include <memory>
#include <random>
#include <set>
#include <sstream>
#include <string>
#include <thread>

#include "headpond/base/log.h"
#include "headpond/io/file/system_test_internal.h"
#include "headpond/train/loop/training_test_internal.h"
#include "tests/test_files.h"

namespace headpond::internal {
namespace {

constexpr int64_t kSteps = 40;

// Writes a line for each step and each evaluation, which a kill does not take back.
struct Recorder final : Hook {
  explicit Recorder(const std::string& path) : file(::open(path.c_str(), O_CREAT | O_WRONLY | O_APPEND, 0600)) {}
  ~Recorder() override { ::close(file); }
  std::string_view name() const override { return "recorder"; }
  Result<void> after_run(HookContext& context, double loss, const Metrics&) override {
    return write(fmt::format("step {} {:a}\n", context.step, loss));
  }
  Result<void> evaluated(HookContext&, const Evaluation& evaluation) override {
    return write(fmt::format("evaluation {} {:a}\n", evaluation.step, evaluation.metrics.at("loss").value()));
  }
  Result<void> write(const std::string& line) const {
    if (::write(file, line.data(), line.size()) == static_cast<ssize_t>(line.size())) return {};
    return fail(ErrorKind::Unknown, "the test's file cannot be written");
  }
  const int file;
};

// The exit code of a process that trains, or the number of the signal that ended it, below 0. `kill_at`: the call of
// the system at which it kills itself, from 1; 0: none.
int train(const std::string& folder, const std::string& left_out, int kill_at, std::chrono::microseconds kill_after) {
  const pid_t child = ::fork();
  if (child == 0) {
    set_log_sink([](LogLevel, std::string_view) {});
    std::atomic<int> calls = 0;
    const FaultInjection injection([&](std::string_view) -> Fault {
      if (++calls == kill_at) ::kill(::getpid(), SIGKILL);
      return {};
    });
    Toy toy;
    toy.left_out = left_out;
    const auto trained =
        train_and_evaluate(toy, {.model_dir = folder + "/model", .save_steps = 4, .keep = 2, .threads = 1},
                           {.input = numbers(),
                            .max_steps = kSteps,
                            .hooks = {std::make_shared<Recorder>(folder + "/lines")},
                            .epochs = -1},
                           {.input = range(6) | batch(2), .throttle_secs = 0});
    ::_exit(trained ? 0 : 1);
  }
  if (kill_after.count() > 0) {
    std::this_thread::sleep_for(kill_after);
    ::kill(child, SIGKILL);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status);
}

// What was written down: "step 3" and the like, with what different runs say of it.
std::map<std::string, std::set<std::string>> lines_of(const std::string& folder) {
  const auto bytes = test::get_file(folder + "/lines");
  std::istringstream lines(std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size()));
  std::map<std::string, std::set<std::string>> all;
  std::string what, number, value;
  while (lines >> what >> number >> value) all[what + " " + number].insert(value);
  return all;
}

std::map<std::string, std::set<std::string>> unbroken() {
  const test::TempFolder temp;
  EXPECT_EQ(train(temp.path(), "", 0, {}), 0);
  auto all = lines_of(temp.path());
  EXPECT_EQ(all.size(), 40U + 10U);
  return all;
}

TEST(TrainingKills, AtEachCallOfTheSystem) {
  const auto whole = unbroken();
  const int every = static_cast<int>(test::quick_or(97, 5));
  int kills = 0, at = 1;
  for (bool ends = false; !ends; at += every) {
    const test::TempFolder temp;
    ends = train(temp.path(), "", at, {}) == 0;
    kills += ends ? 0 : 1;
    ASSERT_EQ(train(temp.path(), "", 0, {}), 0) << "after a kill at call " << at;
    EXPECT_EQ(lines_of(temp.path()), whole) << "after a kill at call " << at;
  }
  EXPECT_GE(kills, 5) << "11 saves of 5 files have many hundred calls";
}

// Random moments, up to some longer than a whole run takes on this machine now: so a start that is slow is not always
// killed before its first step.
TEST(TrainingKills, AtRandomMoments) {
  const test::TempFolder temp;
  const auto whole = unbroken();
  std::minstd_rand random(7);
  const size_t kills = test::quick_or(25, 100);
  size_t killed = 0, while_it_trained = 0, told = 0;
  int64_t most_us = 12000;
  while (killed < kills) {
    const auto moment = std::chrono::microseconds(1000 + static_cast<int64_t>(random()) % most_us);
    const int ended = train(temp.path(), "", 0, moment);
    const size_t tells =
        std::filesystem::exists(temp.file("lines")) ? std::filesystem::file_size(temp.file("lines")) : 0;
    if (ended == -SIGKILL) {
      ++killed;
      while_it_trained += tells > told ? 1 : 0;
      if (tells == told) most_us += most_us / 4;
    } else {
      EXPECT_EQ(ended, 0);
      EXPECT_EQ(lines_of(temp.path()), whole);
      std::filesystem::remove_all(temp.file("model"));  // It came to its end: once more, from nothing.
      std::filesystem::remove_all(temp.file("lines"));
      most_us = std::max<int64_t>(most_us * 3 / 4, 2000);
    }
    told = ended == -SIGKILL ? tells : 0;
  }
  EXPECT_EQ(train(temp.path(), "", 0, {}), 0);
  EXPECT_EQ(lines_of(temp.path()), whole);
  EXPECT_GE(while_it_trained, kills / 4) << "the others were killed before their first step";
}

TEST(TrainingKills, WhatIsLeftOutOfCheckpointsShows) {
  const auto whole = unbroken();
  for (const char* const part : {"model.pt", "optimizer.pt", "random.bin", "data.state"}) {
    const test::TempFolder temp;
    EXPECT_EQ(train(temp.path(), part, 200, {}), -SIGKILL);
    if (part == std::string("data.state")) forget_position(temp.file("model"));
    EXPECT_EQ(train(temp.path(), part, 0, {}), 0);
    EXPECT_NE(lines_of(temp.path()), whole) << "control: without " << part;
  }
}

}  // namespace
}  // namespace headpond::internal
