// SPDX-License-Identifier: Apache-2.0
#include "headpond/io/archive/tar.h"

#include "headpond/dataset/testing/dataset_test_internal.h"
#include "headpond/io/archive/tar_writer.h"
#include "headpond/io/zlib_test_internal.h"
#include "tests/test_files.h"

namespace headpond::internal {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

using Members = std::vector<std::pair<std::string, std::string>>;

class TarFiles : public testing::Test {
 protected:
  std::string write(const std::string& name, const Members& members) {
    std::string archive;
    for (const auto& [member, content] : members) EXPECT_TRUE(append_tar_member(archive, member, content));
    test::put_file(folder_.file(name), test::to_bytes(archive + std::string(tar_end())));
    return folder_.file(name);
  }
  test::TempFolder folder_;
  const Members first_ = {{"a/1.png", "one"}, {"a/1.cls", "7"}, {"a/2.cls", "8"}, {"a/2.png", ""}};
};

TEST_F(TarFiles, AreSamplesByKey) {
  const std::string one = write("1.tar", first_), two = write("2.tar", {{"b.cls", "9"}, {"b.png", "three"}});
  const Dataset dataset = tar({one, two});
  EXPECT_EQ(to_string(dataset.spec()), "{'__key__': bytes[], 'png': bytes[], 'cls': bytes[]}");
  EXPECT_THAT(elements(dataset, {}, true),
              ElementsAre("'a/1', 'one', '7' #0", "'a/2', '', '8' #1", "'b', 'three', '9' #2"));
  EXPECT_THAT(elements(tar({one, two}, {.extensions = {"cls"}})), ElementsAre("'a/1', '7'", "'a/2', '8'", "'b', '9'"));
  EXPECT_TRUE(fills(*(dataset | shuffle()).node()));
  check_contract(dataset);
  check_contract(dataset | shuffle() | batch(2));
  EXPECT_THAT(elements(tar(write("none.tar", {}))), IsEmpty());
}

TEST_F(TarFiles, TellASampleThatLacksAPartAndGoOn) {
  const std::string path = write("1.tar", {{"a.x", "1"}, {"a.y", "2"}, {"b.x", "3"}, {"c.x", "4"}, {"c.y", "5"}});
  EXPECT_THAT(elements(tar(path, {.extensions = {"x", "y"}, .allow_missing = true})),
              ElementsAre("'a', '1', '2'", "'b', '3', ''", "'c', '4', '5'"));
  EXPECT_THAT(elements(tar(path)),
              ElementsAre("'a', '1', '2'",
                          AllOf(HasSubstr("!InvalidArgument"), HasSubstr(path), HasSubstr("'b'"), HasSubstr("'y'")),
                          "'c', '4', '5'"));
}

std::string error_of(const std::vector<std::string>& paths) {
  try {
    const auto checked = check(tar(paths));
    return checked ? "none" : checked.error().to_string();
  } catch (const Exception& exception) {
    return exception.error().to_string();
  }
}

// Fault row 70.
TEST_F(TarFiles, ThatSplitASampleAreRefused) {
  const std::string one = write("1.tar", {{"a.jpg", "1"}, {"x.jpg", "2"}}), none = write("none.tar", {});
  const std::string two = write("2.tar", {{"x.cls", "3"}, {"y.cls", "4"}, {"a.cls", "5"}, {"z.cls", "6"}});
  EXPECT_THAT(error_of({one, two}),
              AllOf(HasSubstr("InvalidArgument"), HasSubstr("'x'"), HasSubstr(one), HasSubstr(two)));
  EXPECT_EQ(error_of({two, one}), "none");
}

TEST_F(TarFiles, ThatAreCompressedAreUnimplemented) {
  const auto compressed = test::gzip(test::get_file(write("1.tar", first_)));
  ASSERT_LT(compressed.size(), 512U);
  test::put_file(folder_.file("1.tar.gz"), compressed);
  EXPECT_THAT(error_of({folder_.file("1.tar.gz")}),
              AllOf(HasSubstr("Unimplemented"),
                    HasSubstr("1.tar.gz: compressed by gzip: random access requires an uncompressed archive")));
}

TEST_F(TarFiles, ThatAreDamagedOrGroupedTwiceAreRefused) {
  const std::string twice = write("twice.tar", {{"a.x", "1"}, {"b.x", "2"}, {"a.y", "3"}});
  EXPECT_THROW((void)tar(twice), Exception);
  const std::string path = write("1.tar", first_);
  auto bytes = test::get_file(path);
  bytes[3] ^= std::byte{1};
  test::put_file(path, bytes);
  EXPECT_THROW((void)tar(path), Exception);
  EXPECT_THROW((void)tar(write("key.tar", first_), {.extensions = {"__key__"}}), Exception);
}

TEST_F(TarFiles, ThatShrinkAreDataLoss) {
  const std::string path = write("1.tar", {{"a.x", std::string(100'000, 'x')}, {"b.x", std::string(100'000, 'y')}});
  const Dataset dataset = tar(path);
  ASSERT_TRUE(check(dataset));
  std::filesystem::resize_file(path, 100);
  const auto all = elements(dataset);
  ASSERT_EQ(all.size(), 2U);
  EXPECT_THAT(all[1], AllOf(HasSubstr("!DataLoss"), HasSubstr(path)));
}

TEST_F(TarFiles, OfOtherPartsRefuseTheState) {
  const std::string path = write("1.tar", first_);
  Sequence sequence(tar(path));
  (void)sequence.next();
  EXPECT_TRUE(Sequence::restored(tar(path), {}, sequence.state()));
  EXPECT_FALSE(Sequence::restored(tar(path, {.extensions = {"cls", "png"}}), {}, sequence.state()));
}

}  // namespace
}  // namespace headpond::internal
