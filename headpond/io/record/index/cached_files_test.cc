// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstddef>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "headpond/base/mutex.h"
#include "headpond/io/file/file.h"
#include "headpond/io/file/system_internal.h"
#include "headpond/io/record/index/cached_files_internal.h"
#include "headpond/io/record/index/cached_index_internal.h"
#include "headpond/io/record/index/set_index.h"
#include "headpond/io/record/record_file.h"
#include "headpond/io/record/record_test_internal.h"
#include "headpond/io/text/line_file.h"
#include "tests/test_files.h"

namespace headpond::internal {
namespace {

using std::chrono::hours;

class CachedFiles : public testing::Test {
 protected:
  std::string put(const std::string& name, hours age) const {
    const std::string path = folder_.file(name);
    test::put_file(path, test::to_bytes("x"));
    set_age(path, age);
    return path;
  }
  static void set_age(const std::string& path, hours age) {
    std::filesystem::last_write_time(path, std::filesystem::file_time_type::clock::now() - age);
  }
  static int64_t modified(const std::string& path) { return examine_path(path)->modified_ns; }

  const test::TempFolder folder_;
};

TEST_F(CachedFiles, ThatNobodyHasUsedForLongAreRemoved) {
  const std::string old = put("old.index", hours(91 * 24)), recent = put("recent.index", hours(89 * 24)),
                    other = put("other.txt", hours(1000 * 24)), killed = put(".a.index.01cd3f", hours(91 * 24)),
                    written = put(".a.index.01cd40", hours(0));
  remove_unused(folder_.path());
  EXPECT_FALSE(std::filesystem::exists(old));
  EXPECT_TRUE(std::filesystem::exists(recent));
  EXPECT_TRUE(std::filesystem::exists(other)) << "not an index";
  EXPECT_FALSE(std::filesystem::exists(killed));
  EXPECT_TRUE(std::filesystem::exists(written));
  remove_unused(folder_.file("none"));
}

TEST_F(CachedFiles, AnotherFileThatHasGotTheNameIsNotRemoved) {
  const std::string path = put("a.index", hours(1)), next = put("b.index", hours(1));
  const FileFacts old = examine_path(path).value(), replaced = examine_path(next).value();
  remove_cached(path, replaced.device, replaced.inode);
  EXPECT_TRUE(examine_path(path)->is_same_file(old)) << "it was replaced before";
  {
    bool is_done = false;  // It is replaced between the look and the removal.
    const FaultInjection hook([&](std::string_view call) {
      if (call == "rename" && !std::exchange(is_done, true)) std::filesystem::rename(next, path);
      return Fault{};
    });
    remove_cached(path, old.device, old.inode);
    EXPECT_TRUE(is_done);
  }
  ASSERT_TRUE(std::filesystem::exists(path));
  EXPECT_TRUE(examine_path(path)->is_same_file(replaced));
  EXPECT_EQ(folder_.count(), 1U) << "nothing else stays";
  remove_cached(path, replaced.device, replaced.inode);
  EXPECT_EQ(folder_.count(), 0U) << "control";
  remove_cached(path, replaced.device, replaced.inode);
}

TEST_F(CachedFiles, AreLookedThroughOnceForEachFolder) {
  const std::string old = put("old.index", hours(91 * 24));
  remove_unused_beside(folder_.file("a.index"));
  EXPECT_FALSE(std::filesystem::exists(old));
  (void)put("old.index", hours(91 * 24));
  remove_unused_beside(folder_.file("b.index"));
  EXPECT_TRUE(std::filesystem::exists(old)) << "each look takes time";
}

TEST_F(CachedFiles, OneThatIsUsedIsYoungAgain) {
  const std::string index = put("a.index", hours(48)), young = put("b.index", hours(2));
  const int64_t before = modified(index), before_young = modified(young);
  note_use(index, before);
  note_use(young, before_young);
  EXPECT_GT(modified(index), before);
  EXPECT_EQ(modified(young), before_young) << "once a day is enough";
}

TEST_F(CachedFiles, TheIndexOfAFileThatIsReadStays) {
  setenv("XDG_CACHE_HOME", folder_.path().c_str(), 1);
  const std::string data = folder_.file("data"), gone = folder_.file("gone");
  test::put_file(data, test::frames_of({"one", "two"}));
  test::put_file(gone, test::frames_of({"three"}));
  ASSERT_TRUE(RecordFile::open(data));
  ASSERT_TRUE(RecordFile::open(gone));
  const std::string used = record_index_path(data).value(), unused = record_index_path(gone).value();
  set_age(used, hours(80 * 24));
  set_age(unused, hours(100 * 24));
  EXPECT_TRUE(RecordFile::open(data).value()->index_was_kept());
  remove_unused(folder_.file("headpond/records"));
  EXPECT_TRUE(std::filesystem::exists(used));
  EXPECT_FALSE(std::filesystem::exists(unused));
  unsetenv("XDG_CACHE_HOME");
}

std::vector<std::string> calls_of(const std::function<void()>& what) {
  std::vector<std::string> calls;
  Mutex mu;
  const FaultInjection hook([&](std::string_view call) {
    const MutexLock lock(mu);
    calls.emplace_back(call);
    return Fault{};
  });
  what();
  return calls;
}

// They have checksums: what a power failure leaves of them is noticed, and made anew.
TEST_F(CachedFiles, AreWrittenWithoutAWaitForTheDisk) {
  setenv("XDG_CACHE_HOME", folder_.path().c_str(), 1);
  const std::string records = folder_.file("records"), lines = folder_.file("lines");
  test::put_file(records, test::frames_of({"one", "two"}));
  test::put_file(lines, std::vector(size_t{1} << 19, std::byte{'\n'}));
  youngest_indexed_ns = -1'000'000'000;
  const auto no_sync = testing::AllOf(testing::Contains("rename"), testing::Not(testing::Contains("fsync")));
  EXPECT_THAT(calls_of([&] { ASSERT_TRUE(RecordFile::open(records)); }), no_sync);
  EXPECT_THAT(calls_of([&] { ASSERT_TRUE(LineFile::open(lines)); }), no_sync);
  const SetIndex set("lines", std::vector<std::string>{records, lines});
  EXPECT_THAT(calls_of([&] { ASSERT_TRUE(set.keep(std::vector<CountedFile>(2))); }), no_sync);
  EXPECT_TRUE(RecordFile::open(records).value()->index_was_kept());
  EXPECT_TRUE(LineFile::open(lines).value()->index_was_kept());
  youngest_indexed_ns = 2'000'000'000;
  EXPECT_TRUE(set.read());
  EXPECT_THAT(calls_of([&] { ASSERT_TRUE(write_file_atomically(lines, {})); }), testing::Contains("fsync"))
      << "control";
  unsetenv("XDG_CACHE_HOME");
}

}  // namespace
}  // namespace headpond::internal
