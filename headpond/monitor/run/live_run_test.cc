// SPDX-License-Identifier: Apache-2.0
#include "headpond/monitor/run/live_run.h"

#include <gmock/gmock.h>

#include <filesystem>
#include <functional>

#include "headpond/base/clock.h"
#include "headpond/monitor/run/live_socket_internal.h"

namespace headpond {
namespace {

using internal::LiveSocket;
using namespace std::chrono_literals;
namespace fs = std::filesystem;

class LiveRunTest : public testing::Test {
 protected:
  LiveRunTest() { fs::create_directories(folder_); }
  ~LiveRunTest() override { fs::remove_all(root_); }

  std::unique_ptr<LiveSocket> serve() const { return value_or_throw(LiveSocket::open(folder_)); }
  LiveRun listen() const { return value_or_throw(LiveRun::connect(folder_)); }
  static std::string greeting() { return line_of(RunMachine{.pid = 7}) + line_of(PipelineRecord{.name = "train"}); }

  const std::string root_ = testing::TempDir() + "headpond_live_" + std::to_string(now_ns());
  const std::string folder_ = root_ + "/" + std::string(120, 'x');  // Longer than an address may be.
};

TEST_F(LiveRunTest, WhoListensHearsWhatWasSaidAndWhatComes) {
  const auto server = serve();
  server->send(line_of(RunPoint{.step = 1}));
  LiveRun early = listen();
  server->welcome(&greeting);
  server->send(line_of(RunPoint{.step = 2}));
  LiveRun late = listen();
  server->welcome(&greeting);
  server->send(line_of(RunPoint{.step = 3}));
  RunRecord of_early, of_late;
  ASSERT_TRUE(early.read(of_early, 10s));
  ASSERT_TRUE(late.read(of_late, 10s));
  EXPECT_EQ(of_early.machine.pid, 7);
  ASSERT_EQ(of_early.pipelines.size(), 1U);
  EXPECT_EQ(of_early.pipelines[0].name, "train");
  ASSERT_EQ(of_early.points.size(), 2U);
  EXPECT_EQ(of_early.points[1].step, 3);
  ASSERT_EQ(of_late.points.size(), 1U);
  EXPECT_EQ(of_late.points[0].step, 3);
}

TEST_F(LiveRunTest, TheEndIsTold) {
  auto server = serve();
  LiveRun live = listen(), killed = listen();
  server->welcome(&greeting);
  RunRecord run;
  ASSERT_TRUE(killed.read(run, 10s));
  EXPECT_TRUE(killed.read(run, 0ms)) << "control: it goes on, and nothing is new";
  EXPECT_FALSE(run.is_whole);
  server->send(end_line());
  server.reset();
  RunRecord whole;
  Result<void> read;
  while (read) read = live.read(whole, 10s);
  EXPECT_TRUE(at_end(read));
  EXPECT_TRUE(whole.is_whole);
  EXPECT_EQ(LiveRun::connect(folder_).error().kind(), ErrorKind::NotFound) << "the file is gone";
}

// Reads until `has` holds of `run`; each time that nothing came, `serve` does the server's part.
void read_until(LiveRun& live, RunRecord& run, const std::function<bool()>& has, const std::function<void()>& serve) {
  for (int tries = 0; tries < 100 && !has(); ++tries) {
    ASSERT_TRUE(live.read(run, 100ms));
    serve();
  }
}

TEST_F(LiveRunTest, WhoDoesNotReadIsDroppedAndMayConnectAgain) {
  const auto server = serve();
  LiveRun idle = listen(), reader = listen();
  server->welcome(&greeting);
  const std::string line = line_of(RunPoint{.queues = {{std::string(500'000, 'q'), 1}}});
  RunRecord of_reader, of_idle;
  for (size_t i = 0; i < 20; ++i) {
    server->send(line);
    read_until(
        reader, of_reader, [&] { return of_reader.points.size() > i; }, [&] { server->welcome(&greeting); });
  }
  EXPECT_EQ(of_reader.points.size(), 20U);
  Result<void> read;
  while (read) read = idle.read(of_idle, 10s);
  EXPECT_TRUE(at_end(read));
  EXPECT_LT(of_idle.points.size(), 20U);
  EXPECT_FALSE(of_idle.is_whole);
  LiveRun again = listen();
  server->welcome(&greeting);
  RunRecord anew;
  EXPECT_TRUE(again.read(anew, 10s));
  EXPECT_EQ(anew.machine.pid, 7);
}

TEST_F(LiveRunTest, AGreetingMayBeLargerThanTheSystemsBuffer) {
  const auto server = serve();
  LiveRun live = listen();
  const std::string large = line_of(PipelineRecord{.name = std::string(6'000'000, 'p')});
  server->welcome([&] { return large; });
  RunRecord run;
  read_until(
      live, run, [&] { return !run.pipelines.empty(); }, [&] { server->send(""); });
  ASSERT_EQ(run.pipelines.size(), 1U);
  EXPECT_EQ(run.pipelines[0].name.size(), 6'000'000U);
}

TEST_F(LiveRunTest, ALaterRunInTheFolderHasTheSocket) {
  auto first = serve();
  const auto second = serve();
  first.reset();
  LiveRun live = listen();
  second->welcome(&greeting);
  RunRecord run;
  EXPECT_TRUE(live.read(run, 10s));
  EXPECT_EQ(run.machine.pid, 7);
}

TEST_F(LiveRunTest, WhatIsNoLineOfARunIsAnError) {
  const auto server = serve();
  LiveRun live = listen();
  server->welcome([] { return std::string("{\"point\":5}\n"); });
  RunRecord run;
  EXPECT_EQ(live.read(run, 10s).error().kind(), ErrorKind::DataLoss);
}

}  // namespace
}  // namespace headpond
