// SPDX-License-Identifier: Apache-2.0
#include <filesystem>

#include "headpond/dataset/ops/order/cache_places_internal.h"
#include "headpond/dataset/testing/dataset_test_internal.h"
#include "headpond/io/cache/cache_folder.h"
#include "headpond/io/record/index/set_index.h"
#include "tests/test_files.h"

namespace headpond::internal {
namespace {

using testing::Contains;
using testing::ElementsAre;

const CachePlan kPlan = {.text = "plan\n"};

TEST(CachePlaces, KeepACacheForCopiesAndNotForFilesThatChanged) {
  const test::TempFolder folder;
  const auto text = [&](const char* at, const char* changed) {
    return plan_of_files(folder.path(), kPlan, {at, changed}).text;
  };
  EXPECT_EQ(text("a", "1"), kPlan.text);
  EXPECT_EQ(text("a", "1"), kPlan.text);
  EXPECT_EQ(text("b", "5"), kPlan.text) << "a copy";
  const std::string changed = text("a", "2");
  EXPECT_NE(changed, kPlan.text);
  EXPECT_EQ(text("a", "2"), changed);
  EXPECT_EQ(text("a", "1"), kPlan.text) << "as it was";
  EXPECT_NE(text("a", "3"), changed);
  EXPECT_EQ(text("b", "5"), kPlan.text);
  EXPECT_NE(text("c", "9"), kPlan.text) << "a copy, but nobody knows of which";
  EXPECT_EQ(plan_of_files(folder.path(), kPlan, {}).text, kPlan.text) << "no files";
}

TEST(CachePlaces, AreRememberedAsLongAsTheCache) {
  const test::TempFolder folder;
  (void)plan_of_files(folder.path(), kPlan, {"a", "1"});
  ASSERT_TRUE(remove_cache(folder.path(), cache_name(kPlan.text)));
  EXPECT_EQ(plan_of_files(folder.path(), kPlan, {"a", "2"}).text, kPlan.text);
}

// Writes a file again, and sets the time of its last write back.
void change_unseen(const std::string& path, const std::string& text) {
  const auto written = std::filesystem::last_write_time(path);
  const int64_t before = stamp_of(path)->changed_ns;
  do {
    test::put_file(path, test::to_bytes(text));
    std::filesystem::last_write_time(path, written);
  } while (stamp_of(path)->changed_ns == before);  // Until the system's clock has gone on.
}

TEST(CachePlaces, NoticeAChangeInTheMiddleOfAFileWhoseTimeWasSetBack) {
  const test::TempFolder folder;
  const std::string front = std::string(5000, 'x') + "\n", back = "\n" + std::string(5000, 'x') + "\n";
  const std::string path = folder.file("a/x.txt"), copy = folder.file("b/x.txt");
  for (const char* const one : {"a", "b"}) std::filesystem::create_directory(folder.file(one));
  test::put_file(path, test::to_bytes(front + "old" + back));
  const auto cached = [&](const std::string& of) { return elements(text_lines(of) | cache(folder.file("cache"))); };
  EXPECT_THAT(cached(path), Contains("'old'"));
  std::filesystem::copy_file(path, copy);
  std::filesystem::last_write_time(copy, std::filesystem::last_write_time(path));
  EXPECT_THAT(cached(copy), Contains("'old'"));
  EXPECT_EQ(list_caches(folder.file("cache"))->size(), 1U) << "a copy has the same cache";
  change_unseen(path, front + "new" + back);
  EXPECT_THAT(cached(path), Contains("'new'"));
  EXPECT_THAT(cached(copy), Contains("'old'"));
}

TEST(CachePlaces, NoticeItInAFileOfAFolder) {
  const test::TempFolder folder;
  std::filesystem::create_directories(folder.file("data/class"));
  const std::string path = folder.file("data/class/a.txt");
  test::put_file(path, test::to_bytes("old"));
  const auto contents = [](std::string_view file) -> Result<int64_t> {
    const auto bytes = read_file(std::string(file));
    if (!bytes) return fail(bytes.error());
    return static_cast<int64_t>(static_cast<unsigned char>((*bytes)[0]));
  };
  const auto first_letter = [&] {
    return elements(list_files(folder.file("data/class/*.txt")) | map(contents, {.name = "contents"}) |
                    cache(folder.file("cache")));
  };
  EXPECT_THAT(first_letter(), ElementsAre("111"));
  change_unseen(path, "new");
  EXPECT_THAT(first_letter(), ElementsAre("110"));
}

}  // namespace
}  // namespace headpond::internal
