// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <sys/wait.h>
#include <unistd.h>

#include <latch>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "headpond/queue/queue_test_internal.h"
#include "headpond/queue/runner/reporter_internal.h"

namespace headpond::internal {
namespace {

class Reports : public QueueTest {
 protected:
  Reports() {
    set_log_sink([this](LogLevel, std::string_view line) {
      if (at_line_) at_line_();
      const std::lock_guard lock(mu_);
      lines_.emplace_back(line);
      threads_.push_back(std::this_thread::get_id());
    });
  }
  ~Reports() override {
    wait_for_reports();
    set_log_sink({});
  }

  static std::function<std::string()> text(const std::string& line) {
    return [line] { return line; };
  }

  std::function<void()> at_line_;
  std::mutex mu_;
  std::vector<std::string> lines_;
  std::vector<std::thread::id> threads_;
};

TEST_F(Reports, ComeInOrderFromAnotherThread) {
  for (int i = 0; i < 20; ++i) EXPECT_TRUE(report_later(LogLevel::info, text(std::to_string(i))));
  wait_for_reports();
  ASSERT_EQ(lines_.size(), 20U);
  for (size_t i = 0; i < lines_.size(); ++i) EXPECT_EQ(lines_[i], std::to_string(i));
  EXPECT_THAT(threads_, ::testing::Each(::testing::Ne(std::this_thread::get_id())));
}

TEST_F(Reports, DoNotWaitForTheSink) {
  std::latch is_reported(1);
  at_line_ = [&] { is_reported.wait(); };
  EXPECT_TRUE(report_later(LogLevel::info, text("one")));
  EXPECT_TRUE(report_later(LogLevel::info, text("two")));
  is_reported.count_down();
  wait_for_reports();
  EXPECT_EQ(lines_.size(), 2U);
}

TEST_F(Reports, ThatCannotBeMadeAreSaidToBeMissing) {
  EXPECT_FALSE(report_later(LogLevel::info, []() -> std::string { throw std::bad_alloc(); }));
  EXPECT_FALSE(report_later(LogLevel::info, []() -> std::string { throw 7; }));
  EXPECT_TRUE(report_later(LogLevel::info, text("one")));
}

// Without a sanitizer: ThreadSanitizer ends a child that starts a thread.
#if !defined(__SANITIZE_THREAD__)
TEST_F(Reports, AreMadeInAChildWhateverTheParentsThreadDid) {
  std::latch is_in_sink(1), is_forked(1);
  at_line_ = [&] {
    is_in_sink.count_down();
    is_forked.wait();
  };
  EXPECT_TRUE(report_later(LogLevel::info, text("one")));
  is_in_sink.wait();
  const pid_t child = fork();
  if (child == 0) {
    set_log_sink([](LogLevel, std::string_view line) { _exit(line == "two" ? 0 : 1); });
    if (!report_later(LogLevel::info, text("two"))) _exit(2);
    wait_for_reports();
    _exit(3);
  }
  is_forked.count_down();
  wait_for_reports();  // The sink uses the latches.
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
}
#endif

}  // namespace
}  // namespace headpond::internal
