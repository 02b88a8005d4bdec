// SPDX-License-Identifier: Apache-2.0
#include "headpond/io/cache/cache_folder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "headpond/io/cache/cache_store.h"
#include "headpond/io/cache/saved_dataset.h"
#include "tests/test_files.h"

namespace headpond {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

Element some() { return Element{Tensor::scalar(int64_t{1})}; }

TEST(CachesInAFolder, ListsWhatIsThere) {
  const test::TempFolder folder;
  EXPECT_THAT(list_caches(folder.path()).value(), IsEmpty());
  {
    const auto store = CacheStore::open(folder.path(), {.text = "range\nmap\n", .slots = 3});
    store->keep(0, some());
    store->keep_hole(1);
  }
  std::filesystem::create_directory(folder.file("something else"));
  auto caches = list_caches(folder.path()).value();
  ASSERT_EQ(caches.size(), 1U);
  const CacheInfo partial = caches[0];
  EXPECT_EQ(partial.key, internal::cache_name("range\nmap\n"));
  EXPECT_EQ(partial.plan, "range\nmap\n");
  EXPECT_EQ(partial.slots, 3);
  EXPECT_EQ(partial.elements, 1);
  EXPECT_EQ(partial.holes, 1);
  EXPECT_FALSE(partial.complete);
  EXPECT_GT(partial.bytes, 0U);
  EXPECT_GT(partial.used_ns, int64_t{1'700'000'000} * 1'000'000'000);
  CacheStore::open(folder.path(), {.text = "range\nmap\n", .slots = 3})->keep(2, some());
  EXPECT_TRUE(list_caches(folder.path()).value()[0].complete);
}

TEST(CachesInAFolder, AStreamIsCompleteAtItsEnd) {
  const test::TempFolder folder;
  const auto store = CacheStore::open(folder.path(), {.text = "stream\n"});
  store->keep(0, some());
  store->keep(1, some());
  EXPECT_FALSE(list_caches(folder.path()).value()[0].complete);
  store->keep_end(2);
  EXPECT_TRUE(list_caches(folder.path()).value()[0].complete);
}

TEST(CachesInAFolder, ADamagedPlanFileIsNoPlan) {
  const test::TempFolder folder;
  CacheStore::open(folder.path(), {.text = "range\n", .slots = 0});
  const std::string plan = folder.file(internal::cache_name("range\n")) + "/plan";
  for (const std::string text : {"", "headpond cache 1\n", "headpond cache 1\nslots=x\nrange\n",
                                 "headpond cache 1\nslots=0\nringe\n", "headpond cache 2\nslots=0\nrange\n"}) {
    test::put_file(plan, test::to_bytes(text));
    const CacheInfo info = list_caches(folder.path()).value().at(0);
    EXPECT_EQ(info.plan, "") << text;
    EXPECT_FALSE(info.complete);
  }
}

TEST(CachesInAFolder, RemovesACacheAndNothingElse) {
  const test::TempFolder folder;
  CacheStore::open(folder.path(), {.text = "a\n"})->keep(0, some());
  CacheStore::open(folder.path(), {.text = "b\n"})->keep(0, some());
  const std::string a = internal::cache_name("a\n");
  for (const std::string key : {"", ".", "..", "0123", "0123456789abcdef0123456789abcdef"}) {
    const auto removed = remove_cache(folder.path(), key);
    ASSERT_FALSE(removed);
    EXPECT_EQ(removed.error().kind(), ErrorKind::NotFound);
  }
  test::put_file(folder.file(a) + "/notes.txt", test::to_bytes("mine"));
  const auto refused = remove_cache(folder.path(), a);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind(), ErrorKind::FailedPrecondition);
  EXPECT_THAT(refused.error().message(), HasSubstr("notes.txt"));
  EXPECT_EQ(list_caches(folder.path()).value().size(), 2U);
  std::filesystem::remove(folder.file(a) + "/notes.txt");
  ASSERT_TRUE(remove_cache(folder.path(), a));
  EXPECT_FALSE(std::filesystem::exists(folder.file(a)));
  EXPECT_EQ(list_caches(folder.path()).value().size(), 1U);
}

TEST(CachesInAFolder, LeavesOutASavedDataset) {
  const test::TempFolder folder;
  const internal::SavedDataset saved = {.id = "1", .elements = 1, .spec = {{"x", DType::i64, {}}}},
                               killed = {.id = "2", .elements = 0, .spec = {}};
  for (const auto& one : {saved, killed}) CacheStore::open(folder.path(), one.plan())->keep(0, some());
  ASSERT_TRUE(internal::write_saved(folder.path(), saved));
  const auto caches = list_caches(folder.path()).value();
  ASSERT_EQ(caches.size(), 1U) << "what a save() left that was killed";
  EXPECT_EQ(caches[0].plan, killed.plan().text);
}

TEST(CachesInAFolder, NamesAFolderThatIsNotThere) {
  const auto caches = list_caches("/nowhere/at/all");
  ASSERT_FALSE(caches);
  EXPECT_EQ(caches.error().kind(), ErrorKind::NotFound);
  EXPECT_THAT(caches.error().message(), HasSubstr("/nowhere/at/all"));
}

}  // namespace
}  // namespace headpond
