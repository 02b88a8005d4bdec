// SPDX-License-Identifier: Apache-2.0
#include "headpond/engine/save.h"

#include <algorithm>
#include <filesystem>

#include "headpond/base/log.h"
#include "headpond/dataset/testing/dataset_test_internal.h"
#include "headpond/io/file/system_test_internal.h"
#include "tests/test_files.h"

namespace headpond {
namespace {

using internal::elements;
using testing::HasSubstr;

class SaveTest : public testing::Test {
 protected:
  void SetUp() override {
    old_sink_ = set_log_sink([](LogLevel, std::string_view) {});
  }
  void TearDown() override { set_log_sink(old_sink_); }
  std::string path() const { return folder_.file("saved"); }
  size_t entries() const { return static_cast<size_t>(std::distance(std::filesystem::directory_iterator(path()), {})); }
  const test::TempFolder folder_;

 private:
  LogSink old_sink_;
};

TEST_F(SaveTest, LoadGivesTheSameElements) {
  const std::vector<std::string_view> texts = {"a", "", "ccc"};
  const Dataset all[] = {
      range(100) | shuffle() | batch(7),
      range(0),
      range(9) | filter([](int64_t x) { return x % 2 == 0; }),
      range(9) | as_stream(),
      from_tensor_slices({{"text", Tensor::from(std::span<const std::string_view>(texts), {3})},
                          {"number", Tensor::from(std::vector<float>{1, 2, 3}, {3})}}),
  };
  for (const Dataset& dataset : all) {
    const auto expected = elements(dataset, {.seed = 4});
    for (const int threads : {0, 2}) {
      const auto saved = save(dataset, path(), {.threads = threads, .seed = 4});
      ASSERT_TRUE(saved) << saved.error();
      EXPECT_EQ(*saved, static_cast<int64_t>(expected.size()));
      EXPECT_EQ(elements(load(path())), expected);
      EXPECT_EQ(to_string(load(path()).spec()), to_string(dataset.spec()));
      EXPECT_EQ(entries(), 2U) << "what was there before is gone";
    }
  }
}

TEST_F(SaveTest, AnErrorLeavesWhatWasThere) {
  ASSERT_TRUE(save(range(3), path()));
  const auto fails = [](int64_t x) -> Result<int64_t> {
    if (x == 5) return fail(ErrorKind::DataLoss, "bad");
    return x;
  };
  const auto saved = save(range(9) | map(fails), path());
  ASSERT_FALSE(saved);
  EXPECT_THAT(saved.error().to_string(), HasSubstr("range, record 5: bad"));
  EXPECT_EQ(elements(load(path())), elements(range(3)));
  EXPECT_EQ(entries(), 2U);
  EXPECT_EQ(save(range(9) | repeat(), path()).error().kind(), ErrorKind::FailedPrecondition);
}

TEST_F(SaveTest, EachFailureOfTheSystemLeavesTheOldOrTheNew) {
  const auto old = elements(range(3)), fresh = elements(range(5));
  int failures = 0;
  for (int fail_at = -1, calls = 0; fail_at < calls; ++fail_at) {
    ASSERT_TRUE(save(range(3), path(), {.threads = 0}));
    int seen = 0;
    const auto saved = [&] {
      const internal::FaultInjection hook(
          [&](std::string_view) { return internal::Fault{.error = seen++ == fail_at ? ENOSPC : 0}; });
      return save(range(5), path(), {.threads = 0});
    }();
    calls = std::max(calls, seen);  // The first run has all: none of its calls fails.
    failures += saved ? 0 : 1;
    const auto now = elements(load(path()));
    EXPECT_TRUE(saved ? now == fresh : now == old || now == fresh) << fail_at;
  }
  EXPECT_GT(failures, 10);
}

}  // namespace
}  // namespace headpond
