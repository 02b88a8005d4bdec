// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include <latch>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "headpond/queue/runner/reporter_internal.h"

namespace headpond::internal {
namespace {

class Reports : public ::testing::Test {
 protected:
  Reports() {
    set_log_sink([this](LogLevel, std::string_view line) {
      if (at_line_) at_line_();
      const std::lock_guard lock(mu_);
      lines_.emplace_back(line);
      threads_.push_back(std::this_thread::get_id());
    });
  }
  ~Reports() override { set_log_sink({}); }

  static std::function<std::string()> text(const std::string& line) {
    return [line] { return line; };
  }

  std::function<void()> at_line_;
  std::mutex mu_;
  std::vector<std::string> lines_;
  std::vector<std::thread::id> threads_;
};

TEST_F(Reports, ComeInOrderFromAnotherThreadAndAreAwaitedByTheDestructor) {
  {
    Reporter reporter;
    for (int i = 0; i < 20; ++i) EXPECT_TRUE(reporter.report(LogLevel::info, text(std::to_string(i))));
  }
  ASSERT_EQ(lines_.size(), 20U);
  for (size_t i = 0; i < lines_.size(); ++i) EXPECT_EQ(lines_[i], std::to_string(i));
  EXPECT_THAT(threads_, ::testing::Each(::testing::Ne(std::this_thread::get_id())));
}

TEST_F(Reports, DoNotWaitForTheSink) {
  std::latch is_reported(1);
  at_line_ = [&] { is_reported.wait(); };
  Reporter reporter;
  EXPECT_TRUE(reporter.report(LogLevel::info, text("one")));
  EXPECT_TRUE(reporter.report(LogLevel::info, text("two")));
  is_reported.count_down();
}

TEST_F(Reports, ThatCannotBeMadeAreSaidToBeMissing) {
  Reporter reporter;
  EXPECT_FALSE(reporter.report(LogLevel::info, []() -> std::string { throw std::bad_alloc(); }));
  EXPECT_TRUE(reporter.report(LogLevel::info, text("one")));
}

TEST_F(Reports, MayDestroyTheReporter) {
  std::latch is_destroyed(1);
  auto reporter = std::make_unique<Reporter>();
  at_line_ = [&] {
    reporter.reset();
    is_destroyed.count_down();
  };
  Reporter* const raw = reporter.get();
  EXPECT_TRUE(raw->report(LogLevel::info, text("one")));
  is_destroyed.wait();
}

}  // namespace
}  // namespace headpond::internal
