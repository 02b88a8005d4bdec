// SPDX-License-Identifier: Apache-2.0
// A folder for the files of a run, and a run.
#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <utility>

#include "headpond/base/clock.h"
#include "headpond/dataset/ops.h"
#include "headpond/monitor/run/run_record.h"
#include "headpond/monitor/run_log.h"

namespace headpond::internal {

class RunLogTest : public testing::Test {
 protected:
  ~RunLogTest() override { std::filesystem::remove_all(folder_); }

  std::unique_ptr<RunLog> open(RunLogOptions options = {.sample_every = std::chrono::milliseconds(1),
                                                        .write_every = std::chrono::milliseconds(20)}) {
    auto log = RunLog::open(folder_, options);
    EXPECT_TRUE(log) << log.error();
    return std::move(*log);
  }
  bool is_accepted(const std::string& checker, const std::string& arguments) const {
    const std::string command = HEADPOND_PYTHON " " HEADPOND_TOOLS "/" + checker + " " + folder_ + arguments;
    return std::system(command.c_str()) == 0;
  }
  std::string content(const std::string& name) const {
    std::ifstream file(folder_ + "/" + name);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  RunRecord record() const {
    auto run = read_run(folder_);
    EXPECT_TRUE(run) << run.error();
    return run ? *run : RunRecord();
  }

  const std::string folder_ = testing::TempDir() + "headpond_run_log_" + std::to_string(now_ns());
};

/// 40 batches.
inline Dataset small_batches() {
  return range(160) | map([](int64_t x) { return x + 1; }) | batch(4);
}

}  // namespace headpond::internal
