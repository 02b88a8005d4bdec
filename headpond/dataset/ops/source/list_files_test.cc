// SPDX-License-Identifier: Apache-2.0
#include <filesystem>
#include <set>

#include "headpond/dataset/testing/structure_test_internal.h"
#include "tests/test_files.h"

namespace headpond::internal {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::ThrowsMessage;

class ListFiles : public testing::Test {
 protected:
  ListFiles() {
    for (const char* name : {"b.wav", "a.wav", "c.txt"}) test::put_file(folder_.file(name), test::to_bytes("x"));
  }
  std::vector<std::string> names(const Dataset& dataset, SequenceOptions options = {}) const {
    std::vector<std::string> all;
    Sequence sequence(dataset, options);
    while (auto next = sequence.next()) {
      const std::string path((*next)[size_t{0}].bytes_at(0));
      EXPECT_TRUE(path.starts_with(folder_.path()));
      all.push_back(path.substr(path.rfind('/') + 1));
    }
    return all;
  }
  const test::TempFolder folder_;
};

TEST_F(ListFiles, GivesNamesInOrderOrShuffled) {
  EXPECT_THAT(names(list_files(folder_.file("*"), {.shuffle = false})), ElementsAre("a.wav", "b.wav", "c.txt"));
  EXPECT_THAT(names(list_files({folder_.file("*.txt"), folder_.file("*.wav")}, {.shuffle = false})),
              ElementsAre("a.wav", "b.wav", "c.txt"));
  std::set<std::vector<std::string>> orders;
  for (uint64_t seed = 0; seed < 100; ++seed) orders.insert(names(list_files(folder_.file("*")), {.seed = seed}));
  EXPECT_EQ(orders.size(), 6U);
  EXPECT_EQ(list_files(folder_.file("*")).cardinality(), 3);
}

TEST_F(ListFiles, FindsFilesWhenItIsBound) {
  const Dataset dataset = list_files(folder_.file("*.new"), {.shuffle = false});
  const auto checked = check(dataset);
  ASSERT_FALSE(checked);
  EXPECT_EQ(checked.error().kind(), ErrorKind::NotFound);
  EXPECT_THAT(checked.error().message(), HasSubstr("list_files: "));
  EXPECT_THROW(Sequence{dataset}, Exception);
  test::put_file(folder_.file("d.new"), {});
  EXPECT_THAT(names(dataset), ElementsAre("d.new"));
}

TEST_F(ListFiles, ANameThatDoesNotExistIsNoMatch) {
  for (const char* name : {"new.wav", "new.wav@2"}) {
    const auto checked = check(list_files({folder_.file("a.wav"), folder_.file(name)}));
    ASSERT_FALSE(checked) << name;
    EXPECT_EQ(checked.error().kind(), ErrorKind::NotFound);
    EXPECT_THAT(checked.error().message(), HasSubstr("list_files: there is no file " + folder_.file("new.wav")));
  }
  for (const char* shard : {"new.wav-00000-of-00002", "new.wav-00001-of-00002", "odd[1].wav"}) {
    test::put_file(folder_.file(shard), {});
  }
  std::filesystem::create_symlink("nowhere", folder_.file("dangling"));
  EXPECT_THAT(names(list_files({folder_.file("new.wav@2"), folder_.file("dangling")}, {.shuffle = false})),
              ElementsAre("dangling", "new.wav-00000-of-00002", "new.wav-00001-of-00002"));
  EXPECT_THAT(names(list_files(folder_.file("odd[1].wav"))), ElementsAre("odd[1].wav"));
}

TEST_F(ListFiles, TheStateBelongsToTheNames) {
  const Dataset dataset = list_files(folder_.file("*.wav"), {.shuffle = false});
  EXPECT_THAT(dataset.plan(), HasSubstr("*.wav', files=2, digest="));
  Sequence sequence(dataset);
  const auto first = sequence.next();
  ASSERT_TRUE(first);
  EXPECT_EQ(to_string(first->provenance), folder_.file("a.wav") + ", record 0");
  EXPECT_TRUE(Sequence::restored(list_files(folder_.file("*.wav"), {.shuffle = false}), {}, sequence.state()));
  test::put_file(folder_.file("e.wav"), {});
  EXPECT_FALSE(Sequence::restored(list_files(folder_.file("*.wav"), {.shuffle = false}), {}, sequence.state()));
}

TEST_F(ListFiles, KeepsTheContract) {
  check_contract(list_files(folder_.file("*")));
  check_contract(list_files(folder_.file("*.wav"), {.shuffle = false}));
}

}  // namespace
}  // namespace headpond::internal
