// SPDX-License-Identifier: Apache-2.0
#include <filesystem>
#include <fstream>

#include "headpond/base/log.h"
#include "headpond/dataset/testing/dataset_test_internal.h"
#include "headpond/io/cache/saved_dataset.h"
#include "headpond/io/file/system_test_internal.h"
#include "tests/test_files.h"

namespace headpond::internal {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

// As save() does it, which is in a room above.
void put(const std::string& folder, int64_t elements, const std::string& id = "1") {
  const SavedDataset saved = {.id = id, .elements = elements, .spec = {{"x", DType::i64, {}}}};
  const auto store = CacheStore::open(folder, saved.plan());
  for (int64_t i = 0; i < elements; ++i) {
    Element element{Tensor::scalar(i * i)};
    element.key = 99;
    store->keep(i, element);
  }
  ASSERT_TRUE(write_saved(folder, saved));
}

TEST(Load, GivesWhatWasSaved) {
  const test::TempFolder folder;
  put(folder.path(), 4);
  const Dataset dataset = load(folder.path());
  EXPECT_THAT(elements(dataset, {}, true), ElementsAre("0 #0", "1 #1", "4 #2", "9 #3"));
  EXPECT_EQ(dataset.spec()[0].name, "x");
  EXPECT_EQ(dataset.cardinality(), 4);
  check_contract(dataset);
  check_contract(dataset | shuffle() | batch(3));
  put(folder.file("none"), 0);
  check_contract(load(folder.file("none")));
}

TEST(Load, TellsWhatIsMissingOrDamaged) {
  const test::TempFolder folder;
  const LogSink old = set_log_sink([](LogLevel, std::string_view) {});
  EXPECT_THROW(load(folder.path()), Exception);
  put(folder.path(), 3);
  const Dataset dataset = load(folder.path());
  const std::string data = folder.file(cache_name("saved 1\n")) + "/data-0000";
  std::fstream file(data, std::ios::in | std::ios::out | std::ios::binary);
  file.seekp(128 + 16);
  file.put('!');
  file.close();
  EXPECT_THAT(elements(dataset),
              ElementsAre("0", testing::AllOf(HasSubstr("!DataLoss: load("), HasSubstr("offset 128")), "4"));
  std::filesystem::remove_all(folder.file(cache_name("saved 1\n")));
  EXPECT_THAT(elements(load(folder.path())), testing::Each(HasSubstr("is missing")));
  set_log_sink(old);
}

TEST(Load, SkipsNothingBecauseTheFileSystemFails) {
  const test::TempFolder folder;
  put(folder.path(), 2);
  Sequence sequence(load(folder.path()) | on_error({.policy = OnErrorPolicy::skip}));
  {
    const FaultInjection hook([](std::string_view call) { return Fault{.error = call == "open" ? ESTALE : 0}; });
    const auto failed = sequence.next();
    ASSERT_FALSE(failed);
    EXPECT_TRUE(failed.error().is_transient()) << failed.error();
  }
  EXPECT_EQ(text_of(*sequence.next()), "1");
}

TEST(Load, AStateIsOfOneSavedDataset) {
  const test::TempFolder folder;
  put(folder.path(), 3, "1");
  Sequence sequence(load(folder.path()));
  ASSERT_TRUE(sequence.next());
  const std::string state = sequence.state();
  EXPECT_TRUE(Sequence::restored(load(folder.path()), {}, state));
  put(folder.path(), 3, "2");
  EXPECT_FALSE(Sequence::restored(load(folder.path()), {}, state));
}

}  // namespace
}  // namespace headpond::internal
